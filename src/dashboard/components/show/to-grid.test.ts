import { expect, test } from 'vitest'
import { toGrid } from './to-grid.ts'

test('a list of objects is a grid, as data, inside an object and as JSON', () => {
  const grid = {
    columns: ['item', 'sold'],
    rows: [
      ['tea', '3'],
      ['cup', ''],
    ],
    total: 2,
  }
  const list = [{ item: 'tea', sold: 3 }, { item: 'cup' }]
  expect(toGrid('', list)).toEqual(grid)
  expect(toGrid('', { items: list })).toEqual(grid)
  expect(toGrid(JSON.stringify(list), undefined)).toEqual(grid)
})

test('lines of values are a grid, with quotes, line numbers and borders taken off', () => {
  const rows = [['green, fresh', '31']]
  expect(toGrid('item,sold\n"green, fresh",31\n', undefined)).toEqual({
    columns: ['item', 'sold'],
    rows,
    total: 1,
  })
  expect(toGrid('     1\titem;sold\n     2\tgreen;31', undefined)?.rows).toEqual([['green', '31']])
  expect(toGrid('| item | sold |\n| --- | ---: |\n| green | 31 |', undefined)?.rows).toEqual([
    ['green', '31'],
  ])
})

test('what has no rows is no grid', () => {
  for (const text of ['', 'just words', 'a,b', '{"a":1}', '[1,2]']) expect(toGrid(text, null)).toBeUndefined()
})

test('of very many rows the first ones are shown, and all are counted', () => {
  const lines = Array.from({ length: 100_000 }, (_, index) => `=HYPERLINK("x"),${index}`)
  const grid = toGrid(['item,sold', ...lines].join('\n'), undefined)
  expect([grid?.rows.length, grid?.total]).toEqual([500, 100_000])
})

test('columns with the same name are told apart', () => {
  expect(toGrid('name,v,v\na,1,2', null)).toMatchObject({
    columns: ['name', 'v', 'v (2)'],
    rows: [['a', '1', '2']],
  })
})

test('a line break inside quotes stays in its cell, and a quote that never closes swallows nothing', () => {
  const text = 'item,note\r\ntea,"green\r\n\nsays ""hi"""\r\ncup,blue\r\n'
  expect(toGrid(text, undefined)?.rows).toEqual([
    ['tea', 'green\n\nsays "hi"'],
    ['cup', 'blue'],
  ])
  expect(toGrid('item,size\nscreen,24"\ntv,40"\npot,"2', undefined)?.total).toBe(3)
})

test('a first column of numbers, a quote in a cell and another mark in the head stay what they are', () => {
  expect(toGrid('id\titem\n1\ttea\n2\tcup', undefined)?.rows).toEqual([
    ['1', 'tea'],
    ['2', 'cup'],
  ])
  expect(toGrid('item,size,colour\nscreen,24",blue', undefined)?.rows).toEqual([['screen', '24"', 'blue']])
  expect(toGrid('item;price, EUR;sold\ntea;1;2', undefined)?.columns).toEqual(['item', 'price, EUR', 'sold'])
  expect(new Set(toGrid('v,v,v (2),v (2)\n1,2,3,4', undefined)?.columns).size).toBe(4)
  expect(toGrid('', [{ constructor: 'x' }, { item: 'y' }])?.rows[1]).toEqual(['', 'y'])
})
