import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { validateInput } from '../core/input.ts'
import { readFile } from './read-file.ts'
import { createToolBench, type ToolBench } from './testing.ts'
import { encodeText } from './text/codec.ts'
import { writeFile } from './write-file.ts'

let bench: ToolBench
beforeAll(() => {
  bench = createToolBench()
})
afterAll(() => bench.close())

const write = (path: string, text: string, more: object = {}) =>
  bench.call(writeFile, { path, content: text, ...more })
const accessOf = (path: string, more: object = {}) =>
  writeFile.access(
    { path, content: 'x', mode: 'overwrite', create_dirs: true, allow_shrink: false, ...more },
    { cwd: bench.root, workspace: bench.root, receipts: bench.workspace.receipts },
  )

test('a new file is created with its folders and leaves a receipt', async () => {
  const { text, data } = await write('deep/er/new.txt', 'a\nb\n')
  expect(text).toBe('Created deep/er/new.txt (4 bytes, 2 lines)')
  expect(data).toEqual({
    path: bench.at('deep/er/new.txt'),
    mode: 'overwrite',
    bytes_written: 4,
    success: true,
    created: true,
    size: 4,
    lines: 2,
    encoding: 'utf-8',
    sha256: createHash('sha256').update('a\nb\n').digest('hex'),
  })
  expect(bench.workspace.receipts.get(bench.at('deep/er/new.txt'))).toBe(data.sha256)
  await expect(write('no/such/place.txt', 'x', { create_dirs: false })).rejects.toMatchObject({
    code: 'not_found',
  })
  expect(existsSync(bench.at('no'))).toBe(false)
})

test('a file that was read is replaced, with a diff', async () => {
  await bench.given('seen.txt', 'a\nb\nc\n')
  expect(accessOf('seen.txt')).toEqual([{ kind: 'file_write', path: bench.at('seen.txt') }])
  const { text, data } = await write('seen.txt', 'a\nB\nc\n')
  expect(text).toBe('Overwrote seen.txt (6 bytes, 3 lines, +1 -1 lines)')
  expect(data.diff).toContain('-b\n+B\n')
  // Its own write counts as having seen it.
  await write('seen.txt', 'again\n')
})

test('a file that was not read, or changed since, is replaced only when that is confirmed', async () => {
  writeFileSync(bench.at('unseen.txt'), 'work of somebody\n')
  const confirmation = { kind: 'custom', name: 'overwrite_unread', details: bench.at('unseen.txt') }
  expect(accessOf('unseen.txt')).toContainEqual(confirmation)
  const input = { path: 'unseen.txt', content: 'new\n' }
  await expect(bench.call(writeFile, input, { unconfirmed: true })).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('unseen.txt exists and was not read in this run'),
  })
  await bench.call(readFile, { path: 'unseen.txt' })
  writeFileSync(bench.at('unseen.txt'), 'changed meanwhile\n')
  expect(accessOf('unseen.txt')).toContainEqual(confirmation)
  await expect(bench.call(writeFile, input, { unconfirmed: true })).rejects.toMatchObject({
    message: expect.stringContaining('was changed since'),
  })
  expect(bench.content('unseen.txt')).toBe('changed meanwhile\n')
  await bench.call(writeFile, input)
  expect(bench.content('unseen.txt')).toBe('new\n')
})

test('expected_hash replaces the receipt', async () => {
  await bench.given('hashed.txt', 'a\n')
  const { sha256 } = (await bench.call(readFile, { path: 'hashed.txt' })).data
  bench.workspace.receipts.delete(bench.at('hashed.txt'))
  expect(accessOf('hashed.txt', { expected_hash: sha256 })).toHaveLength(1)
  await expect(write('hashed.txt', 'b\n', { expected_hash: '0'.repeat(64) })).rejects.toMatchObject({
    code: 'conflict',
  })
  await write('hashed.txt', 'b\n', { expected_hash: sha256.toUpperCase() })
  expect(bench.content('hashed.txt')).toBe('b\n')
  await expect(write('absent.txt', 'b\n', { expected_hash: sha256 })).rejects.toMatchObject({
    code: 'conflict',
  })
  expect(existsSync(bench.at('absent.txt'))).toBe(false)
})

test('mode create refuses an existing file, append adds to it and does not count as reading it', async () => {
  writeFileSync(bench.at('log.txt'), 'a\n')
  await expect(write('log.txt', 'b\n', { mode: 'create' })).rejects.toMatchObject({
    message: "File already exists: log.txt. Use 'overwrite' mode to replace.",
  })
  const { data } = await write('log.txt', 'b\n', { mode: 'append' })
  expect(data).toMatchObject({ bytes_written: 2, size: 4, created: false })
  expect(bench.content('log.txt')).toBe('a\nb\n')
  expect(bench.workspace.receipts.get(bench.at('log.txt'))).toBeUndefined()
  await write('fresh.txt', 'x', { mode: 'append' })
  expect(bench.content('fresh.txt')).toBe('x')
})

test('encoding, byte order mark and CRLF of the old file stay; content that says otherwise is taken as it is', async () => {
  await bench.given('windows.txt', '\uFEFFa\r\nb\r\nc\n')
  await write('windows.txt', 'x\ny\n')
  expect(bench.content('windows.txt')).toBe('\uFEFFx\r\ny\r\n')
  await write('windows.txt', 'x\r\ny\n')
  expect(bench.content('windows.txt')).toBe('\uFEFFx\r\ny\n')
  await bench.given('wide.txt', encodeText('\uFEFFa\r\n', 'utf-16le') ?? '')
  await write('wide.txt', 'b\n')
  expect(readFileSync(bench.at('wide.txt'), 'utf16le')).toBe('\uFEFFb\r\n')
  await write('wide.txt', 'c', { mode: 'append' })
  expect(readFileSync(bench.at('wide.txt'), 'utf16le')).toBe('\uFEFFb\r\nc')
  await bench.given('sjis.txt', encodeText('これは日本語のテキストです。\n', 'shift_jis') ?? '')
  await write('sjis.txt', '日本語のまま\n')
  expect(
    Buffer.compare(
      readFileSync(bench.at('sjis.txt')),
      encodeText('日本語のまま\n', 'shift_jis') ?? Buffer.alloc(0),
    ),
  ).toBe(0)
  await bench.given('sjis.txt', encodeText('これは日本語のテキストです。\n', 'shift_jis') ?? '')
  await expect(write('sjis.txt', '😀\n')).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('shift_jis'),
  })
})

const PROGRAM = Array.from({ length: 60 }, (_, i) => `const line${i} = ${i}`).join('\n')
test('a write that would lose most of a file is refused unless it is confirmed', async () => {
  await bench.given('program.js', PROGRAM)
  await expect(write('program.js', 'const a = 1\n')).rejects.toMatchObject({
    message: 'program.js would shrink from 60 to 1 line.',
    hint: expect.stringContaining('allow_shrink'),
  })
  await write('program.js', 'const a = 1\n', { allow_shrink: true })
  expect(bench.content('program.js')).toBe('const a = 1\n')
})

test.each([
  '// ... existing code ...',
  '# ... rest of the code unchanged ...',
  '/* rest of file remains the same */',
  '// (rest of the implementation stays the same)',
  '<!-- ... existing content ... -->',
  '    # ... existing imports ...',
  '-- remaining code unchanged',
  '// ...',
  '# …',
  '{/* ... existing code ... */}',
  '// 既存のコード',
  '# 以下省略',
  '// ... 残りのコードは変更なし ...',
  '// 기존 코드 유지',
  '# 나머지 코드는 동일',
  '// 其余代码保持不变',
  '[... rest of the file unchanged ...]',
  '// other methods remain unchanged',
  '# (rest of implementation)',
  '# ... (other functions)',
  '// ... remaining methods ...',
  '...',
  '    …',
  '# TODO: remaining methods here',
  '// TODO: rest of the code',
  '/* (other handlers) */',
])('a line that stands in for lost text is refused: %s', async line => {
  await bench.given('placeholder.js', PROGRAM)
  const shorter = [...PROGRAM.split('\n').slice(0, 40), line].join('\n')
  await expect(write('placeholder.js', shorter)).rejects.toMatchObject({
    message: expect.stringContaining('stands in for'),
  })
  await write('placeholder.js', shorter, { allow_shrink: true })
  // It is in the file now, so it is text like any other.
  await write('placeholder.js', `${shorter}\n`)
})

test.each([
  '// returns the rest of the arguments after the command name',
  '// ...args are passed on to the handler',
  '# existing files are never overwritten by this function',
  'const rest = [...existing, code]',
  '// the original code of this error is kept in cause',
  '# unchanged lines keep their line ends; changed ones get those of their neighbours',
  'doSomething(...args)',
  '// The remaining arguments go to the parser, which knows what to do with them.',
  '# (other functions)',
  '# TODO: remaining methods here',
  '...',
  '// ... and other functions call this one',
])('an ordinary line is not taken for a placeholder: %s', async line => {
  await bench.given('ordinary.js', PROGRAM)
  await write('ordinary.js', `${PROGRAM}\n${line}\n`)
})

test.each([
  'def load(self) -> str:\n    ...',
  'def load(self) -> str:  # abstract\n    ...',
  'class Reader(Protocol):\n    """Reads."""\n    ...',
  '# TODO: rename the remaining methods when version 2 is out',
  '# (see the other functions for details)',
  '// {other options are passed on to the parser}',
  'log("...")',
  '- ... and more',
])('an ordinary line of a shorter file is not taken for a placeholder either: %s', async line => {
  await bench.given('shorter.py', PROGRAM)
  await write('shorter.py', [...PROGRAM.split('\n').slice(0, 40), line].join('\n'))
})

test('folders and binary files: the first is refused, the second replaced once it is confirmed', async () => {
  mkdirSync(bench.at('folder'))
  await expect(write('folder', 'x')).rejects.toMatchObject({ code: 'invalid_input' })
  writeFileSync(bench.at('data.bin'), Buffer.from([0, 1, 2, 255]))
  await write('data.bin', 'text\n')
  expect(bench.content('data.bin')).toBe('text\n')
})

test('the old text is not shown to a call that may not read it', async () => {
  await bench.given('secret.env', 'TOKEN=abc\n')
  const { data, text } = await bench.call(
    writeFile,
    { path: 'secret.env', content: 'TOKEN=x\n' },
    { permit: { mayRead: () => false } },
  )
  expect(JSON.stringify(data) + text).not.toContain('abc')
})

test('a call that may not read a file learns nothing of what it held', async () => {
  const unreadable = { permit: { mayRead: () => false } }
  const told = async (name: string, input: object): Promise<string> => {
    const outcome = await bench
      .call(writeFile, { path: name, ...input }, unreadable)
      .catch(({ message, hint }) => ({ message, hint }))
    return JSON.stringify(outcome)
  }
  const secret = `PIN=1234\n${'x\n'.repeat(70)}`
  const sha256 = createHash('sha256').update(secret).digest('hex')
  writeFileSync(bench.at('closed.env'), secret)
  const wrong = await told('closed.env', { content: 'x', expected_hash: '0'.repeat(64) })
  expect(wrong).toContain('may not read')
  // A right guess is told from a wrong one by nothing.
  expect(await told('closed.env', { content: 'x', expected_hash: sha256 })).toBe(wrong)
  expect(await told('closed.env', { content: 'x' })).toContain('would lose more than half of its lines')
  expect(bench.content('closed.env')).toBe(secret)
  const appended = await told('closed.env', { content: 'a\n', mode: 'append' })
  expect(JSON.parse(appended)).toEqual({
    text: 'Appended to closed.env (2 bytes given)',
    data: {
      path: bench.at('closed.env'),
      mode: 'append',
      success: true,
      created: false,
      bytes_written: 2,
    },
  })
  expect(await told('closed.env', { content: 'a\n', allow_shrink: true })).not.toMatch(/sha256|size|lines/)
})

test('a wrong expected_hash is not answered with the right one', async () => {
  writeFileSync(bench.at('unread-hash.txt'), 'work\n')
  const error = await write('unread-hash.txt', 'b\n', { expected_hash: '0'.repeat(64) }).catch(e => e)
  expect(error).toMatchObject({
    code: 'conflict',
    message: 'unread-hash.txt does not match expected_hash: its content is different.',
    hint: 'Read the file again before writing it.',
  })
  const absent = await write('absent.txt', 'b\n', { expected_hash: '0'.repeat(64) }).catch(e => e)
  expect(absent.hint).toBe('Leave expected_hash out to create it.')
})

test('an append that goes on in the last line says so, and so does a write to a read-only file', async () => {
  await bench.given('open-end.txt', 'a')
  const append = async (text: string) => (await write('open-end.txt', text, { mode: 'append' })).text
  expect(await append('b\n')).toContain(
    'did not end with a line break, so the new text goes on in its last line',
  )
  expect(await append('c\n')).not.toContain('did not end')
  await bench.given('read-only.txt', 'a\n')
  chmodSync(bench.at('read-only.txt'), 0o444)
  expect((await write('read-only.txt', 'b\n')).text).toContain('The file was read-only; its mode is kept.')
  expect(statSync(bench.at('read-only.txt')).mode & 0o777).toBe(0o444)
})

test('seeing a part of a file is not having read it; all parts together are', async () => {
  writeFileSync(bench.at('parts.txt'), 'a\nb\nc\nd\n')
  const confirmation = { kind: 'custom', name: 'overwrite_unread', details: bench.at('parts.txt') }
  const read = (offset: number, limit: number) => bench.call(readFile, { path: 'parts.txt', offset, limit })
  await read(0, 1)
  expect(accessOf('parts.txt')).toContainEqual(confirmation)
  await expect(
    bench.call(writeFile, { path: 'parts.txt', content: 'x\n' }, { unconfirmed: true }),
  ).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('parts.txt exists and was read in this run only in part'),
    hint: expect.stringMatching(/Read all of it with read_file first, or pass expected_hash/),
  })
  await read(-2, 2)
  expect(accessOf('parts.txt')).toContainEqual(confirmation)
  await read(1, 1)
  expect(accessOf('parts.txt')).not.toContainEqual(confirmation)
  // Parts of different contents make no whole.
  writeFileSync(bench.at('parts.txt'), 'a\nb\n')
  await read(0, 1)
  writeFileSync(bench.at('parts.txt'), 'a\nB\n')
  await read(1, 1)
  expect(accessOf('parts.txt')).toContainEqual(confirmation)
})

test('a line that was cut has not been seen, so the read names the hash with which a write says that it knows', async () => {
  await bench.given('long.txt', `a\n${'x'.repeat(3000)}\nb\n`)
  const confirmation = { kind: 'custom', name: 'overwrite_unread', details: bench.at('long.txt') }
  expect(accessOf('long.txt')).toContainEqual(confirmation)
  const { text, data } = await bench.call(readFile, { path: 'long.txt' })
  const expected_hash = data.sha256
  expect(text).toContain(`replacing the whole file needs expected_hash: ${expected_hash}.`)
  expect(accessOf('long.txt', { expected_hash })).not.toContainEqual(confirmation)
  await bench.call(writeFile, { path: 'long.txt', content: 'x\n', expected_hash }, { unconfirmed: true })
  expect(bench.content('long.txt')).toBe('x\n')
})

test.each(['folder/', '.', 'folder/..', '/'])('the path %j is refused before it is judged', path => {
  expect(() => validateInput(writeFile, { path, content: '' })).toThrow("'path' must name a file; ")
})

test('names that begin or end with dots are names', () => {
  for (const path of ['.env', 'a/.b', 'a..', 'a/b.', '...'])
    expect(validateInput(writeFile, { path, content: '' })).toMatchObject({ path })
})

test('appending to a file above 64 MB is refused without reading it, and says what to do', async () => {
  writeFileSync(bench.at('huge.log'), '')
  // Sparse, and larger than any buffer.
  truncateSync(bench.at('huge.log'), 20 * 1024 ** 3)
  await expect(write('huge.log', 'x', { mode: 'append' })).rejects.toMatchObject({
    code: 'failed',
    message: 'huge.log is larger than 64 MB, which is too large to append to.',
    hint: expect.stringContaining('run_command'),
  })
  expect(statSync(bench.at('huge.log')).size).toBe(20 * 1024 ** 3)
})

test('whether a large file was seen is found out while other calls go on', async () => {
  const content = 'x\n'.repeat(1024 * 1024)
  await write('large.txt', content)
  const seen = accessOf('large.txt')
  expect(seen).toBeInstanceOf(Promise)
  expect(await seen).toEqual([{ kind: 'file_write', path: bench.at('large.txt') }])
  writeFileSync(bench.at('large.txt'), content.replace('x', 'y'))
  expect(await accessOf('large.txt')).toContainEqual({
    kind: 'custom',
    name: 'overwrite_unread',
    details: bench.at('large.txt'),
  })
})

test('the preview reads the file in its own encoding, which the write keeps', async () => {
  await bench.given('wide-preview.txt', encodeText('\uFEFFcafé\nold\n', 'utf-16le') ?? '')
  const wanted = { path: 'wide-preview.txt', content: 'café\nnew\n', mode: 'overwrite' } as const
  const place = { cwd: bench.root, workspace: bench.root, receipts: bench.workspace.receipts }
  const preview = writeFile.preview?.({ ...wanted, create_dirs: true, allow_shrink: false }, place)
  expect(preview).toContain(' café\n-old\n+new\n')
})

test('the preview shows what is written: line ends that the file keeps are no change', async () => {
  const lines = Array.from({ length: 30 }, (_, index) => (index % 15 === 0 ? `at ${index}` : 'same'))
  const place = { cwd: bench.root, workspace: bench.root, receipts: bench.workspace.receipts }
  const wanted = (content: string, mode: 'overwrite' | 'append' = 'overwrite') => ({
    ...{ path: 'ends-preview.txt', content, mode, create_dirs: true, allow_shrink: false },
  })
  await bench.given('ends-preview.txt', `${lines.join('\r\n')}\r\n`)
  const content = `${lines.join('\n')}\n`.replaceAll('at', 'AT')
  const preview = writeFile.preview?.(wanted(content), place) ?? ''
  expect(preview.match(/^[-+](?![-+])/gm)).toHaveLength(4)
  expect(writeFile.preview?.(wanted('more\n', 'append'), place)).toMatch(
    / same\r\n same\r\n same\r\n\+more\r\n$/,
  )
  // What is left out of it is left out of this very change.
  const rest = writeFile.leaveOut?.(wanted(content), new Set([0]), place)
  await bench.call(writeFile, { ...rest })
  expect(bench.content('ends-preview.txt')).toBe(`${lines.join('\r\n')}\r\n`.replace('at 15', 'AT 15'))
})
