import { ToolError } from '../../core/errors.ts'
import { type Observed, sameState } from '../files/entry.ts'
import { createObserver } from '../files/observer.ts'
import type { Change, ChangeRecord } from './undo-record.ts'

/**
 * After a failure in the middle: keeps of a record what did happen, by looking at the disk. `possible`: the others are
 * known not to have, so that what is there now is somebody else's.
 */
export async function settleRecord(
  record: ChangeRecord,
  possible: readonly Change[] = record.changes,
): Promise<void> {
  const candidates = new Set(possible)
  const done: Change[] = []
  const observer = createObserver()
  try {
    for (const change of record.changes) {
      if (candidates.has(change) && hasHappened(change, await observer.observe(change.path)))
        done.push(change)
      else record.forget(change)
    }
  } finally {
    observer.close()
  }
  if (done.length > 0) record.commit(done)
  else record.abort()
}

/** A conflict is somebody else's work at the path, whatever became of ours: undo has nothing to take back there. */
export function isConflict(error: unknown): boolean {
  return error instanceof ToolError && error.code === 'conflict'
}

/**
 * A path that is neither as before nor as after was changed, and then changed again by somebody: the change stays in
 * the record, and undoing it will report the conflict.
 */
export function hasHappened(change: Change, now: Observed | undefined): boolean {
  if (now === undefined) return change.after === undefined
  if (change.before === undefined) return true
  return now.entry !== change.entry || !sameState(now.state, change.before)
}
