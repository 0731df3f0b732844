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

test('of a diff with several parts, only some are taken back', () => {
  const before = Array.from({ length: 20 }, (_, index) => `line ${index}`)
  const after = before.with(2, 'two').with(15, 'fifteen')
  const diff = createTwoFilesPatch('x', 'x', before.join('\n'), after.join('\n'))
  expect(reverseDiff(after.join('\n'), diff, new Set([1]))).toBe(before.with(2, 'two').join('\n'))
  expect(reverseDiff(after.join('\n'), diff, new Set())).toBe(after.join('\n'))
})
