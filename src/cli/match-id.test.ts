import { expect, test } from 'vitest'
import { matchId } from './match-id.ts'

const IDS = ['call_4f9c', 'call_4f00', 'call_9', 'call_99']

test.each([
  ['call_4f9c', 'call_4f9c'],
  ['call_4f9', 'call_4f9c'],
  ['call_4f9…', 'call_4f9c'],
  // A whole id is not the start of another one.
  ['call_9', 'call_9'],
  ['call_x', 'call_x'],
  ['', ''],
])('%j means %j', (given, id) => {
  expect(matchId(given, 'call', IDS)).toBe(id)
})

test('several ids that begin so are listed', () => {
  expect(() => matchId('call_4', 'call', IDS)).toThrow(
    "'call_4' is the start of 2 call ids:\n  call_4f9c\n  call_4f00",
  )
})

test('of very many, the first ten are listed', () => {
  const many = Array.from({ length: 12 }, (_, index) => `run_${index}`)
  expect(() => matchId('run_', 'run', many)).toThrow(/run_9\n {2}and 2 more$/)
})
