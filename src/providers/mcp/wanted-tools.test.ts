import { expect, test } from 'vitest'
import { exactName } from '../../core/wildcard.ts'
import { compileNames } from './wanted-tools.ts'

test('a tool that is turned off by its name is off, and no other, whatever it is called', () => {
  const names = ['get', 'get*', 'get?', '{a,b}', '{1..999999999}', '[ab]', 'a\\b', 'a', 'ab', 'getx', 'Ünü']
  for (const name of names) expect(names.filter(compileNames([exactName(name)]))).toEqual([name])
})

test('a star is any signs and braces are choices, without regard to case', () => {
  const isOff = compileNames(['delete_*', '{a,b}?'])
  expect(['Delete_all/now', 'a1', 'B2'].every(isOff)).toBe(true)
  expect(['undelete_x', 'a', 'c1'].some(isOff)).toBe(false)
})
