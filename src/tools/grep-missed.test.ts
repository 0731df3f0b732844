import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createToolBench, grepSearch, type ToolBench } from './testing.ts'

// Places where a search would find nothing although there is something.

let bench: ToolBench
beforeAll(() => {
  bench = createToolBench()
})
afterAll(() => bench.close())

function file(name: string, content: string | Uint8Array): void {
  mkdirSync(dirname(bench.at(name)), { recursive: true })
  writeFileSync(bench.at(name), content)
}

const grep = (pattern: string, more: object = {}) => bench.call(grepSearch, { pattern, ...more })

/** 日本語のテキストを検索する */
const SHIFT_JIS = '93fa967b8cea82cc8365834c8358836782f08c9f8df582b782e90a'
/** 한국어로 된 문장을 찾습니다 */
const EUC_KR = 'c7d1b1b9beee b7ce b5c8 20b9aec0e5c0bb20c3a3bdc0b4cfb4d9 0a'
const bytesOf = (hex: string): Uint8Array => Buffer.from(hex.replaceAll(' ', ''), 'hex')

test.each([
  ['Shift_JIS', bytesOf(SHIFT_JIS), '検索する'],
  ['EUC-KR', bytesOf(EUC_KR), '문장'],
  ['UTF-16 without a mark', Buffer.from('first line\nsecond wide line\n', 'utf16le'), 'wide line'],
  ['Latin 1', Buffer.from("un café très agréable, à côté de l'été\n", 'latin1'), 'agréable'],
])(
  'text in %s is found by its path, and a search of the folder names the file',
  async (name, bytes, pattern) => {
    const folder = `encodings-${name.replaceAll(' ', '-')}`
    file(`${folder}/text.txt`, bytes)
    file(`${folder}/other.txt`, 'plain\n')
    const found = await grep(pattern, { path: `${folder}/text.txt`, output_mode: 'content' })
    expect(found.data.matches[0]?.lines[0]?.text).toContain(pattern)
    const missed = await grep(pattern, { path: folder })
    expect(missed.text).toBe(
      `No matches. 1 file that is binary, or text in another encoding, matches: ${folder}/text.txt. Search one of them by its path.`,
    )
    expect(missed.data.unsearched_files).toEqual([`${folder}/text.txt`])
  },
)

test('a log with a NUL is named when nothing else matches, unless it may not be read', async () => {
  file('nul/app.log', 'start\nfatal: disk\0full\nstop\n')
  const { text } = await grep('fatal', { path: 'nul', output_mode: 'content' })
  expect(text).toContain('nul/app.log. Search one of them by its path.')
  const byPath = await grep('fatal', { path: 'nul/app.log', output_mode: 'content' })
  expect(byPath.data.total).toBe(1)
  const permit = { mayRead: (path: string) => !path.endsWith('app.log') }
  const hidden = await bench.call(grepSearch, { pattern: 'fatal', path: 'nul' }, { permit })
  expect(hidden.text).toBe('No matches.')
})

test.each([
  [{ pattern: String.raw`foo\nbar` }],
  [{ pattern: 'foo\nbar' }],
  [{ pattern: 'foo\nbar', fixed_strings: true }],
  [{ pattern: 'foo\r\nbar', fixed_strings: true }],
  [{ pattern: String.raw`^foo$\n^bar$` }],
  [{ pattern: 'foo$' }],
])('lines that end with CRLF match %j across lines', async input => {
  file('ends/crlf.txt', 'foo\r\nbar\r\n')
  file('ends/lf.txt', 'foo\nbar\n')
  const { data } = await grep(input.pattern, {
    ...input,
    path: 'ends',
    multiline: true,
    output_mode: 'count',
  })
  expect(data.counts).toEqual([
    { path: 'ends/crlf.txt', count: 1 },
    { path: 'ends/lf.txt', count: 1 },
  ])
})

test.each([
  ['*.ts,*.js', ['a.js', 'a.ts', 'src/b.ts']],
  ['*.ts, *.js', ['a.js', 'a.ts', 'src/b.ts']],
  ['*.ts *.js', ['a.js', 'a.ts', 'src/b.ts']],
  ['*.{ts,js}', ['a.js', 'a.ts', 'src/b.ts']],
  [
    ['*.ts', '*.js'],
    ['a.js', 'a.ts', 'src/b.ts'],
  ],
  [['*.ts', '!src/**'], ['a.ts']],
  ['*.ts,!b.*', ['a.ts']],
  ['!*.ts,!*.js', ['My notes, old.md', 'x.py']],
  ['My notes, old.md', ['My notes, old.md']],
  ['My *.md', ['My notes, old.md']],
  ['ROOT/src/*.ts', ['src/b.ts']],
  ['ROOT/**/*.ts', ['a.ts', 'src/b.ts']],
  ['!ROOT/src/**', ['My notes, old.md', 'a.js', 'a.ts', 'x.py']],
  ['/src/*.ts', ['src/b.ts']],
])('the glob %j chooses %j', async (glob, expected) => {
  for (const name of ['a.ts', 'a.js', 'src/b.ts', 'x.py', 'My notes, old.md'])
    file(`lists/${name}`, 'needle\n')
  const root = (text: string): string => text.replace('ROOT', bench.at('lists'))
  const { data } = await grep('needle', {
    path: 'lists',
    glob: typeof glob === 'string' ? root(glob) : glob,
  })
  expect(data.files.map((path: string) => path.slice(6)).sort()).toEqual(expected)
})

test('a pattern that names carriage returns finds them, in one line and across lines', async () => {
  file('returns/f.txt', 'a\r\nb $x\r\n')
  for (const pattern of ['\\r$', '[\\r]$', 'x\\r?$|a\\r', '\\x0d$']) {
    for (const multiline of [false, true]) {
      const { data } = await grep(pattern, { path: 'returns/f.txt', output_mode: 'count', multiline })
      expect([pattern, multiline, data.matches]).toEqual([pattern, multiline, 2])
    }
  }
  const end = await grep('a$', { path: 'returns/f.txt', output_mode: 'count' })
  const dollar = await grep('\\$x', { path: 'returns/f.txt', output_mode: 'count' })
  expect([end.data.matches, dollar.data.matches]).toEqual([1, 1])
})
