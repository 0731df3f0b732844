import { expect, test } from 'vitest'
import { shorten } from './shorten.ts'

const LINES = Array.from({ length: 10 }, (_, index) => `line ${index}`)

test('a text of many characters or many lines keeps its head and its tail', () => {
  expect(shorten('short', 10, 10)).toEqual(['short'])
  expect(shorten('a'.repeat(50) + 'b'.repeat(50), 10, 10)).toEqual(['aaaaa', 'bbbbb'])
  expect(shorten(LINES.join('\n'), 1_000, 4)).toEqual(['line 0\nline 1', 'line 8\nline 9'])
  expect(shorten(LINES.join('\n'), 1_000, 10)).toEqual([LINES.join('\n')])
})

test('without a limit of lines only characters count', () => {
  expect(shorten(LINES.join('\n'), 14, Number.POSITIVE_INFINITY)).toEqual(['line 0\n', '\nline 9'])
})
