import { expect, test } from 'vitest'
import { shortenPaths } from './shorten-paths.ts'

test.each([
  ['/shop/a.txt', 'a.txt'],
  ['write_file "/shop/a b.txt", /shop/c', 'write_file "a b.txt", c'],
  ['/home/kim/shop/a.txt', '/home/kim/shop/a.txt'],
  ['작업/shop/a', '작업/shop/a'],
  ['x//shop/a', 'x//shop/a'],
  ['/shop/home/shop/a', 'home/shop/a'],
  ['/shop', '/shop'],
  ['/shopshop/a', '/shopshop/a'],
])('of %j the folder is taken out where a path begins with it', (text, short) => {
  expect(shortenPaths(text, '/shop')).toBe(short)
})
