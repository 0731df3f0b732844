import fc from 'fast-check'
import { parse, stringify } from 'smol-toml'
import { expect, test } from 'vitest'
import { joinKey, type KeyPath, locateKeys, splitKey } from './positions.ts'

const NASTY = `\uFEFF# [not.a.table]
title = "a # b" # c = 1
text = """
[permissions]
default = "x"
quote \\""" still inside """""
literal = '''
[[permissions.rules]]
it''s \\'''
"quoted.key" = 1
'lit "eral"'.sub . "d\\u00e9j\\u00E0" = 2
[permissions] # ] comment
default = "ask"
inline = { a = 1, b.c = [ 10, { d = "}" } ], "e f" = '{' }
list = [
  # "comment, ]"
  "one", [ "two",
    "three" ],
]
[[permissions.rules]]
id = "first"
[permissions.rules.except]
path = ["x"]
[[ permissions . "rules" ]]
id = "second"
except.path = [ "y" ]
[[permissions.rules.deep]]
k = 1
[[permissions.rules.deep]]
k = 2
[ "quoted.key2" . x ]
when = 1979-05-27 07:32:00Z
[a.b.c]
[a]
z = 1
`

test.each<[KeyPath, number]>([
  [['title'], 2],
  [['text'], 3],
  [['literal'], 7],
  [['quoted.key'], 10],
  [['lit "eral"', 'sub', 'déjà'], 11],
  [['permissions'], 12],
  [['permissions', 'default'], 13],
  [['permissions', 'inline', 'b', 'c', 1, 'd'], 14],
  [['permissions', 'inline', 'e f'], 14],
  [['permissions', 'list'], 15],
  [['permissions', 'list', 0], 17],
  [['permissions', 'list', 1, 1], 18],
  [['permissions', 'rules', 0], 20],
  [['permissions', 'rules', 0, 'id'], 21],
  [['permissions', 'rules', 0, 'except', 'path'], 23],
  [['permissions', 'rules', 1], 24],
  [['permissions', 'rules', 1, 'except', 'path', 0], 26],
  [['permissions', 'rules', 1, 'deep', 0, 'k'], 28],
  [['permissions', 'rules', 1, 'deep', 1, 'k'], 30],
  [['quoted.key2', 'x', 'when'], 32],
  [['a', 'b', 'c'], 33],
  [['a', 'z'], 35],
])('%j is on line %i of a nasty file', (path, line) => {
  expect(parse(NASTY)).toBeDefined()
  expect(locateKeys(NASTY)(path)?.line).toBe(line)
})

test('a missing key has the place of the nearest table around it', () => {
  const locate = locateKeys(NASTY)
  expect(locate(['permissions', 'rules', 1, 'decision'])?.line).toBe(24)
  expect(locate(['nothing'])).toBeUndefined()
})

test('the column of the value is known', () => {
  expect(locateKeys('a = 1\n  bc =  [1, 2]\r\n')(['bc', 1])).toEqual({
    line: 2,
    column: 13,
    value: { line: 2, column: 13 },
  })
  expect(locateKeys('  bc =  true')(['bc'])).toEqual({ line: 1, column: 3, value: { line: 1, column: 9 } })
})

const key = fc.oneof(fc.constantFrom('a', 'b-c', '0', 'x.y', '', '"', "'", '#', '[z]', 'é\n'), fc.string())
const scalar = fc.oneof(
  fc.integer(),
  fc.boolean(),
  fc.string(),
  fc.constantFrom('[a]\nb = 1', '"""', "'''", '\\'),
)
const tree = fc.letrec(tie => ({
  value: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.array(scalar, { maxLength: 3 }),
    tie('table'),
    tie('tables'),
  ),
  table: fc.dictionary(key, tie('value'), { maxKeys: 4 }),
  tables: fc.array(tie('table'), { minLength: 1, maxLength: 3 }),
})).table

function paths(value: unknown, path: KeyPath = []): KeyPath[] {
  if (typeof value !== 'object' || value === null) return [path]
  return Object.entries(value).flatMap(([name, child]) =>
    paths(child, [...path, Array.isArray(value) ? Number(name) : name]),
  )
}

test('every value of any TOML file is found where it is written', () => {
  fc.assert(
    fc.property(tree, data => {
      const text = stringify(data)
      const lines = text.split('\n')
      const locate = locateKeys(text)
      for (const path of paths(parse(text))) {
        const place = locate(path)
        const name = path.findLast(part => typeof part === 'string') ?? ''
        const written = [name, JSON.stringify(name).slice(1, -1)]
        expect(place).toBeDefined()
        expect(written.some(form => lines[(place?.line ?? 0) - 1]?.includes(form))).toBe(true)
      }
    }),
    { numRuns: 300 },
  )
})

test('text that is not TOML never makes it throw or hang', () => {
  const alphabet = fc.constantFrom(
    '[',
    ']',
    '{',
    '}',
    '"',
    "'",
    '=',
    '.',
    ',',
    '#',
    '\n',
    ' ',
    'a',
    '\\',
    '"""',
    "'''",
  )
  fc.assert(
    fc.property(fc.array(alphabet, { maxLength: 60 }), pieces => {
      locateKeys(pieces.join(''))(['a'])
    }),
    { numRuns: 2000 },
  )
})

test('dotted keys are split and joined as TOML writes them', () => {
  expect(splitKey('providers.local.models."qwen3.5"')).toEqual(['providers', 'local', 'models', 'qwen3.5'])
  expect(joinKey(['models', 'qwen3.5', 0])).toBe('models."qwen3.5".0')
  for (const bad of ['', '.', 'a.', 'a..b', 'a = 1', 'a b', '"a', 'a\nb'])
    expect(splitKey(bad)).toBeUndefined()
})
