import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readText, removeText, replaceText } from './saved-text.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'kogu-text-'))
})
afterEach(() => rmSync(root, { recursive: true }))

test('a text is replaced only by whoever knows what is there', () => {
  const path = join(root, '.kogu/panels/a.toml')
  const first = replaceText(path, 'one', null)
  expect(() => replaceText(path, 'two', null)).toThrow('has changed')
  const second = replaceText(path, 'two', first.sha256)
  expect(readText(path)).toEqual(second)
  expect(() => removeText(path, first.sha256)).toThrow('has changed')
  removeText(path, second.sha256)
  expect(readText(path)).toBeUndefined()
})

test('nothing is read or written through links that a repository brought', () => {
  const outside = join(root, 'outside')
  mkdirSync(outside)
  writeFileSync(join(outside, 'secret'), 'secret')
  mkdirSync(join(root, '.kogu'))
  symlinkSync(outside, join(root, '.kogu/panels'))
  expect(() => replaceText(join(root, '.kogu/panels/a.toml'), 'x', null)).toThrow('through a link')
  expect(existsSync(join(outside, 'a.toml'))).toBe(false)
  mkdirSync(join(root, '.kogu/pipelines'))
  const link = join(root, '.kogu/pipelines/a.toml')
  symlinkSync(join(outside, 'secret'), link)
  expect(() => readText(link)).toThrow()
  expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret')
})
