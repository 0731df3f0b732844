import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createRedactor } from '../../core/redact.ts'
import { placesFor } from '../places.ts'
import { openAuditLog } from './log.ts'
import { restartAudit } from './restart.ts'
import { verifyAudit } from './verify.ts'

let base: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'kogu-restart-'))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

type Folders = Parameters<typeof verifyAudit>[0]

async function record(folders: Folders, action: string): Promise<void> {
  const log = openAuditLog({ ...folders, redact: createRedactor({}) })
  log.record({ type: 'note', action, details: {} })
  await log.close()
}

const foldersOf = (workspace: string): Folders => {
  const { audit, anchors } = placesFor(workspace, join(base, 'state'))
  return { directory: audit, anchorDirectory: anchors }
}

test('a log that was deleted can be ended, and the one that follows is intact', async () => {
  const folders = foldersOf(base)
  await record(folders, 'before')
  expect(await restartAudit(folders, new Date())).toBeUndefined()
  rmSync(folders.directory, { recursive: true })
  expect((await verifyAudit(folders)).ok).toBe(false)
  const restarted = await restartAudit(folders, new Date())
  expect(restarted?.report.problems[0]?.kind).toBe('missing-segment')
  // The proof that there was a log stays.
  expect(restarted?.kept.every(existsSync)).toBe(true)
  await record(folders, 'after')
  expect(await verifyAudit(folders)).toMatchObject({ ok: true })
})

test('a workspace that cannot be written for a while has two logs, and both are intact', async () => {
  const workspace = join(base, 'workspace')
  mkdirSync(workspace)
  const inWorkspace = foldersOf(workspace)
  await record(inWorkspace, 'writable')
  expect((await verifyAudit(inWorkspace)).ok).toBe(true)
  // What is not there cannot be written either.
  rmSync(workspace, { recursive: true })
  const elsewhere = foldersOf(workspace)
  expect(elsewhere.directory).not.toBe(inWorkspace.directory)
  await record(elsewhere, 'read-only')
  expect(await verifyAudit(elsewhere)).toMatchObject({ ok: true, events: 2 })
})
