import { closeSync, rmdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Effect, EntryState } from '../core/effects.ts'
import { ToolError } from '../core/errors.ts'
import type { FileChange, UpdateOptions } from '../core/files.ts'
import { openRegular, PERMISSION_BITS } from './entry.ts'
import { readAll, sha256 } from './file-content.ts'
import { type PinnedDirectory, pinDirectory, pinNewDirectory } from './pinned-directory.ts'
import { settleRecord } from './recovery.ts'
import {
  asideOf,
  newTemporary,
  overwriteInPlace,
  prepareReplacement,
  putReplacement,
  type Seen,
} from './replace-file.ts'
import { type CallScope, isHardLinkConfirmed, locateForWriting, requireChangeable } from './scope.ts'
import { type Change, type ChangeRecord, toEffect } from './undo-record.ts'

interface Before extends Seen {
  readonly bytes: Uint8Array
}

/** Files.update: see there. */
export async function updateFile(
  scope: CallScope,
  path: string,
  change: FileChange,
  options: UpdateOptions,
): Promise<Effect> {
  const { real } = locateForWriting(scope, path)
  return scope.locks.hold([real], async () => {
    // Looked up again: the call may have waited for the lock, and what was missing may be there by now.
    const place = locateForWriting(scope, path)
    const missing = place.real === place.existing ? [] : place.missing.slice(0, -1)
    if (missing.length > 0 && options.createDirectories !== true) {
      throw new ToolError('not_found', `The folder does not exist: ${dirname(place.real)}`)
    }
    const folder = pinDirectory(place.missing.length === 0 ? dirname(place.real) : place.existing)
    try {
      return await updateIn(scope, { folder, missing, name: basename(place.real), real: place.real }, change)
    } finally {
      folder.close()
    }
  })
}

interface Target {
  /** The deepest folder that exists. */
  readonly folder: PinnedDirectory
  /** The folders below it to be created. */
  readonly missing: readonly string[]
  readonly name: string
  readonly real: string
}

async function updateIn(scope: CallScope, target: Target, change: FileChange): Promise<Effect> {
  const before = target.missing.length > 0 ? null : await readBefore(scope, target)
  const mode = before === null ? null : before.stat.mode & PERMISSION_BITS
  const content = change(before?.bytes ?? null, { path: target.real, mode, sha256: before?.sha256 ?? null })
  const hash = sha256(content)
  if (before !== null && hash === before.sha256) {
    const state: EntryState = { mode: before.stat.mode & PERMISSION_BITS, size: content.length, sha256: hash }
    return { change: 'changed', path: target.real, entry: 'file', before: state, after: state }
  }
  scope.assertOpen()
  const record = scope.undo.begin(scope.call)
  const created: CreatedFolder[] = []
  try {
    const folder = createFolders(scope, target, record, created)
    await write(record, { folder, name: target.name, before, content, hash })
    const foreign = new Set(created.filter(each => !each.isNew).map(each => each.folder.real))
    record.commit(record.changes.filter(each => !foreign.has(each.path)))
  } catch (error) {
    removeFolders(created)
    await settleRecord(record)
    throw error
  } finally {
    for (const { folder } of created) folder.close()
    scope.effects.push(...record.changes.map(toEffect))
  }
  scope.receipts.set(target.real, hash)
  const last = record.changes.at(-1)
  if (last === undefined) throw new Error('A committed record holds no change.')
  return toEffect(last)
}

async function readBefore(scope: CallScope, { folder, name, real }: Target): Promise<Before | null> {
  const file = openRegular(folder, name)
  if (file === undefined) return null
  try {
    if (file.stat.nlink > 1 && !isHardLinkConfirmed(scope, real)) {
      throw new ToolError(
        'forbidden',
        `The file has other names (hard links) that would change too: ${real}`,
        {
          hint: 'Writing it needs a confirmation of its own.',
        },
      )
    }
    const bytes = await readAll(file.descriptor, file.stat.size)
    return { stat: file.stat, bytes, sha256: sha256(bytes) }
  } finally {
    closeSync(file.descriptor)
  }
}

interface CreatedFolder {
  readonly parent: PinnedDirectory
  readonly name: string
  readonly folder: PinnedDirectory
  /** False: somebody else made it at the same moment. */
  readonly isNew: boolean
}

function createFolders(
  scope: CallScope,
  { folder, missing }: Target,
  record: ChangeRecord,
  created: CreatedFolder[],
): PinnedDirectory {
  if (missing.length === 0) return folder
  const paths = missing.map((_, index) => join(folder.real, ...missing.slice(0, index + 1)))
  for (const path of paths) {
    requireChangeable(scope.permit, path)
    // The mode is what the system makes of it.
    record.add({ change: 'created', path, entry: 'directory', after: { mode: 0o777, size: 0 } })
  }
  record.seal()
  let parent = folder
  for (const name of missing) {
    const { folder: child, created: isNew } = pinNewDirectory(parent, name)
    created.push({ parent, name, folder: child, isNew })
    parent = child
  }
  return parent
}

interface Write {
  readonly folder: PinnedDirectory
  readonly name: string
  readonly before: Before | null
  readonly content: Uint8Array
  readonly hash: string
}

async function write(record: ChangeRecord, { folder, name, before, content, hash }: Write): Promise<void> {
  const temporary = newTemporary()
  const inPlace = before !== null && before.stat.nlink > 1
  const replacement = { folder, name, seen: before, content, temporary, sync: true }
  let mode: number
  if (inPlace) mode = before.stat.mode & PERMISSION_BITS
  else {
    record.temporary(join(folder.real, temporary))
    record.temporary(join(folder.real, asideOf(temporary)))
    record.seal()
    mode = await prepareReplacement(replacement)
  }
  const kept = before === null ? undefined : await record.keepBytes(before.bytes, before.sha256)
  record.add({
    change: before === null ? 'created' : 'changed',
    path: join(folder.real, name),
    entry: 'file',
    ...(before === null ? {} : { before: stateOf(before) }),
    after: { mode, size: content.length, sha256: hash },
    ...(kept === undefined ? {} : { content: kept }),
    ...(before !== null && kept === undefined ? { undoable: false } : {}),
    ...(inPlace ? { inPlace: true } : {}),
  } satisfies Change)
  record.seal()
  if (inPlace) await overwriteInPlace(replacement, before)
  else await putReplacement(replacement)
}

function stateOf(before: Before): EntryState {
  return { mode: before.stat.mode & PERMISSION_BITS, size: before.bytes.length, sha256: before.sha256 }
}

/** Takes back the folders of an update that failed; one that somebody has used meanwhile stays. */
function removeFolders(created: readonly CreatedFolder[]): void {
  for (const { parent, name, isNew } of created.toReversed()) {
    if (!isNew) continue
    try {
      rmdirSync(parent.at(name))
    } catch {
      // Not empty any more, or gone: not ours to remove.
    }
  }
}
