import { expect, test } from 'vitest'
import { toSpan } from './span.ts'

/** Late in the evening, wherever the test runs. */
const NOW = new Date(2026, 10, 16, 23, 30).getTime()

test('a range is whole days up to now', () => {
  expect(toSpan('today', '', '', NOW)).toEqual({ since: '2026-11-16', days: 1 })
  expect(toSpan('days7', '', '', NOW)).toEqual({ since: '2026-11-10', days: 7 })
})

test("a range of one's own has both of its days; nonsense is the last week", () => {
  expect(toSpan('custom', '2026-11-01', '2026-11-03', NOW)).toEqual({
    since: '2026-11-01',
    until: '2026-11-03',
    days: 3,
  })
  expect(toSpan('custom', '2026-11-09', '2026-11-03', NOW).days).toBe(1)
  expect(toSpan('custom', 'x', '2026-99-99', NOW)).toMatchObject({
    since: '2026-11-10',
    days: 7,
  })
  expect(toSpan('custom', '1970-01-01', '', NOW)).toEqual({
    ...{ since: '2025-11-16', until: '2026-11-16', days: 366 },
  })
  expect(toSpan('custom', '2026-02-31', '2026-03-05', NOW)).not.toMatchObject({ since: '2026-02-31' })
})
