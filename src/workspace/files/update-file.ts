import { closeSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Effect, EntryState } from '../../core/effects.ts'
import { ToolError } from '../../core/errors.ts'
import type { FileChange, UpdateOptions } from '../../core/files.ts'
import { isConflict, settleRecord } from '../undo/settle-record.ts'
import { type Change, type ChangeRecord, INLINE_BYTES, toEffect } from '../undo/undo-record.ts'
import { openRegular, PERMISSION_BITS } from './entry.ts'
import { readAll, sha256 } from './file-content.ts'
import { NewFolders } from './new-folders.ts'
import { type PinnedDirectory, pinDirectory } from './pinned-directory.ts'
import type { Seen } from './rename-over.ts'
import {
  asideOf,
  copyIntoPlace,
  discardReplacement,
  newTemporary,
  type Prepared,
  prepareReplacement,
  putReplacement,
  type Replacement,
  removeOrphans,
} from './replace-file.ts'
import { type CallScope, isHardLinkConfirmed, locateForWriting, requireChangeable } from './scope.ts'
import { ownerOf } from './tree.ts'

const BEING_WRITTEN_MS = 200

/** What is replaced is held in memory: to be compared, and kept for undo. */
const MOST_BYTES = 512 * 1024 ** 2

interface Target {
  /** The deepest folder that exists. */
  readonly folder: PinnedDirectory
  /** The folders below it to be created. */
  readonly missing: readonly string[]
  readonly name: string
  readonly real: string
}

interface Before extends Seen {
  readonly bytes: Uint8Array
  /** How many names it has. */
  readonly names: number
}

/** Files.update: see there. */
export async function updateFile(
  scope: CallScope,
  path: string,
  change: FileChange,
  options: UpdateOptions,
): Promise<Effect> {
  const first = locateForWriting(scope, path)
  return scope.locks.hold([first.real], async () => {
    // The call may have waited for the lock, and folders that were missing may be there by now.
    const place = first.missing.length > 1 ? locateForWriting(scope, path) : first
    const missing = place.missing.slice(0, -1)
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

async function updateIn(scope: CallScope, target: Target, change: FileChange): Promise<Effect> {
  const before = target.missing.length > 0 ? null : await readBefore(scope, target)
  const mode = before === null ? null : before.stat.mode & PERMISSION_BITS
  const content = change(before?.bytes ?? null, { path: target.real, mode, sha256: before?.sha256 ?? null })
  const hash = sha256(content)
  if (before !== null && hash === before.sha256) {
    scope.receipts.set(target.real, hash)
    return {
      change: 'changed',
      path: target.real,
      entry: 'file',
      before: stateOf(before),
      after: stateOf(before),
    }
  }
  scope.assertOpen()
  const record = scope.undo.begin(scope.call)
  const folders = new NewFolders(target.folder, target.missing)
  let isVisible = false
  try {
    const folder = createFolders(scope, record, folders)
    const replacement = { folder, name: target.name, seen: before, content, sha256: hash, sync: true }
    const ready = await prepareWrite(record, { ...replacement, temporary: newTemporary() })
    isVisible = true
    await finishWrite(scope, target, ready)
    record.commit(folders.withoutForeign(record.changes))
    for (const each of [folder, ...folders.parents()]) scope.undo.syncSoon(each)
  } catch (error) {
    folders.takeBack()
    const mayBeThere = isVisible && !isConflict(error)
    await settleRecord(
      record,
      mayBeThere ? folders.withoutForeign(record.changes) : folders.ownFolders(record.changes),
    )
    throw error
  } finally {
    folders.close()
    scope.effects.push(...record.changes.map(toEffect))
  }
  scope.receipts.set(target.real, hash)
  return lastEffect(record)
}

const JUST_NOW_MS = 1000

/** Somebody else writes the file too, as far as one can tell: its content is new, and not of this run. */
function isContended({ receipts }: CallScope, real: string, { stat, sha256 }: Before): boolean {
  return receipts.get(real) !== sha256 && Date.now() - stat.mtimeMs < JUST_NOW_MS
}

async function readBefore(scope: CallScope, target: Target): Promise<Before | null> {
  for (;;) {
    const found = await readOnce(scope, target)
    const isSettled =
      found === null || found.stat.size > 0 || Date.now() - found.stat.mtimeMs > BEING_WRITTEN_MS
    // Most programs empty a file and then write it; in between it looks like one that is meant to be empty. Not to this
    // run, if it left the file empty itself.
    if (isSettled || scope.receipts.get(target.real) === found.sha256) return found
    await sleep(BEING_WRITTEN_MS / 10)
  }
}

async function readOnce(scope: CallScope, { folder, name, real }: Target): Promise<Before | null> {
  const file = openRegular(folder, name)
  if (file === undefined) return null
  try {
    const names = file.stat.nlink - (file.stat.nlink > 1 ? removeOrphans(folder, file.stat.ino) : 0)
    if (names > 1 && !isHardLinkConfirmed(scope, real)) {
      throw new ToolError(
        'forbidden',
        `The file has other names (hard links) that would change too: ${real}`,
        {
          hint: 'Writing it needs a separate confirmation.',
        },
      )
    }
    if (file.stat.size > MOST_BYTES) throw tooLarge(real)
    const bytes = await readAll(file.descriptor, file.stat.size)
    return { stat: file.stat, names, bytes, sha256: sha256(bytes) }
  } finally {
    closeSync(file.descriptor)
  }
}

function tooLarge(real: string): ToolError {
  return new ToolError(
    'failed',
    `The file is larger than 512 MB, too large to be changed as a whole: ${real}`,
    {
      hint: 'Change it with a command, or delete it and write it again.',
    },
  )
}

export function createFolders(scope: CallScope, record: ChangeRecord, folders: NewFolders): PinnedDirectory {
  for (const change of folders.changes()) {
    requireChangeable(scope.permit, change.path)
    record.add(change)
  }
  if (record.changes.length > 0) record.seal()
  return folders.create()
}

interface Write extends Replacement {
  readonly seen: Before | null
}

interface Ready {
  readonly write: Write
  readonly made: Prepared
}

/** Nothing is visible yet, and the record says what will be. */
async function prepareWrite(record: ChangeRecord, write: Write): Promise<Ready> {
  const { folder, temporary, seen } = write
  record.temporary(join(folder.real, temporary))
  record.temporary(join(folder.real, asideOf(temporary)))
  try {
    const isLarge = seen !== null && seen.bytes.length > INLINE_BYTES
    const made = await (isLarge ? prepareLarge(record, write) : prepareSmall(record, write))
    return { write, made }
  } catch (error) {
    discardReplacement(write)
    throw error
  }
}

async function prepareSmall(record: ChangeRecord, write: Write): Promise<Prepared> {
  const announced = await describe(record, write)
  record.add(announced)
  record.seal()
  const made = await prepareReplacement(write)
  if (made.mode !== announced.after.mode) {
    record.correct(withMode(announced, made.mode))
    record.seal()
  }
  return made
}

/** What is large is packed and kept while the new content is on its way to the disk. */
async function prepareLarge(record: ChangeRecord, write: Write): Promise<Prepared> {
  record.seal()
  const making = [describe(record, write), prepareReplacement(write)] as const
  // Both have ended before one of them can fail the call.
  await Promise.allSettled(making)
  const [announced, made] = await Promise.all(making)
  record.add(withMode(announced, made.mode))
  record.seal()
  return made
}

async function finishWrite(scope: CallScope, { real }: Target, { write, made }: Ready): Promise<void> {
  const { folder, seen } = write
  if (seen !== null && seen.names > 1) {
    await copyIntoPlace(write, seen)
    return
  }
  await putReplacement(write, made, {
    settle() {
      if (seen === null || !isContended(scope, real, seen)) return false
      folder.sync()
      return true
    },
    closeSoon: scope.undo.closeSoon,
  })
}

type Announced = Change & { after: EntryState }

/** What the system will make of a new file, unless the folder has rules of its own. */
const USUAL_MODE = 0o666 & ~process.umask()

async function describe(record: ChangeRecord, write: Write): Promise<Announced> {
  const { folder, name, seen: before, content, sha256: hash } = write
  const kept = before !== null && (await record.keepBytes(before.bytes, before.sha256))
  const mode = before === null ? USUAL_MODE : before.stat.mode & PERMISSION_BITS
  return {
    change: before === null ? 'created' : 'changed',
    path: join(folder.real, name),
    entry: 'file',
    ...(before === null ? {} : { before: stateOf(before), ...ownerOf(before.stat) }),
    after: { mode, size: content.length, sha256: hash },
    ...(kept ? { content: 'kept' } : {}),
    ...(before !== null && !kept ? { undoable: false } : {}),
    ...(before !== null && before.names > 1 ? { inPlace: {} } : {}),
  }
}

function withMode(change: Announced, mode: number): Announced {
  return { ...change, after: { ...change.after, mode } }
}

function stateOf(before: Before): EntryState {
  return { mode: before.stat.mode & PERMISSION_BITS, size: before.bytes.length, sha256: before.sha256 }
}

function lastEffect(record: ChangeRecord): Effect {
  const last = record.changes.at(-1)
  if (last === undefined) throw new Error('A committed record holds no change.')
  return toEffect(last)
}
