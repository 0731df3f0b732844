import { closeSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Effect, EntryState } from '../core/effects.ts'
import { ToolError } from '../core/errors.ts'
import type { FileChange, UpdateOptions } from '../core/files.ts'
import type { Resolved } from '../core/real-path.ts'
import { openRegular, PERMISSION_BITS } from './entry.ts'
import { readAll, sha256 } from './file-content.ts'
import { NewFolders } from './new-folders.ts'
import { type PinnedDirectory, pinDirectory } from './pinned-directory.ts'
import {
  asideOf,
  copyIntoPlace,
  discardReplacement,
  NameTaken,
  newTemporary,
  type Prepared,
  prepareReplacement,
  putReplacement,
  type Replacement,
  removeOrphans,
  type Seen,
} from './replace-file.ts'
import { type CallScope, isHardLinkConfirmed, locateForWriting, requireChangeable } from './scope.ts'
import { settleRecord } from './settle-record.ts'
import { type Change, type ChangeRecord, INLINE_BYTES, toEffect } from './undo-record.ts'

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
  /** When it was looked for, there was nothing. */
  readonly isFree: boolean
}

interface Before extends Seen {
  /** How many names it has. */
  readonly names: number
}

interface Write {
  readonly folder: PinnedDirectory
  readonly name: string
  readonly before: Before | null
  readonly content: Uint8Array
  readonly hash: string
  readonly settle: () => void
}

/** Files.update: see there. */
export async function updateFile(
  scope: CallScope,
  path: string,
  change: FileChange,
  options: UpdateOptions,
): Promise<Effect> {
  const place = locateForWriting(scope, path)
  if (place.missing.length === 0)
    return scope.locks.hold([place.real], () => updateAt(scope, place, change, options))
  try {
    // Taking a free name needs no lock: it fails when another process was faster.
    return await scope.locks.takeTurn(place.real, () => updateAt(scope, place, change, options))
  } catch (error) {
    if (!(error instanceof NameTaken)) throw error
    return scope.locks.hold([place.real], () =>
      updateAt(scope, locateForWriting(scope, path), change, options),
    )
  }
}

async function updateAt(
  scope: CallScope,
  place: Resolved,
  change: FileChange,
  options: UpdateOptions,
): Promise<Effect> {
  const missing = place.missing.slice(0, -1)
  if (missing.length > 0 && options.createDirectories !== true) {
    throw new ToolError('not_found', `The folder does not exist: ${dirname(place.real)}`)
  }
  const isFree = place.missing.length > 0
  const folder = pinDirectory(isFree ? place.existing : dirname(place.real))
  const target = { folder, missing, name: basename(place.real), real: place.real, isFree }
  try {
    return await updateIn(scope, target, change)
  } finally {
    folder.close()
  }
}

async function updateIn(scope: CallScope, target: Target, change: FileChange): Promise<Effect> {
  const before = target.missing.length > 0 ? null : await readBefore(scope, target)
  if (before !== null && target.isFree) throw new NameTaken(target.real)
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
  try {
    const folder = createFolders(scope, record, folders)
    const settle = (): void => {
      // The wait for the disk gives a program that is just writing the old file time to show it.
      if (before !== null && isContended(scope, target.real, before)) folder.sync()
      for (const each of [folder, ...folders.parents()]) scope.undo.syncSoon(each)
    }
    const made = await write(record, { folder, name: target.name, before, content, hash, settle })
    record.commit([...folders.withoutForeign(record.changes.slice(0, target.missing.length)), made])
  } catch (error) {
    folders.takeBack()
    // A folder that somebody else made, or a file that has the name by now, is not our doing.
    const ours = new Set(folders.withoutForeign(record.changes))
    await settleRecord(record, change => ours.has(change) && !isTakenFile(error, change))
    throw error
  } finally {
    folders.close()
    scope.effects.push(...record.changes.map(toEffect))
  }
  scope.receipts.set(target.real, hash)
  return lastEffect(record)
}

function isTakenFile(error: unknown, { entry }: Change): boolean {
  return error instanceof NameTaken && entry === 'file'
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
          hint: 'Writing it needs a confirmation of its own.',
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
      hint: 'Change it with a command, or delete it and write it anew.',
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

/** What the system gave to the last new file: nearly always what it gives to the next one. */
let usualMode = 0o644

/** Returns the change as it was made, which may not be the one that was announced. */
async function write(record: ChangeRecord, options: Write): Promise<Change> {
  const { folder, name, before, content, hash, settle } = options
  const temporary = newTemporary()
  const replacement = { folder, name, seen: before, content, sha256: hash, temporary, sync: true }
  record.temporary(join(folder.real, temporary))
  record.temporary(join(folder.real, asideOf(temporary)))
  const { change, made } = await prepare(record, options, replacement).catch((error: unknown) => {
    discardReplacement(replacement)
    throw error
  })
  if (before === null) usualMode = made.mode
  if (before !== null && before.names > 1) await copyIntoPlace(replacement, before)
  else await putReplacement(replacement, made, settle)
  return change
}

/** Nothing is visible yet, and the record says what will be. */
async function prepare(
  record: ChangeRecord,
  options: Write,
  replacement: Replacement,
): Promise<{ change: Change; made: Prepared }> {
  if (options.before !== null && options.before.bytes.length > INLINE_BYTES) {
    record.seal()
    // What is large is packed and kept while the new content is on its way to the disk.
    const making = [describe(record, options), prepareReplacement(replacement)] as const
    // Both have ended before one of them can fail the call.
    await Promise.allSettled(making)
    const [announced, made] = await Promise.all(making)
    return { change: addWithMode(record, announced, made.mode), made }
  }
  const announced = await describe(record, options)
  record.add(announced)
  record.seal()
  const made = await prepareReplacement(replacement)
  const asMade = made.mode === announced.after.mode
  return { change: asMade ? announced : addWithMode(record, announced, made.mode), made }
}

function addWithMode(record: ChangeRecord, announced: Announced, mode: number): Change {
  const change = { ...announced, after: { ...announced.after, mode } }
  record.add(change)
  record.seal()
  return change
}

type Announced = Change & { after: EntryState }

async function describe(record: ChangeRecord, options: Write): Promise<Announced> {
  const { folder, name, before, content, hash } = options
  const kept = before !== null && (await record.keepBytes(before.bytes, before.sha256))
  const mode = before === null ? usualMode : before.stat.mode & PERMISSION_BITS
  return {
    change: before === null ? 'created' : 'changed',
    path: join(folder.real, name),
    entry: 'file',
    ...(before === null ? {} : { before: stateOf(before) }),
    after: { mode, size: content.length, sha256: hash },
    ...(kept ? { content: 'kept' } : {}),
    ...(before !== null && !kept ? { undoable: false } : {}),
    ...(before !== null && before.names > 1 ? { inPlace: {} } : {}),
  }
}

function stateOf(before: Before): EntryState {
  return { mode: before.stat.mode & PERMISSION_BITS, size: before.bytes.length, sha256: before.sha256 }
}

function lastEffect(record: ChangeRecord): Effect {
  const last = record.changes.at(-1)
  if (last === undefined) throw new Error('A committed record holds no change.')
  return toEffect(last)
}
