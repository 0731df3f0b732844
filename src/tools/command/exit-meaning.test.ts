import { expect, test } from 'vitest'
import { exitMeaning } from './exit-meaning.ts'

test.each([
  ['grep x a', 1, 'no line matched'],
  ['ls | grep x', 1, 'no line matched'],
  ['/usr/bin/diff a b', 1, 'the files differ'],
  ['git diff --exit-code', 1, 'the files differ'],
  ['grep x a', 2, null],
  ['nope', 127, 'the program was not found'],
  ['x', 137, 'killed'],
  ['ls', 0, null],
  ['ls', null, null],
])('%s with %s means %s', (line, code, meaning) => {
  expect(exitMeaning(line, code)).toBe(meaning)
})
