import { expect, test } from 'vitest'
import { escapePattern, withAnyLineBreak } from './line-break.ts'

test.each([
  [String.raw`foo\nbar`, String.raw`foo(?:\r?\n)bar`],
  ['foo\nbar', String.raw`foo(?:\r?\n)bar`],
  [String.raw`a\n+b`, String.raw`a(?:\r?\n)+b`],
  [String.raw`a\\nb`, String.raw`a\\nb`],
  [String.raw`a\r\nb`, String.raw`a\r(?:\r?\n)b`],
  [String.raw`[\n;]\n`, String.raw`[\n;](?:\r?\n)`],
  [String.raw`[]\n]\n`, String.raw`[]\n](?:\r?\n)`],
  [String.raw`[^]\n]\n`, String.raw`[^]\n](?:\r?\n)`],
  [String.raw`[a[\n]b]\n`, String.raw`[a[\n]b](?:\r?\n)`],
  ['(?x) a\n b', '(?x) a\n b'],
])('the line breaks of %j match both line ends', (pattern, expected) => {
  expect(withAnyLineBreak(pattern)).toBe(expected)
})

test('plain text becomes a pattern that matches only itself', () => {
  const text = 'a.b*c(d)[e]{f}|^$\\n+?-&~#'
  expect(new RegExp(`^${escapePattern(text).replaceAll(/\\([#&~-])/g, '$1')}$`).test(text)).toBe(true)
})
