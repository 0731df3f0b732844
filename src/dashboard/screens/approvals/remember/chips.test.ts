import { expect, test } from 'vitest'
import { AS_OFFERED, toPattern, turn } from './chips.ts'

const line = [
  { text: 'npm', lock: 'says-what' },
  { text: 'test', lock: 'says-what' },
  { text: '--silent', lock: 'option' },
  { text: 'a', lock: null },
  { text: 'b', lock: null },
]

test('what is left as it was offered is not sent', () => {
  expect(toPattern(line, AS_OFFERED)).toBeUndefined()
})

test('a click makes a word exact, then any word, then leaves it out; options are not among the words', () => {
  const exact = turn(AS_OFFERED, 3)
  expect(toPattern(line, exact)).toEqual({ words: ['npm', 'test', 'a'], more: true })
  const any = turn(exact, 3)
  expect(toPattern(line, any)).toEqual({ words: ['npm', 'test', null], more: true })
  expect(toPattern(line, turn(any, 3))).toBeUndefined()
  expect(toPattern(line, { ...turn(any, 4), more: false })).toEqual({
    words: ['npm', 'test', null, 'b'],
    more: false,
  })
})
