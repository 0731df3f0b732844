import { expect, test } from 'vitest'
import { createFormat } from './format.ts'

test('what is no number and no time is shown as a dash, and stops no page', () => {
  const format = createFormat('en')
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    expect(format.number(value)).toBe('–')
    expect(format.duration(value)).toBe('–')
    expect(format.percent(value)).toBe('–')
    expect(format.bytes(value)).toBe('–')
    expect(format.ago(value)).toBe('–')
    expect(format.money(value, 'unknown')).toBe('unknown')
  }
  expect(format.dateTime('yesterday, I think')).toBe('–')
  expect([format.number(1e308), format.duration(1e308), format.money(-1e308, '')]).toEqual([
    ...['1.0e+308', '1.0e+308', '$-1.0e+308'],
  ])
})
