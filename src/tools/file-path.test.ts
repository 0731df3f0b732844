import { existsSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { editFile } from './edit-file.ts'
import { readFile } from './read-file.ts'
import { createToolBench, type ToolBench } from './testing.ts'
import { writeFile } from './write-file.ts'

let bench: ToolBench
beforeAll(() => {
  bench = createToolBench()
})
afterAll(() => bench.close())

test('a path that begins with ~ is refused and says where the home folder is, unless a folder is called so', async () => {
  const path = '~/x.txt'
  const refused = {
    code: 'invalid_input',
    message: "'~' is not expanded, and there is no folder of that name: ~/x.txt",
    hint: `For your home folder pass ${homedir()}/x.txt; for a new folder that is called '~' pass ./~/x.txt.`,
  }
  await expect(bench.call(writeFile, { path, content: 'x' })).rejects.toMatchObject(refused)
  await expect(bench.call(readFile, { path })).rejects.toMatchObject(refused)
  await expect(bench.call(editFile, { path, old_string: 'a', new_string: 'b' })).rejects.toMatchObject(
    refused,
  )
  await expect(bench.call(readFile, { path: '~' })).rejects.toMatchObject({ code: 'invalid_input' })
  expect(existsSync(bench.at('~'))).toBe(false)
  await bench.call(writeFile, { path: '~backup', content: 'x' })
  mkdirSync(bench.at('~'))
  await bench.call(writeFile, { path, content: 'x' })
  expect(existsSync(bench.at('~/x.txt'))).toBe(true)
})

test('a name that no file system takes is refused with its length', async () => {
  const refused = {
    code: 'invalid_input',
    message: 'A name in the path is too long: 300 bytes, at most 255.',
  }
  await expect(bench.call(readFile, { path: `a/${'n'.repeat(300)}` })).rejects.toMatchObject(refused)
  await expect(bench.call(writeFile, { path: '語'.repeat(100), content: '' })).rejects.toMatchObject(refused)
  await bench.call(writeFile, { path: '語'.repeat(80), content: '' })
})
