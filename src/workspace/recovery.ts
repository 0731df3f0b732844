import { basename, dirname } from 'node:path'
import { isSystemError } from '../core/errors.ts'
import { type Observed, observe, sameState } from './entry.ts'
import { pinDirectory } from './pinned-directory.ts'
import type { Change, ChangeRecord } from './undo-record.ts'

/** After a failure in the middle: keeps of a record what did happen, by looking at the disk. */
export async function settleRecord(record: ChangeRecord): Promise<void> {
  const done: Change[] = []
  for (const change of record.changes) {
    if (await hasHappened(change)) done.push(change)
  }
  if (done.length === 0) {
    record.abort()
    record.changes.length = 0
  } else record.commit(done)
}

/**
 * A change that is neither as before nor as after was made, and then changed again by somebody: it stays in the record,
 * and undoing it will report the conflict.
 */
async function hasHappened(change: Change): Promise<boolean> {
  const now = await observePath(change.path)
  if (now === undefined) return change.after === undefined
  if (change.before === undefined) return true
  return now.entry === 'other' || !sameState(now.state, change.before)
}

/** What is at a real path now, links not followed in any part of it. */
export async function observePath(real: string): Promise<Observed | undefined> {
  try {
    const folder = pinDirectory(dirname(real))
    try {
      return await observe(folder, basename(real))
    } finally {
      folder.close()
    }
  } catch (error) {
    if (isSystemError(error) && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return undefined
    throw error
  }
}
