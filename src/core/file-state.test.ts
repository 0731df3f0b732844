import { mkdirSync, mkdtempSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fileState } from './file-state.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kogu-state-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

test('content of the same size is another state, also when its time was set back', async () => {
  mkdirSync(join(folder, 'inner'))
  const path = join(folder, 'inner/a.txt')
  // A time without fractions, which can be set back exactly.
  const time = new Date(1_700_000_000_000)
  writeFileSync(path, 'good')
  utimesSync(path, time, time)
  const before = await fileState(folder)
  expect(await fileState(folder)).toBe(before)
  writeFileSync(path, 'evil')
  utimesSync(path, time, time)
  expect(statSync(path).mtimeMs).toBe(time.getTime())
  expect(await fileState(folder)).not.toBe(before)
})

test('what lies in a folder is not what lies beside it', async () => {
  for (const name of ['one', 'two']) mkdirSync(join(folder, name, 'a'), { recursive: true })
  writeFileSync(join(folder, 'one/a/b'), 'x')
  const inside = await fileState(join(folder, 'one'))
  renameSync(join(folder, 'one/a/b'), join(folder, 'one/b'))
  expect(await fileState(join(folder, 'one'))).not.toBe(inside)
})

test('a link that may not be followed has a state like any other', async () => {
  expect(await fileState('/proc/1/ns/pid')).toMatch(/^\w{32}$/)
})
