import { dirname, join } from 'node:path'
import { isSystemError } from '../../core/errors.ts'
import type { Observer } from '../files/observer.ts'
import type { PlannedDisk } from './planned-disk.ts'
import type { CallChanges, PathState, UndoConflict, UndoStep } from './undo-plan.ts'

interface Kept {
  /** Folders that stay where they are. */
  readonly staying: Set<string>
  /** Told of a folder that stays although something else should take its place. */
  readonly inUse: (path: string) => void
}

/** What has to be done so that the disk becomes as planned: parents first. */
export function planSteps(disk: PlannedDisk, observer: Observer, { staying, inUse }: Kept): UndoStep[] {
  const steps: UndoStep[] = []
  /** Folders into which the plan puts something. */
  const filled = new Set<string>()
  const goes = (path: string): boolean => disk.kept.has(path) && disk.kept.get(path) === undefined
  // The deepest first, so that a folder knows which folders in it will go.
  for (const path of [...disk.kept.keys()].sort().reverse()) {
    const then = disk.kept.get(path)
    const now = disk.disk.get(path)
    if (then !== undefined) filled.add(dirname(path))
    if (now === 'other' || isSame(now, then)) continue
    if (now?.entry === 'directory' && then?.entry !== 'directory') {
      const left = namesIn(observer, path)?.map(name => join(path, name))
      if (filled.has(path) || left === undefined || left.some(each => !goes(each) || staying.has(each))) {
        if (then !== undefined) inUse(path)
        staying.add(path)
        continue
      }
    }
    steps.push({ path, now, then })
  }
  return steps.reverse()
}

/** Undefined for a folder that is closed to this user: what is in it stays. */
function namesIn(observer: Observer, path: string): string[] | undefined {
  try {
    return observer.names(path)
  } catch (error) {
    if (isSystemError(error) && error.code === 'EACCES') return undefined
    throw error
  }
}

function isSame(a: PathState | undefined, b: PathState | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  return a.entry === b.entry && a.state.mode === b.state.mode && a.state.sha256 === b.state.sha256
}

/** Somebody put something into the folder that would have to make place for what was there before. */
export function inUse(path: string, calls: readonly CallChanges[]): UndoConflict {
  const touches = ({ records }: CallChanges): boolean =>
    records.some(({ changes }) => changes.some(change => change.path === path))
  return {
    path,
    call: calls.findLast(touches)?.call ?? '',
    reason: 'there is a folder in its place now, and something else is in it',
  }
}
