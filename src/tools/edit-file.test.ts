import {
  chmodSync,
  linkSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { editFile } from './edit-file.ts'
import { readFile } from './read-file.ts'
import { rememberContent } from './seen-files.ts'
import { createToolBench, type ToolBench } from './testing.ts'
import { encodeText } from './text/codec.ts'

let bench: ToolBench
beforeAll(() => {
  bench = createToolBench()
})
afterAll(() => bench.close())

const edit = (name: string, old_string: string, new_string: string, more: object = {}) =>
  bench.call(editFile, { path: name, old_string, new_string, ...more })

test('an exact edit returns the diff, the new hash, and the rung', async () => {
  await bench.given('a.ts', 'one\ntwo\nthree\n')
  const { text, data } = await edit('a.ts', 'two', 'zwei')
  expect(bench.content('a.ts')).toBe('one\nzwei\nthree\n')
  expect(text).toBe(
    'Edited a.ts (1 replacement, +1 -1 lines)\n--- a/a.ts\n+++ b/a.ts\n@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n',
  )
  expect(data).toMatchObject({
    rung: 'exact',
    replacements: 1,
    changed_since_read: false,
    added: 1,
    removed: 1,
  })
  expect(bench.workspace.receipts.get(bench.at('a.ts'))).toBe(data.sha256)
})

test('line ends of every line, the byte order mark, the mode and the missing final newline stay', async () => {
  await bench.given('mixed.txt', '\uFEFFa\r\nb\nc\r\nd\r\ne')
  chmodSync(bench.at('mixed.txt'), 0o750)
  const { data } = await edit('mixed.txt', 'a\nb\nc\n', 'a\nnew\nb\nc\n')
  expect(bench.content('mixed.txt')).toBe('\uFEFFa\r\nnew\r\nb\nc\r\nd\r\ne')
  expect(data.rung).toBe('line_ends')
  expect(statSync(bench.at('mixed.txt')).mode & 0o777).toBe(0o750)
  await edit('mixed.txt', 'd', 'd1\nd2')
  expect(bench.content('mixed.txt')).toBe('\uFEFFa\r\nnew\r\nb\nc\r\nd1\r\nd2\r\ne')
  await edit('mixed.txt', 'e\n', 'f\n')
  expect(bench.content('mixed.txt').endsWith('d2\r\nf')).toBe(true)
})

test('an edit of a read-only file says that it was one', async () => {
  await bench.given('locked.txt', 'a\n')
  chmodSync(bench.at('locked.txt'), 0o444)
  expect((await edit('locked.txt', 'a', 'b')).text).toContain('The file was read-only; its mode is kept.')
  expect(statSync(bench.at('locked.txt')).mode & 0o777).toBe(0o444)
})

test('an edit about line ends themselves is taken literally', async () => {
  await bench.given('ends.txt', 'a\nb\n')
  await edit('ends.txt', 'a\nb\n', 'a\r\nb\r\n')
  expect(bench.content('ends.txt')).toBe('a\r\nb\r\n')
})

test.each([
  { before: 'a\r\nb\r\n', old: '\r', next: '', all: true, after: 'a\nb\n' },
  { before: 'a\nb\rc', old: '\r', next: '\n', all: false, after: 'a\nb\nc' },
  { before: 'a\nb\rc', old: '\r', next: '', all: false, after: 'a\nbc' },
  { before: 'a\rb\rc', old: '\r', next: '\n', all: true, after: 'a\nb\nc' },
  { before: 'x\ny\r\nx\r\ny', old: 'x\r\ny', next: 'z', all: false, after: 'x\ny\r\nz' },
  { before: 'x\ny\r\nx\r\ny', old: 'x\ny', next: 'z', all: false, after: 'z\r\nx\r\ny' },
  { before: 'a\r\nb\r\n', old: 'b\r', next: 'b', all: false, after: 'a\r\nb\n' },
  // A quoted line feed is a whole line end, never half of one.
  { before: 'a\r\nb\r\n', old: '\nb', next: '', all: false, after: 'a\r\n' },
])('$old in $before is matched exactly, first', async ({ before, old, next, all, after }) => {
  await bench.given('cr.txt', before)
  await edit('cr.txt', old, next, { replace_all: all })
  expect(bench.content('cr.txt')).toBe(after)
})

test('a carriage return that is nowhere in the file is not found, instead of being taken for a line feed', async () => {
  await bench.given('lf.txt', 'a\nb\n')
  await expect(edit('lf.txt', '\r', '', { replace_all: true })).rejects.toMatchObject({ code: 'not_found' })
  expect(bench.content('lf.txt')).toBe('a\nb\n')
})

test.each(['shift_jis', 'euc-kr', 'utf-16le', 'utf-16be'])(
  '%s stays %s, byte for byte outside the edit',
  async encoding => {
    const words =
      encoding === 'euc-kr'
        ? ['설정 파일을 읽고 다시 저장합니다', '값']
        : ['設定ファイルを読み込みます', '値']
    const before = `# ${words[0]}\nkey = 1\n# ${words[0]}${words[1]}\n`
    await bench.given('legacy.txt', encodeText(before, encoding) ?? '')
    const { data } = await edit('legacy.txt', 'key = 1', `key = 2 # ${words[1]}`)
    expect(data.encoding).toBe(encoding)
    const after = before.replace('key = 1', `key = 2 # ${words[1]}`)
    expect(
      Buffer.compare(readFileSync(bench.at('legacy.txt')), encodeText(after, encoding) ?? Buffer.alloc(0)),
    ).toBe(0)
    if (encoding.startsWith('utf')) return
    await expect(edit('legacy.txt', 'key = 2', 'key = 😀')).rejects.toMatchObject({ code: 'conflict' })
  },
)

test('bytes that are not UTF-8 survive edits around them', async () => {
  const damaged = Buffer.concat([
    Buffer.from('ü ä ö é è ü ä ö é è\nx = '),
    Buffer.from([0xff, 0xfe]),
    Buffer.from('\ny = 1\n'),
  ])
  await bench.given('damaged.txt', damaged)
  await edit('damaged.txt', 'y = 1', 'y = 2')
  const expected = Buffer.from(damaged)
  expected.set(Buffer.from('2'), expected.length - 2)
  expect(Buffer.compare(readFileSync(bench.at('damaged.txt')), expected)).toBe(0)
  await expect(edit('damaged.txt', 'x = \uFFFD', 'x = 1')).rejects.toMatchObject({ code: 'conflict' })
})

test('wrong indentation is matched, and the new lines are indented as the file is', async () => {
  await bench.given('tabs.py', 'class A:\n\tdef f(self):\n\t\tif x:\n\t\t\treturn 1  \n\t\treturn 2\n')
  const { data, text } = await edit(
    'tabs.py',
    'if x:\n    return 1\nreturn 2\n',
    'if x:\n    if y:\n        return 0\n    return 1\nreturn 3\n',
  )
  expect(bench.content('tabs.py')).toBe(
    'class A:\n\tdef f(self):\n\t\tif x:\n\t\t\tif y:\n\t\t\t\treturn 0\n\t\t\treturn 1  \n\t\treturn 3\n',
  )
  expect(data).toMatchObject({ rung: 'whitespace' })
  expect(text).toContain('Matched with other whitespace')
})

const SUM = [
  'function add(a, b) {',
  '  // adds two numbers',
  '  const sum = a + b',
  '  return sum',
  '}',
  '',
].join('\n')

test.each([
  ['wording', SUM, SUM.replace('adds two', 'add two'), 'Closest is lines 1-5'],
  [
    'typographic quotes',
    'He said “hello” to Bob.\n',
    'He said "hello" to Bob.',
    'the file has “ (U+201C), old_string has " (U+0022)',
  ],
  [
    'combining marks',
    'cafe\u0301 au lait\n',
    'café au lait',
    'the file has e (U+0065), old_string has é (U+00E9)',
  ],
])(
  'text that differs by %s is not replaced; the refusal shows the place and the difference',
  async (_, text, old, said) => {
    await bench.given('alike.txt', text)
    await expect(edit('alike.txt', old, 'x')).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining(said),
    })
    expect(bench.content('alike.txt')).toBe(text)
  },
)

test('a short text that is only similar is never replaced', async () => {
  await bench.given('short.yml', 'timeout: 300\n')
  await expect(edit('short.yml', 'timeout: 30\n', 'timeout: 60\n')).rejects.toMatchObject({
    code: 'not_found',
  })
})

test('a text that is not unique is refused with its lines; replace_all and expected_replacements say how many', async () => {
  await bench.given('many.txt', 'x\ny\nx\nx\n')
  await expect(edit('many.txt', 'x', 'z')).rejects.toMatchObject({
    message: expect.stringContaining('3 matches, at line 1, line 3, line 4'),
  })
  await expect(edit('many.txt', 'x', 'z', { expected_replacements: 2 })).rejects.toMatchObject({
    code: 'conflict',
  })
  await edit('many.txt', 'x', 'z', { expected_replacements: 3 })
  expect(bench.content('many.txt')).toBe('z\ny\nz\nz\n')
  await edit('many.txt', 'z', 'zz', { replace_all: true })
  expect(bench.content('many.txt')).toBe('zz\ny\nzz\nzz\n')
  await bench.given('overlap.txt', 'aaa\n')
  await expect(edit('overlap.txt', 'aa', 'b')).rejects.toMatchObject({
    message: expect.stringContaining('not unique'),
  })
})

test('several edits are matched against the original, and either all apply or none', async () => {
  await bench.given('several.txt', 'a\nb\nc\n')
  const edits = [
    { old_string: 'a', new_string: 'b2' },
    { old_string: 'b', new_string: 'c2' },
  ]
  await bench.call(editFile, { path: 'several.txt', edits })
  expect(bench.content('several.txt')).toBe('b2\nc2\nc\n')
  const failing = [
    { old_string: 'c\n', new_string: 'd\n' },
    { old_string: 'nowhere', new_string: 'x' },
  ]
  await expect(bench.call(editFile, { path: 'several.txt', edits: failing })).rejects.toMatchObject({
    message: expect.stringContaining('edit 2 of 2'),
  })
  const overlapping = [
    { old_string: 'b2\nc2', new_string: 'x' },
    { old_string: 'c2\nc', new_string: 'y' },
  ]
  await expect(bench.call(editFile, { path: 'several.txt', edits: overlapping })).rejects.toMatchObject({
    message: expect.stringContaining('Edits 1 and 2 change the same place'),
  })
  expect(bench.content('several.txt')).toBe('b2\nc2\nc\n')
})

test('the calls that other programs are used to work: oldText and newText in edits, camel case', async () => {
  await bench.given('ea.txt', 'one\ntwo\n')
  const edits = [{ oldText: 'one', newText: '1' }]
  const { data } = await bench.call(editFile, { path: 'ea.txt', edits, dryRun: true })
  expect(data).toMatchObject({ replacements: 1, dry_run: true })
  await bench.call(editFile, { path: 'ea.txt', edits: [{ old_str: 'one', new_str: '1' }] })
  await bench.call(editFile, {
    filePath: 'ea.txt',
    oldString: 'two',
    newString: '2',
    replaceAll: true,
    expected_replacements: null,
    edits: null,
  })
  expect(bench.content('ea.txt')).toBe('1\n2\n')
})

test('dry_run shows the same diff and changes nothing', async () => {
  await bench.given('dry.txt', 'a\n')
  const dry = await edit('dry.txt', 'a', 'b', { dry_run: true })
  expect(bench.content('dry.txt')).toBe('a\n')
  const real = await edit('dry.txt', 'a', 'b')
  expect(dry.data).toEqual({ ...real.data, dry_run: true })
})

test('a file that was not read can be edited exactly, but not approximately', async () => {
  writeFileSync(bench.at('unread.txt'), '  a\r\n  b\r\n')
  await expect(edit('unread.txt', 'a\nb\n', 'c\n')).rejects.toMatchObject({
    hint: expect.stringContaining('Read the file'),
  })
  await edit('unread.txt', '  a\n  b\n', '  c\n')
  expect(bench.content('unread.txt')).toBe('  c\r\n')
  // The rest of it has still not been seen.
  expect(bench.workspace.receipts.get(bench.at('unread.txt'))).toBeUndefined()
})

test('a file that changed since it was read is edited where the target is still unique, and says so', async () => {
  await bench.given('stale.txt', 'a\nb\n')
  const receipt = bench.workspace.receipts.get(bench.at('stale.txt'))
  writeFileSync(bench.at('stale.txt'), 'a\nb\nsomeone else\n')
  const { text, data } = await edit('stale.txt', 'b', 'c')
  expect(bench.content('stale.txt')).toBe('a\nc\nsomeone else\n')
  expect(data.changed_since_read).toBe(true)
  expect(text).toContain('changed since it was read')
  // Still not read as it is now: a whole-file write would destroy what somebody else wrote.
  expect(bench.workspace.receipts.get(bench.at('stale.txt'))).toBe(receipt)
  writeFileSync(bench.at('stale.txt'), 'a\nz\n')
  await expect(edit('stale.txt', 'c', 'd')).rejects.toMatchObject({
    message: expect.stringContaining('was changed since'),
  })
})

test('a link keeps pointing to its file, which is what changes; other names of a file need a confirmation', async () => {
  await bench.given('target.txt', 'a\n')
  symlinkSync('target.txt', bench.at('link.txt'))
  await edit('link.txt', 'a', 'b')
  expect(bench.content('target.txt')).toBe('b\n')
  linkSync(bench.at('target.txt'), bench.at('other-name.txt'))
  const input = { path: 'target.txt', old_string: 'b', new_string: 'c' }
  await expect(bench.call(editFile, input, { unconfirmed: true })).rejects.toMatchObject({
    code: 'forbidden',
  })
  await bench.call(editFile, input)
  expect(bench.content('other-name.txt')).toBe('c\n')
})

test('replacing 20,000 places and failing in a large file stay fast', async () => {
  const line = 'const value = compute(alpha, beta, gamma)\n'
  await bench.given('large.ts', line.repeat(25_000))
  const { data } = await edit('large.ts', 'alpha', 'ALPHA', { replace_all: true })
  expect(data.replacements).toBe(25_000)
  await edit('large.ts', 'nothing like this “at all”\nreally\nnot\n', 'x').catch(() => undefined)
})

test('a file of which only a part was read is edited where whitespace differs', async () => {
  const text = `${SUM}\n  indented\n`
  writeFileSync(bench.at('part.js'), text)
  await bench.call(readFile, { path: 'part.js', limit: 2 })
  expect((await edit('part.js', 'return sum', 'return 1')).data.rung).toBe('exact')
  expect((await edit('part.js', 'indented\n}', 'x').catch(error => error)).code).toBe('not_found')
  expect((await edit('part.js', '    indented\n', '    changed\n')).data.rung).toBe('whitespace')
  expect(bench.workspace.receipts.get(bench.at('part.js'))).toBeUndefined()
})

test('what was read is kept up to 8 MB, the oldest goes first, and no large file is kept', () => {
  const { contents } = bench.run
  contents.clear()
  const text = `${'x'.repeat(250 * 1024 - 1)}\n`
  for (let i = 0; i < 40; i += 1) rememberContent(bench.run, `/${i}`, Buffer.from(text))
  expect([...contents.keys()][0]).not.toBe('/0')
  expect([...contents.values()].reduce((sum, bytes) => sum + bytes.length, 0)).toBeLessThanOrEqual(
    8 * 1024 * 1024,
  )
  expect(contents.has('/39')).toBe(true)
  rememberContent(bench.run, '/39', Buffer.alloc(257 * 1024))
  expect(contents.has('/39')).toBe(false)
})

test('a file that is too large to be edited is refused without reading it', async () => {
  writeFileSync(bench.at('huge.txt'), '')
  // Sparse, and larger than any buffer.
  truncateSync(bench.at('huge.txt'), 20 * 1024 ** 3)
  for (const dry_run of [false, true])
    await expect(edit('huge.txt', 'a', 'b', { dry_run })).rejects.toMatchObject({
      message: 'huge.txt is larger than 64 MB, too large to be edited.',
      hint: expect.stringContaining('run_command'),
    })
})
