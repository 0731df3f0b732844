import { appendFileSync, existsSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { JournalLine } from '../core/inner-calls.ts'
import { createSeal } from '../core/seal.ts'
import { openJournalsFolder, sweepJournals } from './journals-folder.ts'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'kogu-journals-'))
})
afterEach(() => rmSync(home, { recursive: true }))

const open = () => openJournalsFolder(join(home, 'journals'), createSeal(join(home, 'key')))
const line = (id: string): JournalLine => ({ id, digest: `of ${id}\n` })
const fileOf = (): string => join(home, 'journals', readdirSync(join(home, 'journals'))[0] ?? '')

test('what was written is read by another process, also after a line that a kill has cut off', () => {
  expect(open().read('call_1')).toBeUndefined()
  open().append('call_1', [line('a'), line('b')])
  appendFileSync(fileOf(), '\n{"id":"cut')
  open().append('call_1', [line('c')])
  expect(open().read('call_1')).toEqual([line('a'), line('b'), line('c')])
  open().end('call_1')
  expect(open().read('call_1')).toBeUndefined()
})

test('a line without the seal of this workspace counts as none', () => {
  open().append('call_1', [line('a')])
  const forged = createSeal(join(home, 'other')).add(JSON.stringify(line('b')))
  appendFileSync(fileOf(), `\n${forged}`)
  expect(open().read('call_1')).toEqual([line('a')])
})

test('it is held by one at a time, and what nobody has touched for long is swept away', async () => {
  const lock = await open().hold('call_1')
  expect(lock).toBeDefined()
  lock?.release()
  open().append('call_1', [line('a')])
  const now = Date.now()
  sweepJournals(join(home, 'journals'), now)
  expect(existsSync(fileOf())).toBe(true)
  utimesSync(fileOf(), 0, 0)
  sweepJournals(join(home, 'journals'), now)
  expect(open().read('call_1')).toBeUndefined()
  sweepJournals(join(home, 'nowhere'), now)
})
