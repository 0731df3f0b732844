import { expect, test } from 'vitest'
import { type AuditedCall, callersOf, daysOf } from './tool-use.ts'

const call = (given: Partial<AuditedCall>): AuditedCall => ({
  ...{ call: 'c', at: '2026-11-18T10:00:00Z', agent: null, caller: null, ok: true, error: null, input: null },
  ...given,
})

test('callers are agents, or the door where there is none, the most frequent first', () => {
  const calls = [
    call({ caller: 'mcp', ok: false }),
    call({ agent: 'writer', caller: 'http' }),
    call({ agent: 'writer', at: '2026-11-17T10:00:00Z' }),
    call({}),
  ]
  expect(callersOf(calls)).toMatchObject([
    { who: 'writer', calls: 2, failed: 0, last: '2026-11-18T10:00:00Z' },
    { who: 'mcp', calls: 1, failed: 1 },
    { who: '–', calls: 1 },
  ])
})

test('runs are counted on their day; a time that is none stops nothing', () => {
  const runs = [
    { at: new Date(2026, 10, 18, 1).toISOString(), ok: true },
    { at: new Date(2026, 10, 17, 23, 59).toISOString(), ok: false },
    { at: 'soon', ok: true },
    { at: '1999-01-01T00:00:00Z', ok: true },
  ]
  const days = daysOf(runs, new Date(2026, 10, 18, 12).getTime())
  expect(days).toHaveLength(30)
  expect(days.slice(-2)).toEqual([
    { day: '2026-11-17', ok: 0, failed: 1 },
    { day: '2026-11-18', ok: 1, failed: 0 },
  ])
  expect(days.reduce((sum, { ok }) => sum + ok, 0)).toBe(1)
})
