import { lstatSync } from 'node:fs'
import { expect, test } from 'vitest'
import { toToolError } from './errors.ts'

test('what is thrown and is no error is said in words', () => {
  expect(toToolError({ message: 'no ink' }).message).toBe('no ink')
  for (const thrown of [{}, { code: 1 }, [{}], Object.create(null), new Error('')])
    expect(toToolError(thrown).message).toBe('The tool failed without an explanation.')
  expect(['no ink', 5, null, undefined].map(thrown => toToolError(thrown).message)).toEqual([
    ...['no ink', '5', 'null', 'undefined'],
  ])
})

test('a path that is too long is said to be so, and not repeated', () => {
  const thrown = (path: string): unknown => {
    try {
      return lstatSync(path)
    } catch (error) {
      return error
    }
  }
  for (const path of [`/${'x'.repeat(300)}`, `/${'z/'.repeat(3000)}`])
    expect(toToolError(thrown(path))).toMatchObject({
      code: 'invalid_input',
      message: 'The path is too long.',
      hint: 'A name has at most 255 bytes, a path 4095.',
    })
})
