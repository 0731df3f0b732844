import fc from 'fast-check'
import { expect, test } from 'vitest'
import { keepLineEnds, withUsualLineEnds } from './keep-line-ends.ts'

const lineEnds = fc.array(fc.constantFrom('\n', '\r\n'), { minLength: 1, maxLength: 12 })
/** A file of numbered lines, so that it is certain which line of a new content is which. */
const file = lineEnds.map(ends => ends.map((end, index) => ({ text: `line ${index}`, end })))
const joined = (lines: readonly { text: string; end: string }[]): string =>
  lines.map(({ text, end }) => text + end).join('')
const withLineFeeds = (text: string): string => text.replaceAll('\r\n', '\n')

test('unchanged lines keep their line end, whatever happens between them', () => {
  fc.assert(
    fc.property(
      file,
      fc.nat(12),
      fc.nat(12),
      fc.array(fc.constant('new\n'), { maxLength: 3 }),
      (lines, from, length, put) => {
        const head = joined(lines.slice(0, from))
        const tail = joined(lines.slice(from + length))
        const wanted = withLineFeeds(head) + put.join('') + withLineFeeds(tail)
        const kept = keepLineEnds(wanted, joined(lines))
        expect(withLineFeeds(kept)).toBe(wanted)
        expect(kept.startsWith(head) && kept.endsWith(tail)).toBe(true)
      },
    ),
  )
})

test('new lines get the most frequent line end', () => {
  expect(keepLineEnds('a\nX\nY\nc\n', 'a\r\nb\nb\r\nc\r\n')).toBe('a\r\nX\r\nY\r\nc\r\n')
  expect(keepLineEnds('a\nX\nc\n', 'a\r\nb\nb\nc\r\n')).toBe('a\r\nX\nc\r\n')
  expect(withUsualLineEnds('a\nb\n', 'a\nb\r\nc\r\n')).toBe('a\r\nb\r\n')
})

test('a file with carriage returns alone stays one', () => {
  expect(keepLineEnds('a\nX\n', 'a\rb\r')).toBe('a\rX\r')
  expect(withUsualLineEnds('c\n', 'a\rb\r')).toBe('c\r')
})

test('content with other line ends than line feeds is taken as it is', () => {
  expect(keepLineEnds('a\r\nb\n', 'a\nb\r\n')).toBe('a\r\nb\n')
  expect(keepLineEnds('a\r\nb\n', 'a\rb\r')).toBe('a\r\nb\n')
  // A return within a line is no line end.
  expect(keepLineEnds('x\r50 %\ny\n', 'x\r10 %\r\ny\r\n')).toBe('x\r50 %\r\ny\r\n')
})

test('a missing final line end stays missing, and is added when asked for', () => {
  expect(keepLineEnds('a\nb', 'a\r\nc\nb')).toBe('a\r\nb')
  expect(keepLineEnds('a\nb\n', 'a\r\nx\r\nc\nb')).toBe('a\r\nb\r\n')
})
