import { expect, test } from 'vitest'
import { shortenPaths } from './shorten-paths.ts'

test.each([
  ['/work/a.txt', 'a.txt'],
  ['write_file "/work/a b.txt", /work/c', 'write_file "a b.txt", c'],
  ['/home/kim/work/a.txt', '/home/kim/work/a.txt'],
  ['작업/work/a', '작업/work/a'],
  ['x//work/a', 'x//work/a'],
  ['/work/home/work/a', 'home/work/a'],
  ['/work', '/work'],
  ['/workshop/a', '/workshop/a'],
])('of %j the folder is taken out where a path begins with it', (text, short) => {
  expect(shortenPaths(text, '/work')).toBe(short)
})
