import { styleText } from 'node:util'
import { expect, test } from 'vitest'
import { createOutput, displayWidth, table } from './output.ts'

test.each([
  ['plain', 5],
  ['', 0],
  ['naïve', 5],
  ['e\u0301', 1],
  ['日本語', 6],
  ['한국', 4],
  ['ｆｕｌｌ', 8],
  ['👍', 2],
  ['👩‍👩‍👧', 2],
  ['🇪🇺', 2],
  ['❤️', 2],
  ['𠀀', 2],
  ['a\u200Bb', 2],
  [styleText('red', 'red', { validateStream: false }), 3],
])('%j takes %i columns', (text, width) => {
  expect(displayWidth(text)).toBe(width)
})

test('columns stand under each other whatever is in them', () => {
  const rows = [
    ['名前', 'x', 'end'],
    [styleText('green', 'ok', { validateStream: false }), 'yy', 'end'],
    ['👍', 'z', 'end'],
  ]
  const starts = table(rows)
    .split('\n')
    .map(line => displayWidth(line.slice(0, line.indexOf('end'))))
  expect(starts).toEqual([10, 10, 10])
})

test.each(['never', 'always'] as const)('a table has its columns when one cell is not ASCII (%s)', color => {
  const written: string[] = []
  // Only what output uses of a terminal.
  const stream = { write: (text: string) => written.push(text), isTTY: true } as unknown as NodeJS.WriteStream
  const output = createOutput({
    json: false,
    quiet: false,
    color,
    wantsColor: true,
    stdout: stream,
    stderr: stream,
  })
  const rows = table([
    ['reverse', '', 'ツール'],
    ['read', 'x'.repeat(60), 'Read'],
  ])
  output.data(rows)
  expect(written.join('')).toBe(`${rows}\n`)
})
