import { expect, test } from 'vitest'
import { restrictedProblem } from './restricted-command.ts'

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
  expect(restrictedProblem(line, ALLOWED)).toContain('forbidden shell metacharacter')
})

test('the first word has to be on the list, as a whole', () => {
  expect(restrictedProblem('ls -la', ALLOWED)).toBeUndefined()
  for (const line of ['lsof', '/bin/ls', './ls', 'rm x', '', ' ']) {
    expect(restrictedProblem(line, ALLOWED), line).toContain(
      'is not in the allowed command list. Allowed: ls, cat, find',
    )
  }
})
