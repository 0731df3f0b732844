import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { noApprover } from '../core/approval.ts'
import { fullAuthority } from '../core/authority.ts'
import { createRun } from '../core/run.ts'
import { loadRun, saveRun } from './runs.ts'

const options = {
  authority: fullAuthority('/w', 'ask'),
  approver: noApprover('this is a test'),
  clock: { now: () => 0, elapsed: () => 0 },
}
let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kogu-runs-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

test('a run comes back with its receipts, partial views, labels, folder and variables', async () => {
  const run = createRun('my-run.1', { ...options, isNamed: true })
  run.receipts.set('/w/a.txt', 'hash')
  run.partialViews.set('/w/b.txt', { sha256: 'hash', lines: [[0, 5]] })
  run.labels.push({ origin: 'web', trusted: false })
  run.variables.set('EDITOR', 'vi')
  run.cwd = '/w/sub'
  await saveRun(directory, run)
  expect(await loadRun(directory, 'my-run.1', options)).toEqual(run)
  expect(readdirSync(directory)).toEqual(['my-run.1.json'])
})

test('an id that was never used is a new run', async () => {
  expect(await loadRun(directory, 'new', options)).toEqual(createRun('new', { ...options, isNamed: true }))
})

test.each(['', '.hidden', '../up', 'a/b', 'a\0b', 'x'.repeat(65), 'ä'])('the id %j is refused', async id => {
  await expect(loadRun(directory, id, options)).rejects.toMatchObject({ code: 'invalid_input' })
  await expect(saveRun(directory, createRun(id, options))).rejects.toMatchObject({ code: 'invalid_input' })
  expect(readdirSync(directory)).toEqual([])
})

test('a damaged file is reported, not taken for an empty run', async () => {
  writeFileSync(join(directory, 'x.json'), '{"format":1,"receipts":{}}')
  await expect(loadRun(directory, 'x', options)).rejects.toThrow('cannot be read')
})
