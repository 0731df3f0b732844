import fc from 'fast-check'
import { expect, test } from 'vitest'
import { smallestEdit } from './smallest-edit.ts'

test('it makes the new text of the old one, and its place is the only one', () => {
  const text = fc
    .array(fc.constantFrom('a\n', 'b\n', '\n', 'c'), { minLength: 1, maxLength: 30 })
    .map(lines => lines.join(''))
  fc.assert(
    fc.property(text, text, (before, after) => {
      fc.pre(before !== after)
      const { old_string, new_string } = smallestEdit(before, after)
      expect(before.split(old_string)).toHaveLength(2)
      expect(before.replace(old_string, () => new_string)).toBe(after)
    }),
  )
})

test('a line in a long text is quoted with no more than it needs', () => {
  expect(smallestEdit('one\ntwo\nthree\n', 'one\n2\nthree\n')).toEqual({
    old_string: 'two\n',
    new_string: '2\n',
  })
  expect(smallestEdit('x\n\nx\n\ny\n', 'x\n\nz\n\ny\n')).toEqual({
    old_string: '\nx\n\n',
    new_string: '\nz\n\n',
  })
})

test('a long text of equal lines takes no longer than others', () => {
  const half = 'x\n'.repeat(500_000)
  const { old_string } = smallestEdit(`${half}${half}`, `${half}y\n${half}`)
  expect(old_string).toBe(`${half}${half}`)
})
