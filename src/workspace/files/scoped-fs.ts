import { closeSync, fstatSync, lstatSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Effect } from '../../core/effects.ts'
import { isSystemError, ToolError } from '../../core/errors.ts'
import type { CallFiles, DirectoryEntry, OpenFile, Receipts } from '../../core/files.ts'
import type { Permit } from '../../core/permit.ts'
import { absolutePath } from '../../core/real-path.ts'
import type { CallReference } from '../undo/undo-record.ts'
import type { UndoStore } from '../undo/undo-store.ts'
import { changedMeanwhile, PERMISSION_BITS, refuseIrregular } from './entry.ts'
import { readPart } from './file-content.ts'
import { moveEntry } from './move-entry.ts'
import type { PathLocks } from './path-locks.ts'
import { refuseFolderSpelling } from './paths.ts'
import { HAS_PROC, LOOK_ONLY, pinDirectory, placeOf, reopenForReading } from './pinned-directory.ts'
import { removeEntry } from './remove-entry.ts'
import { type CallScope, locateAsJudged, locateForReading } from './scope.ts'
import { updateFile } from './update-file.ts'

export interface ScopedFsOptions {
  /** What relative paths are relative to. */
  readonly cwd: string
  readonly permit: Permit
  readonly call: CallReference
  readonly receipts: Receipts
  readonly undo: UndoStore
  readonly locks: PathLocks
  readonly signal: AbortSignal
}

/** File access for one call. Nothing can be done with it any more once it is closed or the call is cancelled. */
export function createScopedFs(options: ScopedFsOptions): CallFiles {
  const { signal, ...shared } = options
  const effects: Effect[] = []
  let closed = false
  const scope: CallScope = {
    ...shared,
    effects,
    assertOpen() {
      if (closed || signal.aborted) throw new ToolError('cancelled', 'The call has ended.')
    },
  }
  return {
    effects,
    files: {
      receipts: options.receipts,
      resolve: path => absolutePath(path, options.cwd),
      open: async path => openForReading(scope, path),
      list: path => listFolder(scope, path),
      update: (path, change, updateOptions) => updateFile(scope, path, change, updateOptions ?? {}),
      remove: path => removeEntry(scope, path),
      move: (from, to, moveOptions) => moveEntry(scope, from, to, moveOptions ?? {}),
    },
    async close() {
      closed = true
    },
  }
}

function openForReading(scope: CallScope, path: string): OpenFile {
  refuseFolderSpelling(path)
  const { real, look } = openAsJudged(scope, path) ?? openLocated(scope, path)
  try {
    const stat = fstatSync(look)
    refuseIrregular(stat, real)
    // Opening followed no link in the last part of the path, but one may have been swapped in before it.
    const place = placeOf(look)
    if (place !== undefined && place !== real) throw changedMeanwhile(real)
    const descriptor = reopenForReading(look, real)
    return {
      path: real,
      size: stat.size,
      mode: stat.mode & PERMISSION_BITS,
      read: (position, length) => readPart(descriptor, position, length),
      close: () => closeSync(descriptor),
    }
  } finally {
    closeSync(look)
  }
}

interface Looked {
  readonly real: string
  /** Opened without any effect. */
  readonly look: number
}

/** A path that was judged as it stands had no links; whether that is still so shows where the opened file is. */
function openAsJudged(scope: CallScope, path: string): Looked | undefined {
  const real = locateAsJudged(scope, path)
  if (real === undefined || !HAS_PROC) return undefined
  try {
    return { real, look: openSync(real, LOOK_ONLY) }
  } catch {
    // The other way will say why.
    return undefined
  }
}

function openLocated(scope: CallScope, path: string): Looked {
  const { real } = locateForReading(scope, path)
  try {
    return { real, look: openSync(real, LOOK_ONLY) }
  } catch (error) {
    if (isSystemError(error) && (error.code === 'ELOOP' || error.code === 'ENOTDIR'))
      throw changedMeanwhile(real)
    throw error
  }
}

/** Entries looked at before other work of the process gets its turn. */
const LIST_BATCH = 2000

async function listFolder(scope: CallScope, path: string): Promise<DirectoryEntry[]> {
  const { real } = locateForReading(scope, path)
  if (!lstatSync(real).isDirectory()) throw new ToolError('invalid_input', `This is not a folder: ${real}`)
  const folder = pinDirectory(real)
  try {
    const entries: DirectoryEntry[] = []
    const names = folder.names().sort()
    for (const [index, name] of names.entries()) {
      if (index % LIST_BATCH === LIST_BATCH - 1) await setImmediate()
      if (!scope.permit.mayRead(join(real, name))) continue
      const stat = lstatSync(folder.at(name), { throwIfNoEntry: false })
      if (stat === undefined) continue
      const kind = stat.isFile()
        ? 'file'
        : stat.isDirectory()
          ? 'directory'
          : stat.isSymbolicLink()
            ? 'link'
            : 'other'
      entries.push({ name, kind, size: stat.size, modifiedMs: stat.mtimeMs })
    }
    return entries
  } finally {
    folder.close()
  }
}
