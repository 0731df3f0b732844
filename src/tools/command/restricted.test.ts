import { expect, test } from 'vitest'
import { exitMeaning } from './exit-meaning.ts'
import { refuseUnrestricted } from './restricted.ts'

const ALLOWED = ['ls', 'cat', 'find']

test.each([
  'ls && id',
  'ls & id',
  'ls || id',
  'ls; id',
  'ls | id',
  'ls $(id)',
  'ls `id`',
  'ls $X',
  'ls > a',
  'ls < a',
  'ls\nid',
  'ls\rid',
])('%j is not one simple command', line => {
  expect(() => refuseUnrestricted(line, ALLOWED)).toThrow('forbidden shell metacharacter')
})

test('the first word has to be on the list, as a whole', () => {
  expect(() => refuseUnrestricted('ls -la', ALLOWED)).not.toThrow()
  for (const line of ['lsof', '/bin/ls', './ls', 'rm x', '', ' ']) {
    expect(() => refuseUnrestricted(line, ALLOWED), line).toThrow(
      'is not in the allowed command list. Allowed: ls, cat, find',
    )
  }
})

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
