import { dirname } from 'node:path'
import type { Observer } from '../files/observer.ts'
import type { ContentFinder } from './undo-find.ts'
import type { PathState } from './undo-plan.ts'

/** How the disk would look. Entries of the call at hand lie on top until they are kept. */
export interface PlannedDisk {
  look(path: string): Promise<PathState | 'other' | undefined>
  put(path: string, state: PathState | undefined): void
  /** A folder that a call had made goes, as far as nothing else is in it. */
  letGo(path: string, state: PathState): void
  keep(): void
  discard(): void
  /** Folders that were to go, and into which the plan puts something, stay or come back. */
  keepFilledFolders(): void
  /** As it is on the disk, after all. */
  leave(path: string): void
  /** What this call's changes left at paths that are empty now: a moved file is taken from where it is before it is put where it was. */
  readonly moved: Map<string, PathState>
  readonly find: ContentFinder
  readonly kept: ReadonlyMap<string, PathState | undefined>
  readonly disk: ReadonlyMap<string, PathState | 'other' | undefined>
}

export function createPlannedDisk(observer: Observer, find: ContentFinder): PlannedDisk {
  const disk = new Map<string, PathState | 'other' | undefined>()
  const kept = new Map<string, PathState | undefined>()
  const top = new Map<string, PathState | undefined>()
  const moved = new Map<string, PathState>()
  /** What folders were when the plan let them go. */
  const gone = new Map<string, PathState>()
  const look: PlannedDisk['look'] = async path =>
    top.has(path) ? top.get(path) : kept.has(path) ? kept.get(path) : now(path)
  const now = async (path: string): Promise<PathState | 'other' | undefined> => {
    if (disk.has(path)) return disk.get(path)
    const folder = dirname(path)
    const isNowhere = disk.has(folder) && disk.get(folder) === undefined
    const found = isNowhere ? undefined : onDisk(path, await observer.observe(path))
    disk.set(path, found)
    return found
  }
  return {
    disk,
    kept,
    moved,
    find,
    look,
    put: (path, state) => top.set(path, state),
    letGo(path, state) {
      top.set(path, undefined)
      gone.set(path, state)
    },
    keepFilledFolders() {
      for (const [path, state] of [...kept]) {
        if (state === undefined) continue
        for (let folder = dirname(path); kept.has(folder); folder = dirname(folder)) {
          const before = gone.get(folder)
          if (kept.get(folder) !== undefined || before === undefined) break
          kept.set(folder, before)
        }
      }
    },
    keep() {
      for (const [path, state] of top) kept.set(path, state)
      top.clear()
      moved.clear()
    },
    discard() {
      top.clear()
      moved.clear()
    },
    leave: path => kept.delete(path),
  }
}

function onDisk(
  path: string,
  found: Awaited<ReturnType<Observer['observe']>>,
): PathState | 'other' | undefined {
  if (found === undefined) return undefined
  if (found.entry === 'other') return 'other'
  return found.entry === 'file' ? { ...found, content: { from: 'disk', path } } : found
}
