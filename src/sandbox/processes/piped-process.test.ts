import { expect, test } from 'vitest'
import { keepLastLines } from './piped-process.ts'

const endOf = (...pieces: string[]): string => {
  const lines = keepLastLines(10)
  for (const piece of pieces) lines.add(piece)
  return lines.text()
}

test('what is kept of a long output begins with a whole line', () => {
  expect(endOf('one\ntwo\n', 'three\nfour')).toBe('three\nfour')
  expect(endOf('one\ntwo\n', 'three\nfour\n')).toBe('four\n')
  expect(endOf('0123456789\n')).toBe('')
  expect(endOf('012345678\n')).toBe('012345678\n')
})

test('a line that is too long is left out, in whichever pieces it comes', () => {
  expect(endOf('token=abc', 'defghi', 'jkl')).toBe('')
  expect(endOf('token=abc', 'defghi', 'jkl\nnext\n')).toBe('next\n')
  expect(endOf('token=abcdefghi', '\nnext\nand after it\nb\n')).toBe('b\n')
  expect(endOf('a\n', 'token=abcdefghi', '\n', 'b\n')).toBe('b\n')
})
