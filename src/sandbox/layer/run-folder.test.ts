import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findAbandonedRuns, openRunFolder, removeRunFolder } from './run-folder.ts'

const id = (digit: string): string => `run_${digit.repeat(8)}-0000-4000-8000-000000000000`

test('a run without a name is abandoned when the process that opened its folder is gone', () => {
  const temporary = join(mkdtempSync(join(tmpdir(), 'kogu-runs-')), 'tmp')
  expect(findAbandonedRuns(temporary)).toEqual([])
  openRunFolder(temporary, id('a'))
  openRunFolder(temporary, 'nightly')
  mkdirSync(join(temporary, id('b')))
  // A start time that no process of this pid has.
  writeFileSync(join(temporary, `${id('b')}.owner`), `${process.pid} 1 boot/1 x`)
  mkdirSync(join(temporary, id('c')))
  expect(findAbandonedRuns(temporary).sort()).toEqual([id('b'), id('c')])
})

test('removing the folder of a run leaves nothing of it', () => {
  const temporary = mkdtempSync(join(tmpdir(), 'kogu-runs-'))
  writeFileSync(join(openRunFolder(temporary, id('a')), 'file'), 'x')
  removeRunFolder(temporary, id('a'))
  expect(readdirSync(temporary)).toEqual([])
  expect(existsSync(temporary)).toBe(true)
})
