import { expect, test } from 'vitest'
import { stack } from './stack.ts'

test('pieces of one day and group are one part, and a day without any is an empty bar', () => {
  const pieces = [
    { bar: 'Mon', key: 'a', value: 1 },
    { bar: 'Mon', key: 'a', value: 2 },
    { bar: 'Tue', key: 'b', value: 4 },
    { bar: 'Sun', key: 'c', value: 1 },
  ]
  expect(stack(['Mon', 'Tue', 'Wed'], pieces, 'others').bars).toEqual([
    { label: 'Mon', parts: [{ key: 'a', value: 3 }] },
    { label: 'Tue', parts: [{ key: 'b', value: 4 }] },
    { label: 'Wed', parts: [] },
  ])
})

test('of many groups the smallest become one, and nothing is lost', () => {
  const pieces = Array.from({ length: 30 }, (_, index) => ({
    bar: 'Mon',
    key: `agent ${index}`,
    value: index,
  }))
  const { bars, keys } = stack(['Mon'], pieces, 'others')
  expect(keys).toHaveLength(6)
  expect(keys[0]).toBe('agent 29')
  expect(keys.at(-1)).toBe('others')
  expect(bars[0]?.parts.reduce((sum, { value }) => sum + value, 0)).toBe((29 * 30) / 2)
})

test('a group that is called like the rest is counted once, with the rest', () => {
  const pieces = [...'abcdefghij', 'others'].map(key => ({ bar: 'Mon', key, value: 1 }))
  const { bars, keys } = stack(['Mon'], [...pieces, { bar: 'Mon', key: 'others', value: 9 }], 'others')
  expect(new Set(keys).size).toBe(keys.length)
  expect(bars[0]?.parts.reduce((sum, { value }) => sum + value, 0)).toBe(20)
})
