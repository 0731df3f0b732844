import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { OverlayChanges } from '../../sandbox/layer/overlay-changes.ts'

/** What the workspace holds without and with the changes of a command. Paths are relative. */
export interface LayerView {
  /** Once the changes are brought over. */
  exists(path: string): boolean
  /** Now. */
  existed(path: string): boolean
  /** Now, and the command did not put something else in its place. */
  stays(path: string): boolean
}

export function viewLayer({ workspace, changes }: Pick<OverlayChanges, 'workspace' | 'changes'>): LayerView {
  // In lower case: some file systems take `head` for `HEAD`.
  const there = new Set<string>()
  const gone = new Set<string>()
  for (const { change, path } of changes) {
    if (change === 'deleted') gone.add(path)
    else there.add(path.toLowerCase())
  }
  const existed = (path: string): boolean =>
    lstatSync(join(workspace, path), { throwIfNoEntry: false }) !== undefined
  const stays = (path: string): boolean => !gone.has(path) && existed(path)
  return { existed, stays, exists: path => there.has(path.toLowerCase()) || stays(path) }
}
