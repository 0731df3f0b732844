import { expect, test } from 'vitest'
import { toSpan } from './span.ts'

const NOW = Date.parse('2026-11-16T15:00:00Z')

test('a range is whole days up to now', () => {
  expect(toSpan('today', '', '', NOW)).toEqual({ since: '2026-11-16T00:00:00.000Z', days: 1 })
  expect(toSpan('days7', '', '', NOW)).toEqual({ since: '2026-11-10T00:00:00.000Z', days: 7 })
})

test("a range of one's own has both of its days; nonsense is the last week", () => {
  expect(toSpan('custom', '2026-11-01', '2026-11-03', NOW)).toEqual({
    since: '2026-11-01T00:00:00.000Z',
    until: '2026-11-03T23:59:59.999Z',
    days: 3,
  })
  expect(toSpan('custom', '2026-11-09', '2026-11-03', NOW).days).toBe(1)
  expect(toSpan('custom', 'x', '2026-99-99', NOW)).toMatchObject({
    since: '2026-11-10T00:00:00.000Z',
    days: 7,
  })
  expect(toSpan('custom', '1970-01-01', '', NOW).days).toBe(366)
})
