import { mkdirSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { globSearch } from './glob-search.ts'
import { listDirectory } from './list-directory.ts'
import { createToolBench, grepSearch, type ToolBench } from './testing.ts'

// How much one result of a search or listing holds, and that the rest can be had.

let bench: ToolBench
beforeAll(() => {
  bench = createToolBench()
  mkdirSync(bench.at('long-names'))
  for (let i = 0; i < 400; i += 1) writeFileSync(bench.at(`long-names/${'n'.repeat(180)}${i}.txt`), 'hit\n')
  const lines = Array.from({ length: 3000 }, (_, i) => `${i % 3 === 0 ? 'hit' : 'other'} ${'x'.repeat(200)}`)
  writeFileSync(bench.at('wide.txt'), `${lines.join('\n')}\n`)
})
afterAll(() => bench.close())

const MOST = 51 * 1024

test.each([
  ['grep_search, files', grepSearch, { pattern: 'hit', path: 'long-names', head_limit: 0 }, 'files'],
  [
    'grep_search, count',
    grepSearch,
    { pattern: 'hit', path: 'long-names', head_limit: 0, output_mode: 'count' },
    'counts',
  ],
  ['glob_search', globSearch, { pattern: 'long-names/*' }, 'files'],
  ['list_directory', listDirectory, { path: 'long-names' }, 'entries'],
] as const)(
  '%s: a result has at most 50 KB, and paging visits everything once',
  async (_, tool, input, list) => {
    const seen: unknown[] = []
    for (let cursor: number | null = 0; cursor !== null; ) {
      const { text, data } = await bench.call(tool, { ...input, cursor })
      expect(Buffer.byteLength(text)).toBeLessThan(MOST)
      expect(text.split('\n').length - 1).toBe(data[list].length)
      if (data.next_offset !== null) expect(text).toContain('(a result has at most 50 KB)')
      seen.push(...data[list].map((each: unknown) => JSON.stringify(each)))
      cursor = data.next_offset
    }
    expect(new Set(seen).size).toBe(400)
    expect(seen).toHaveLength(400)
  },
)

test('lines with their context come in pages of at most 50 KB, with every match once', async () => {
  const seen: number[] = []
  for (let cursor: number | null = 0; cursor !== null; ) {
    const { text, data } = await bench.call(grepSearch, {
      pattern: '^hit',
      path: 'wide.txt',
      output_mode: 'content',
      '-C': 20,
      head_limit: 0,
      cursor,
    })
    expect(Buffer.byteLength(text)).toBeLessThan(MOST)
    for (const { line, match } of data.matches[0].lines) if (match) seen.push(line)
    cursor = data.next_offset
  }
  expect(seen).toEqual(Array.from({ length: 1000 }, (_, i) => i * 3 + 1))
})

test('a match whose context alone is more than 50 KB keeps the nearest lines and says so', async () => {
  const { text, data } = await bench.call(grepSearch, {
    pattern: '^hit',
    path: 'wide.txt',
    output_mode: 'content',
    '-C': 1000,
    head_limit: 1,
    offset: 500,
  })
  expect(Buffer.byteLength(text)).toBeLessThan(MOST)
  const [group] = data.matches
  expect(group.lines.some((line: { line: number; match: boolean }) => line.match && line.line === 1501)).toBe(
    true,
  )
  expect(text).toMatch(/\[[\d,]+ context lines left out: a result has at most 50 KB; read_file shows them\]/)
  expect(data.next_offset).toBe(501)
})

test('the rest of a file that shows only some of its lines is had by its path', async () => {
  const folder = await bench.call(grepSearch, {
    pattern: '^hit',
    path: '.',
    glob: 'wide.txt',
    output_mode: 'content',
  })
  expect(folder.text).toContain(
    '[100 of 1000 matching lines of this file; for the rest pass this file as path, with offset: 100]',
  )
  const file = await bench.call(grepSearch, {
    pattern: '^hit',
    path: 'wide.txt',
    output_mode: 'content',
    offset: 100,
    head_limit: 1,
  })
  expect(file.data.matches[0].lines[0].line).toBe(301)
  expect(file.text).not.toContain('for the rest')
})

test('a match across lines is one match of several lines', async () => {
  writeFileSync(bench.at('block.txt'), 'begin\n2\n3\n4\n5\nend\nafter\n')
  const more = { pattern: 'begin.*end', multiline: true, path: 'block.txt' }
  const content = await bench.call(grepSearch, { ...more, output_mode: 'content' })
  expect(content.text).toMatch(/^1 match, 6 lines, in 1 file\.\n1:begin\n/)
  const count = await bench.call(grepSearch, { ...more, output_mode: 'count' })
  expect(count.text).toBe('1 file matches, 1 match in all.\nblock.txt:1')
})

test.each([
  ['at its start', `needle ${'x'.repeat(3_000_000)}`, /^needle x+…$/],
  ['at its end', `${'x'.repeat(3_000_000)} needle`, /^\[\d+ bytes\] …x+ needle$/],
  [
    'between emoji',
    `${'👩‍👧'.repeat(300_000)}needle${'👩‍👧'.repeat(300_000)}`,
    /^\[\d+ bytes\] …(👩‍👧)+needle(👩‍👧)+…$/u,
  ],
  ['many times', 'needle,'.repeat(400_000), /^needle,(needle,)+/],
  ['as a very long match', `aa${'needle'.repeat(400_000)}bb`, /^aa(needle)+/],
])('a line of megabytes is shown around its match: %s', async (_, line, expected) => {
  writeFileSync(bench.at('monster.txt'), `first\n${line}\nlast\n`)
  for (const pattern of ['needle', '(needle,?)+']) {
    const { data, text } = await bench.call(grepSearch, {
      pattern,
      path: 'monster.txt',
      output_mode: 'content',
      '-C': 1,
    })
    const [before, match, after] = data.matches[0].lines
    expect(before).toEqual({ line: 1, text: 'first', match: false })
    expect(match).toMatchObject({ line: 2, match: true })
    expect(match.text).toMatch(expected)
    expect(after).toEqual({ line: 3, text: 'last', match: false })
    expect(text.length).toBeLessThan(1000)
  }
})

test('a context line of megabytes is shown from its start', async () => {
  writeFileSync(bench.at('monster.txt'), `needle\nhead ${'y'.repeat(3_000_000)}\n`)
  const { data } = await bench.call(grepSearch, {
    pattern: 'needle',
    path: 'monster.txt',
    output_mode: 'content',
    '-A': 1,
  })
  expect(data.matches[0].lines[1]).toMatchObject({ line: 2, text: expect.stringMatching(/^head y+…$/) })
})
