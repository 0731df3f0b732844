import { dirname } from 'node:path'
import type { Observer } from '../files/observer.ts'
import type { ContentFinder } from './undo-find.ts'
import type { PathState } from './undo-plan.ts'

/** How the disk would look. Entries of the call at hand lie on top until they are kept. */
export interface PlannedDisk {
  look(path: string): Promise<PathState | 'other' | undefined>
  put(path: string, state: PathState | undefined): void
  keep(): void
  discard(): void
  /** Whether the plan puts something into this folder, or leaves what an earlier step put there. */
  fills(folder: string): boolean
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
  /** Folder → what was ever put into it, also what was discarded since. */
  const entries = new Map<string, Set<string>>()
  const planned = (path: string): PathState | undefined => (top.has(path) ? top.get(path) : kept.get(path))
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
    look: async path => (top.has(path) ? top.get(path) : kept.has(path) ? kept.get(path) : now(path)),
    put(path, state) {
      top.set(path, state)
      const folder = dirname(path)
      entries.set(folder, (entries.get(folder) ?? new Set()).add(path))
    },
    fills: folder => [...(entries.get(folder) ?? [])].some(path => planned(path) !== undefined),
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
