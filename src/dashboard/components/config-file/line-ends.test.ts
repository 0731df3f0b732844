import { expect, test } from 'vitest'
import { toPlainLines, withLineEnds } from './line-ends.ts'

test('a file keeps the ends of its lines when its text was edited in the page', () => {
  const file = 'a = 1\r\nb = 2\r\n'
  expect(withLineEnds(toPlainLines(file), file)).toBe(file)
  expect(withLineEnds('a = 1\nc = 3\n', file)).toBe('a = 1\r\nc = 3\r\n')
  expect(withLineEnds('a = 1\n', 'b = 1\n')).toBe('a = 1\n')
})
