import { expect, test } from 'vitest'
import { parseDuration } from '../core/duration.ts'
import { duration, parseSize, size, writeAs } from './values.ts'

test.each([
  ['250ms', 250],
  ['30s', 30_000],
  ['1.5h', 5_400_000],
  ['1h30m', 5_400_000],
  ['7d', 604_800_000],
  ['2w', 1_209_600_000],
])('%s is %i milliseconds', (text, milliseconds) => {
  expect(parseDuration(text)).toBe(milliseconds)
})

test.each(['', '5', 'm', '-1s', '1 s', '5 minutes', '1e3s', '99999999999999999999d', '∞'])(
  '%j is no duration',
  text => {
    expect(parseDuration(text)).toBeUndefined()
  },
)

test.each([
  ['1GB', 1e9],
  ['1GiB', 1024 ** 3],
  ['512 KiB', 524_288],
  ['1.5mb', 1_500_000],
  ['10B', 10],
])('%s is %i bytes', (text, bytes) => {
  expect(parseSize(text)).toBe(bytes)
})

test.each(['', '1', 'GB', '-1GB', '1 iB', '1PB', '99999999999TB', '0x10B'])('%j is no size', text => {
  expect(parseSize(text)).toBeUndefined()
})

test.each([
  [duration(), '15m'],
  [duration().describe('with a text'), '1500ms'],
  [duration(), '2w'],
  [duration(), '0ms'],
  [size(), '4GiB'],
  [size(), '1GB'],
  [size(), '1500B'],
])('a value is written as a file would say it: %#', (schema, text) => {
  expect(writeAs(schema, schema.parse(text))).toBe(text)
})
