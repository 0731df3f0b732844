import fc from 'fast-check'
import { expect, test } from 'vitest'
import { partsOf, withoutParts } from './diff-parts.ts'
import { summarizeDiff } from './unified-diff.ts'

const text = fc
  .array(fc.constantFrom('a', 'b', '', '-- c', '++ d', '@@ -1 +1 @@', '\r@@ -1 +1 @@'), { maxLength: 60 })
  .map(lines => lines.join('\n'))

test('without all parts it is the old text, without none the new one, whatever they are', () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      fc.pre(before !== after)
      const diff = summarizeDiff(before, after, 'x').diff ?? ''
      const all = new Set(partsOf(diff).keys())
      expect(withoutParts(after, diff, all)).toBe(before)
      expect(withoutParts(after, diff, new Set())).toBe(after)
    }),
  )
})

test('one part is left out, and the others stay where they are, also among lines that repeat', () => {
  const before = Array.from({ length: 60 }, (_, index) => (index % 20 === 0 ? `at ${index}` : 'same'))
  const after = before.toSpliced(0, 1, 'new', 'lines').toSpliced(21, 1, 'second').toSpliced(41, 1)
  const diff = summarizeDiff(before.join('\n'), after.join('\n'), 'x').diff ?? ''
  expect(partsOf(diff)).toHaveLength(3)
  expect(withoutParts(after.join('\n'), diff, new Set([1]))).toBe(after.with(21, 'at 20').join('\n'))
})

test('a diff of another text, or a part that is not there, gives nothing', () => {
  const diff = summarizeDiff('a\n', 'b\n', 'x').diff ?? ''
  expect(withoutParts('c\n', diff, new Set([0]))).toBeUndefined()
  expect(withoutParts('b\n', diff, new Set([1]))).toBeUndefined()
  expect(withoutParts('b\n', 'no diff', new Set([0]))).toBeUndefined()
})
