import { createTwoFilesPatch } from 'diff'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { reverseDiff } from './reverse-diff.ts'

test('a diff taken back gives the text as it was', () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', '', '-- c', '++ d'), { maxLength: 30 })
    .map(lines => `${lines.join('\n')}\n`)
  fc.assert(
    fc.property(text, text, (before, after) => {
      fc.pre(before !== after)
      expect(reverseDiff(after, createTwoFilesPatch('x', 'x', before, after))).toBe(before)
    }),
  )
})

test('a diff of another text is not taken back', () => {
  expect(reverseDiff('c\n', createTwoFilesPatch('x', 'x', 'a\n', 'b\n'))).toBeUndefined()
  expect(reverseDiff('c\n', 'no diff')).toBeUndefined()
})
