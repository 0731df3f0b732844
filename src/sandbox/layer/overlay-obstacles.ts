import { accessSync, constants, lstatSync, type Stats, statfsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isSystemError, ToolError } from '../../core/errors.ts'
import type { OverlayChanges } from './overlay-changes.ts'

/** A folder that its owner may not write to at present, and the mode it has. */
export interface ClosedFolder {
  readonly path: string
  readonly mode: number
}

/**
 * Looks for everything that would stop the bringing over half-way, and throws while nothing is changed yet. Returns the
 * folders that have to be opened for it: a command may make a folder writable, change it and close it again.
 */
export function findObstacles(changes: OverlayChanges): ClosedFolder[] {
  const { workspace } = changes
  const closed: ClosedFolder[] = []
  for (const path of affectedFolders(changes)) {
    const stat = lstatSync(join(workspace, path), { throwIfNoEntry: false })
    if (stat?.isDirectory() !== true) {
      throw new ToolError(
        'conflict',
        `The folder ${path} changed while the command ran, so nothing was kept.`,
      )
    }
    if (!isWritable(workspace, path, stat)) closed.push({ path, mode: stat.mode & 0o7777 })
  }
  for (const { path, before } of changes.changes) {
    if (before?.entry === 'file') refuseImmutable(workspace, path)
  }
  refuseWithoutSpace(changes)
  return closed
}

/** Those whose entries come or go, parents before children; not those that the command made. */
function affectedFolders({ changes }: OverlayChanges): Set<string> {
  const made = new Set<string>()
  const found = new Set<string>()
  for (const { path, entry, change } of changes) {
    const parent = dirname(path)
    if (!made.has(parent)) found.add(parent)
    if (entry !== 'directory') continue
    if (change === 'created') made.add(path)
    if (change === 'deleted') found.add(path)
  }
  return found
}

function isWritable(workspace: string, path: string, stat: Stats): boolean {
  try {
    accessSync(join(workspace, path), constants.R_OK | constants.W_OK | constants.X_OK)
    return true
  } catch (error) {
    if (!isSystemError(error)) throw error
    if (error.code === 'EACCES' && stat.uid === process.getuid?.()) return false
    throw cannotWrite(path === '.' ? workspace : path, error)
  }
}

/** The mode of a file does not keep its folder's owner from replacing it; a mark of the file system does. */
function refuseImmutable(workspace: string, path: string): void {
  try {
    accessSync(join(workspace, path), constants.W_OK)
  } catch (error) {
    if (isSystemError(error) && (error.code === 'EPERM' || error.code === 'EROFS'))
      throw cannotWrite(path, error)
  }
}

function cannotWrite(path: string, cause: unknown): ToolError {
  return new ToolError(
    'failed',
    `${path} cannot be written to, so none of the command's changes were kept.`,
    {
      cause,
    },
  )
}

/** On the same file system nothing is copied. */
function refuseWithoutSpace({ workspace, upper, changes }: OverlayChanges): void {
  if (lstatSync(workspace).dev === lstatSync(upper).dev) return
  const needed = changes.reduce((sum, { after }) => sum + (after?.size ?? 0), 0)
  const { bavail, bsize } = statfsSync(workspace)
  if (needed <= bavail * bsize) return
  throw new ToolError('failed', "The disk is full, so none of the command's changes were kept.")
}
