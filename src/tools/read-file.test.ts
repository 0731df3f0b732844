import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, openSync, symlinkSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { crc32, deflateSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readFile } from './read-file.ts'
import { createToolBench, type ToolBench } from './testing.ts'
import { encodeText } from './text/codec.ts'

let bench: ToolBench
beforeAll(() => {
  bench = createToolBench()
})
afterAll(() => bench.close())

const write = (name: string, content: string | Uint8Array): void => writeFileSync(bench.at(name), content)
const hash = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex')

test('lines come numbered from 1, with all there is to know about the file, and leave a receipt', async () => {
  write('a.ts', 'function a() {\n  return 1\n}\n')
  const { text, data } = await bench.call(readFile, { path: 'a.ts' })
  expect(text).toBe('     1\tfunction a() {\n     2\t  return 1\n     3\t}')
  expect(data).toEqual({
    path: bench.at('a.ts'),
    kind: 'text',
    encoding: 'utf-8',
    encoding_certain: true,
    bom: false,
    line_end: 'lf',
    indent: 'spaces:2',
    size: 28,
    total_lines: 3,
    sha256: hash('function a() {\n  return 1\n}\n'),
    offset: 0,
    lines_returned: 3,
    lines_cut: 0,
    truncated: false,
    next_offset: null,
  })
  expect(bench.workspace.receipts.get(bench.at('a.ts'))).toBe(data.sha256)
})

test('offset counts from 0, negative offsets from the end, and the hint gives the next offset', async () => {
  write('ten.txt', Array.from({ length: 10 }, (_, i) => `line ${i + 1}`).join('\n'))
  const middle = await bench.call(readFile, { file_path: 'ten.txt', offset: 2, limit: 3 })
  expect(middle.text).toBe(
    '     3\tline 3\n     4\tline 4\n     5\tline 5\n\n[Lines 3 to 5 of 10. Continue with offset: 5.]',
  )
  const rest = await bench.call(readFile, { path: 'ten.txt', offset: middle.data.next_offset })
  expect(rest.text).toMatch(/^ {5}6\tline 6\n[\s\S]*10\tline 10\n\n\[Lines 6 to 10 of 10\.\]$/)
  const tail = await bench.call(readFile, { path: 'ten.txt', offset: -2 })
  expect(tail.text).toBe('     9\tline 9\n    10\tline 10\n\n[Lines 9 to 10 of 10.]')
  const all = await bench.call(readFile, { path: 'ten.txt', offset: -99 })
  expect(all.data).toMatchObject({ offset: 0, lines_returned: 10 })
  await expect(bench.call(readFile, { path: 'ten.txt', offset: 10 })).rejects.toMatchObject({
    code: 'invalid_input',
  })
})

test('2000 lines, 50 KB and 2000 characters a line are shown at most, never a cut line without saying so', async () => {
  write('many.txt', 'x\n'.repeat(5000))
  expect((await bench.call(readFile, { path: 'many.txt' })).data).toMatchObject({
    lines_returned: 2000,
    next_offset: 2000,
    total_lines: 5000,
  })
  write('wide.txt', `${'y'.repeat(1000)}\n`.repeat(100))
  const wide = await bench.call(readFile, { path: 'wide.txt' })
  expect(wide.data).toMatchObject({ lines_returned: 51, next_offset: 51, truncated: true })
  expect(wide.text.length).toBeLessThan(53_000)
  write('long.txt', `${'👩‍👩‍👧'.repeat(1000)}\nend\n`)
  const long = await bench.call(readFile, { path: 'long.txt' })
  expect(long.data).toMatchObject({ lines_cut: 1, lines_returned: 2, truncated: false })
  expect(long.text.split('\n')[0]).toMatch(/^ {5}1\t(👩‍👩‍👧){250}… \[line cut: 18001 bytes in all\]$/u)
})

test('a line that lies across block borders is found by its number', async () => {
  const lines = Array.from({ length: 3000 }, (_, i) => `${i}:${'z'.repeat((i * 37) % 900)}`)
  write('blocks.txt', `${lines.join('\n')}\n`)
  for (const offset of [0, 1, 250, 590, 591, 592, 1180, 1500, 2500, 2999, -1, -1750]) {
    const { text } = await bench.call(readFile, { path: 'blocks.txt', offset, limit: 1 })
    const at = offset < 0 ? 3000 + offset : offset
    expect(text.split('\n')[0]).toBe(`${String(at + 1).padStart(6)}\t${lines[at]}`)
  }
})

const JAPANESE = 'これは日本語のテキストです。\n設定を変更します。\n'
test.each([
  ['utf-16le', '\uFEFF日本\r\nabc\r\n', ['日本', 'abc'], { bom: true, line_end: 'crlf' }],
  ['utf-16be', '\uFEFF日本\nabc', ['日本', 'abc'], { bom: true, line_end: 'lf' }],
  ['utf-16le', 'plain text\nwithout a mark\n', ['plain text', 'without a mark'], { bom: false }],
  ['utf-8', '\uFEFFab\n', ['ab'], { bom: true }],
  ['shift_jis', JAPANESE, ['これは日本語のテキストです。', '設定を変更します。'], {}],
  ['euc-jp', JAPANESE, ['これは日本語のテキストです。', '設定を変更します。'], {}],
  [
    'euc-kr',
    '안녕하세요. 이 파일은 한국어로 작성된 설정 파일입니다.\n',
    ['안녕하세요. 이 파일은 한국어로 작성된 설정 파일입니다.'],
    {},
  ],
  ['gbk', '这是一个中文的配置文件，请不要修改。\n', ['这是一个中文的配置文件，请不要修改。'], {}],
  ['windows-1252', 'Voilà un café très agréable\n', ['Voilà un café très agréable'], {}],
  ['windows-1251', 'Привет, это файл настроек\n', ['Привет, это файл настроек'], {}],
])('%s is recognised and decoded (%#)', async (encoding, content, lines, expected) => {
  write('encoded.txt', encodeText(content, encoding) ?? '')
  const { text, data } = await bench.call(readFile, { path: 'encoded.txt' })
  expect(data).toMatchObject({ encoding, total_lines: lines.length, ...expected })
  expect(text.split('\n').slice(0, lines.length)).toEqual(
    lines.map((line, index) => `${String(index + 1).padStart(6)}\t${line}`),
  )
})

test('a legacy letter after pages of ASCII still decides the encoding', async () => {
  write(
    'late.txt',
    Buffer.concat([
      Buffer.from('ascii only\n'.repeat(40_000)),
      encodeText(JAPANESE, 'shift_jis') ?? Buffer.alloc(0),
    ]),
  )
  const { text, data } = await bench.call(readFile, { path: 'late.txt', offset: -1 })
  expect(data.encoding).toBe('shift_jis')
  expect(text).toContain('設定を変更します。')
})

test('lone carriage returns end lines only where there are no line feeds', async () => {
  write('mac.txt', 'one\rtwo\rthree')
  expect((await bench.call(readFile, { path: 'mac.txt', offset: 1 })).text).toMatch(
    /^ {5}2\ttwo\n {5}3\tthree\n/,
  )
  write('log.txt', 'progress 1\rprogress 2\ndone\n')
  expect((await bench.call(readFile, { path: 'log.txt' })).data).toMatchObject({
    total_lines: 2,
    line_end: 'lf',
  })
})

test('empty files, binary files and bytes on request', async () => {
  write('empty.txt', '')
  expect((await bench.call(readFile, { path: 'empty.txt' })).text).toBe('(empty file)')
  write('junk.bin', Buffer.from(Array.from({ length: 300 }, (_, i) => (i * 7919) % 256)))
  const binary = await bench.call(readFile, { path: 'junk.bin' })
  expect(binary).toMatchObject({
    text: expect.stringContaining('binary file'),
    data: { kind: 'binary', size: 300 },
  })
  const bytes = await bench.call(readFile, { path: 'junk.bin', hex: true, limit: 2 })
  expect(bytes.text).toMatch(/^00000000 {2}00 ef de [^\n]*\|\n00000010 /)
  expect(bytes.data).toMatchObject({ rows: 2, next_offset: 2 })
  write('notes.pdf', '%PDF-1.7\n\0\0\xff')
  expect((await bench.call(readFile, { path: 'notes.pdf' })).text).toContain('PDF document')
})

function png(width: number, height: number): Buffer {
  const chunk = (type: string, data: Uint8Array): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data])
    const frame = Buffer.alloc(8)
    frame.writeUInt32BE(data.length)
    frame.writeUInt32BE(crc32(body), 4)
    return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)])
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width)
  header.writeUInt32BE(height, 4)
  header.set([8, 2, 0, 0, 0], 8)
  const rows = deflateSync(Buffer.alloc(height * (1 + 3 * width)))
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', rows),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

test('an image is returned as one only when its structure is whole, whatever its name says', async () => {
  const image = png(3, 2)
  write('real.txt', image)
  const real = await bench.call(readFile, { path: 'real.txt' })
  expect(real.images).toEqual([{ mimeType: 'image/png', base64: image.toString('base64') }])
  expect(real.data).toMatchObject({ kind: 'image', width: 3, height: 2 })
  write('page.png', '<html><body>404</body></html>\n')
  const page = await bench.call(readFile, { path: 'page.png' })
  expect(page.images).toBeUndefined()
  expect(page.text).toContain('<html>')
  write('cut.png', image.subarray(0, image.length - 6))
  const cut = await bench.call(readFile, { path: 'cut.png' })
  expect(cut.images).toBeUndefined()
  expect(cut.data).toMatchObject({ kind: 'binary', type: 'damaged PNG image' })
  const flipped = Buffer.from(image)
  flipped[20] = 99
  write('flipped.png', flipped)
  expect((await bench.call(readFile, { path: 'flipped.png' })).images).toBeUndefined()
})

test('a missing file names the one that was probably meant, but none that may not be read', async () => {
  write('settings.json', '{}')
  write('Secret.env', 'x')
  await expect(bench.call(readFile, { path: 'setings.json' })).rejects.toMatchObject({
    code: 'not_found',
    hint: "Did you mean 'settings.json' in the same folder?",
  })
  const permit = { mayRead: (path: string) => !path.endsWith('Secret.env') }
  const error = await bench.call(readFile, { path: 'secret.env' }, { permit }).catch(reason => reason)
  expect(`${error.message} ${error.hint}`).not.toContain('Secret')
})

test('folders, named pipes and links without an end give an error at once', async () => {
  mkdirSync(bench.at('folder'))
  await expect(bench.call(readFile, { path: 'folder' })).rejects.toMatchObject({
    hint: expect.stringContaining('list_directory'),
  })
  execFileSync('mkfifo', [bench.at('pipe')])
  await expect(bench.call(readFile, { path: 'pipe' })).rejects.toMatchObject({ code: 'invalid_input' })
  symlinkSync('loop', bench.at('loop'))
  await expect(bench.call(readFile, { path: 'loop' })).rejects.toThrow()
})

test('content from outside the workspace is labelled as such', async () => {
  expect((await bench.call(readFile, { path: '/etc/passwd', limit: 1 })).label).toEqual({
    origin: 'outside',
    trusted: false,
  })
  expect((await bench.call(readFile, { path: 'a.ts' })).label).toBeUndefined()
})

test('the tail of a 5 GB file is found without reading the rest, and has no totals, hash or receipt', async () => {
  const path = bench.at('huge.log')
  const descriptor = openSync(path, 'w')
  // Sparse: 5 GB of zero bytes cost no disk. Its head and tail are text.
  writeSync(descriptor, 'first line\n'.repeat(30_000), 0)
  truncateSync(path, 5 * 1024 ** 3)
  writeSync(descriptor, '\nlast but one\nlast\n', 5 * 1024 ** 3)
  const tail = await bench.call(readFile, { path: 'huge.log', offset: -2 })
  expect(tail.text).toBe('    -2\tlast but one\n    -1\tlast\n\n[Lines -2 to -1, counted from the end.]')
  expect(tail.data).toMatchObject({ total_lines: null, sha256: null, offset: -2, truncated: false })
  expect(bench.workspace.receipts.get(path)).toBeUndefined()
  const head = await bench.call(readFile, { path: 'huge.log', offset: 1, limit: 2 })
  expect(head.data).toMatchObject({ offset: 1, lines_returned: 2, next_offset: 3 })
})

test('a line that is cut says how to see the rest', async () => {
  writeFileSync(bench.at('one-long.txt'), 'x'.repeat(3000))
  const { text } = await bench.call(readFile, { path: 'one-long.txt' })
  expect(text).toContain('find a part of it with grep_search, or see its bytes with hex: true.')
})
