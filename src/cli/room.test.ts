import { expect, test } from 'vitest'
import { createRoom, type Entry, showEntries } from './room.ts'

const entries = (count: number): Entry[] =>
  Array.from({ length: count }, (_, n) => ({ line: `${n}`, full: () => `${n}\ndiff` }))

test('the first are shown in full, the next in a line each, and the rest is counted', () => {
  expect(showEntries(entries(7), createRoom(4, 2))).toEqual([
    '0\ndiff',
    '1\ndiff',
    '2',
    '3',
    '  and 3 more (all of it: --json)',
  ])
})

test('what begins within the room is cut where it ends, and says how much more there is', () => {
  expect(showEntries([{ line: 'a', full: () => 'a\n1\n2\n3' }, { line: 'b' }], createRoom(2, 1))).toEqual([
    'a\n1\n    … 2 more lines',
    'b',
  ])
})

test('what is shown together shares its room', () => {
  const room = createRoom(2, 1)
  showEntries(entries(1), room)
  expect(showEntries(entries(3), room)).toEqual(['0', '  and 2 more (all of it: --json)'])
})
