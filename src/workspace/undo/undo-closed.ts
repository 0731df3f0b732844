import { accessSync, constants, lstatSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { isSystemError } from '../../core/errors.ts'
import { PERMISSION_BITS, setMode } from '../files/entry.ts'
import type { Observer } from '../files/observer.ts'
import { changesOnlyMode } from '../files/prepared-step.ts'
import type { UndoStep } from './undo-plan.ts'

// A command may make a folder writable, change it and close it again. To take that back the folder is opened for the
// moment: on record, so that a kill does not leave it open.

/** A folder that its owner may not write to at present, and the mode it has. */
export interface ClosedFolder {
  readonly path: string
  readonly mode: number
}

const OWNER_MAY_ALL = 0o700

/** The folders that have to be opened for these steps, parents first. Those of other users are left as they are. */
export function findClosed(observer: Observer, steps: readonly UndoStep[]): ClosedFolder[] {
  const missing = new Set(steps.filter(({ now }) => now?.entry !== 'directory').map(({ path }) => path))
  const folders = new Set(steps.filter(step => !changesOnlyMode(step)).map(({ path }) => dirname(path)))
  return [...folders]
    .filter(path => !missing.has(path))
    .sort()
    .flatMap(path => {
      const entry = observer.folder(dirname(path)).at(basename(path))
      const { uid, mode } = lstatSync(entry)
      return uid === process.geteuid?.() && isClosed(entry) ? [{ path, mode: mode & PERMISSION_BITS }] : []
    })
}

function isClosed(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK)
    return false
  } catch (error) {
    if (isSystemError(error) && error.code === 'EACCES') return true
    throw error
  }
}

export function openClosed(observer: Observer, folders: readonly ClosedFolder[]): void {
  for (const { path, mode } of folders) {
    setMode(observer.folder(dirname(path)), basename(path), mode | OWNER_MAY_ALL)
  }
}

/** Those that are still there, and still as they were opened, get their mode back. */
export function closeAgain(observer: Observer, folders: readonly ClosedFolder[]): void {
  for (const { path, mode } of folders.toReversed()) {
    try {
      const folder = observer.folder(dirname(path))
      const stat = lstatSync(folder.at(basename(path)), { throwIfNoEntry: false })
      const isOpened = stat?.isDirectory() && (stat.mode & PERMISSION_BITS) === (mode | OWNER_MAY_ALL)
      if (isOpened) setMode(folder, basename(path), mode)
    } catch (error) {
      // Its own folder went too.
      if (!isSystemError(error) || error.code !== 'ENOENT') throw error
    }
  }
}
