import { expect, test } from 'vitest'
import {
  appendToml,
  removeTomlRule,
  replaceTomlRule,
  setTomlKey,
  setToolsOff,
  toTomlValue,
} from './toml-edit.ts'

test('a key is set in its table and nothing else changes', () => {
  expect(setTomlKey('', 'defaults', 'model', 'a/b')).toBe('[defaults]\nmodel = "a/b"\n')
  const text = '# mine\n[defaults]\nmodel = "old" # why\ntemperature = 1\n[ui]\nmodel = "other"\n'
  expect(setTomlKey(text, 'defaults', 'model', 'a/b')).toBe(
    '# mine\n[defaults]\nmodel = "a/b" # why\ntemperature = 1\n[ui]\nmodel = "other"\n',
  )
  expect(setTomlKey('[defaults]\ntemperature = 1\n', 'defaults', 'model', 'a/b')).toBe(
    '[defaults]\nmodel = "a/b"\ntemperature = 1\n',
  )
})

test('a value is replaced over all of its lines, below a header with a comment, and comments stay', () => {
  const set = (text: string): string => setTomlKey(text, 'mcp.db', 'off', ['x'])
  const list = '[mcp.db] # mine\n  off = [\n  "a]", # one\n  \'b#\',\n] # all\nurl = "x"\n'
  expect(set(list)).toBe('[mcp.db] # mine\n  off = ["x"] # all\nurl = "x"\n')
  expect(set('[mcp.db]\noff = """\na # "b"\n"""\nurl = 1')).toBe('[mcp.db]\noff = ["x"]\nurl = 1')
  expect(set('[mcp.db]\noff = { a = [1], b = "}" }')).toBe('[mcp.db]\noff = ["x"]')
  expect(set('[mcp.db]\r\noff = "\\"#"\r\nurl = 1\r\n')).toBe('[mcp.db]\r\noff = ["x"]\r\nurl = 1\r\n')
})

test('a table ends where the next one begins, whatever that one is called', () => {
  const text = '[models.a]\ncontext = 1\n[models."b/c:7b"] # mine\nprice = 1\n'
  expect(setTomlKey(text, 'models.a', 'price', 2)).toBe(
    '[models.a]\nprice = 2\ncontext = 1\n[models."b/c:7b"] # mine\nprice = 1\n',
  )
  expect(setTomlKey(text, 'models."b/c:7b"', 'price', 2)).toBe(text.replace('price = 1', 'price = 2'))
})

test('a comment above the table behind a rule stays when the rule goes', () => {
  const rule = '[[permissions.rules]]\nid = "a"\ndecision = "ask"\n'
  expect(removeTomlRule(`${rule}\n# About the page.\n# More.\n[ui]\n`, 'a')).toBe(
    '# About the page.\n# More.\n[ui]\n',
  )
  expect(replaceTomlRule(`${rule}\n# About the page.\n[ui]\n`, 'a', 'NEW\n')).toBe(
    'NEW\n\n# About the page.\n[ui]\n',
  )
})

test('a part is appended after an empty line', () => {
  expect(appendToml('a = 1', '[b]\n')).toBe('a = 1\n\n[b]\n')
  expect(appendToml('', '[b]\n')).toBe('[b]\n')
})

test('a rule is taken out with all of its keys, and only that one', () => {
  const rule = (id: string): string => `[[permissions.rules]]\nid = "${id}"\ndecision = "ask"\n`
  const text = `mode = "ask"\n${rule('a.b')}${rule('axb')}[ui]\nx = 1\n`
  expect(removeTomlRule(text, 'a.b')).toBe(`mode = "ask"\n${rule('axb')}[ui]\nx = 1\n`)
})

test('a rule is known by its id, and not by a text that says one', () => {
  const other = `[[permissions.rules]]\nid = "other"\nreason = """\nid = "a"\n"""\n`
  expect(removeTomlRule(`${other}[[permissions.rules]]\nid = "a"\n`, 'a')).toBe(other)
  // However its header is written: otherwise the old rule would stay beside the new one.
  const spaced = '[[ "permissions" . rules ]] # mine\nid = "a"\n[permissions . rules . when]\nx = 1\n'
  expect(replaceTomlRule(`${other}${spaced}`, 'a', 'NEW\n')).toBe(`${other}NEW\n`)
})

test('a mark of the byte order stays at the beginning, and hides no table', () => {
  expect(setTomlKey('\uFEFF[ui]\n', '', 'mode', 'ask')).toBe('\uFEFFmode = "ask"\n[ui]\n')
  expect(setTomlKey('\uFEFF[ui]\nx = 1\n', 'ui', 'x', 2)).toBe('\uFEFF[ui]\nx = 2\n')
})

test('a key of the top is set above every table', () => {
  expect(setTomlKey('# mine\n[ui]\nmode = 1\n', '', 'mode', 'read-only')).toBe(
    'mode = "read-only"\n# mine\n[ui]\nmode = 1\n',
  )
  expect(setTomlKey('mode = "ask"\n[ui]\n', '', 'mode', 'auto')).toBe('mode = "auto"\n[ui]\n')
})

test('a rule is replaced where it stands, with the tables below it and lists over several lines', () => {
  const text = [
    '[[permissions.rules]]\nid = "a"\ncommand = [\n  ["npm", "pnpm"],\n  "**"\n]\n',
    '[permissions.rules.except]\npath = "x"\n',
    '[[permissions.rules]]\nid = "b"\n',
  ]
  expect(replaceTomlRule(text.join(''), 'a', 'NEW\n')).toBe(`NEW\n\n${text[2]}`)
  expect(replaceTomlRule(text.join(''), 'b', 'NEW\n')).toBe(`${text[0]}${text[1]}NEW\n`)
  expect(replaceTomlRule('', 'c', 'NEW\n')).toBe('NEW\n')
})

test('values are written as TOML has them', () => {
  expect(toTomlValue({ command: [['npm', 'pnpm'], '**'], 'a b': 1, gone: undefined })).toBe(
    '{ command = [["npm", "pnpm"], "**"], "a b" = 1 }',
  )
})

test('tools of a server are turned off where the file names them already', () => {
  expect(setToolsOff('[mcp.db]\nurl = "x"\n', 'db', ['drop'])).toBe(
    '[mcp.db]\ntools.off = ["drop"]\nurl = "x"\n',
  )
  expect(setToolsOff('[mcp.db]\ntools.off = ["a"]\n', 'db', [])).toBe('[mcp.db]\ntools.off = []\n')
  expect(setToolsOff('[mcp.db.tools]\noff = ["a"]\n', 'db', ['a', 'b'])).toBe(
    '[mcp.db.tools]\noff = ["a", "b"]\n',
  )
})

test.each([
  [
    'a string of several lines',
    'x = """\n[a]\nb = 1\n"""\n[a]\nb = 1\n',
    'x = """\n[a]\nb = 1\n"""\n[a]\nb = 2\n',
  ],
  [
    'a list of lists',
    '[a]\nc = [\n  ["ls"],\n  ["cat"]\n]\nb = 1\n',
    '[a]\nc = [\n  ["ls"],\n  ["cat"]\n]\nb = 2\n',
  ],
  ['a header in quotes', '[ "a" ] # mine\n\'b\' = 1\n', '[ "a" ] # mine\n\'b\' = 2\n'],
  ['a dotted key', 'mode = "ask"\na.b = 1\n', 'mode = "ask"\na.b = 2\n'],
  ['dotted keys beside it', 'a.c = 1\n[d]\n', 'a.b = 2\na.c = 1\n[d]\n'],
  ['a list of tables', '[[x]]\na.b = 1\n', '[[x]]\na.b = 1\n\n[a]\nb = 2\n'],
])('a key is found whichever way it is written: %s', (_, text, changed) => {
  expect(setTomlKey(text, 'a', 'b', 2)).toBe(changed)
})

test('what only looks like a header does not end a rule', () => {
  const rule = '[[permissions.rules]]\nid = "a"\nnote = """\n[ui]\n"""\n'
  expect(removeTomlRule(`${rule}[ui]\nx = 1\n`, 'a')).toBe('[ui]\nx = 1\n')
})
