import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isSystemError, ToolError } from '../../core/errors.ts'
import { type FileLock, tryLock } from '../../core/lock-file.ts'
import { type BatchSync, createBatchSync } from '../files/batch-sync.ts'
import type { PinnedDirectory } from '../files/pinned-directory.ts'
import { RecordFile } from './record-file.ts'
import { headersIn, listRecords } from './undo-read.ts'
import { type CallReference, ChangeRecord, recordName, type StorePlaces } from './undo-record.ts'

export interface UndoStoreOptions {
  /** A real path: no component may be a link. */
  readonly directory: string
  /** All records together, on disk. The oldest go first. */
  readonly budgetBytes?: number
  /** Files above this are not kept; their change says so. */
  readonly largeFileBytes?: number
  /** Milliseconds since 1970. */
  readonly now?: () => number
}

export interface UndoStore {
  readonly places: StorePlaces
  /** Starts the record of one change, or of many that belong together. */
  begin(call: CallReference, undoes?: readonly string[]): ChangeRecord
  /** After a change was recorded: the names in this folder survive a loss of power from a moment later on. */
  syncSoon(folder: PinnedDirectory): void
  /** Of a file that was replaced. */
  closeSoon(descriptor: number): void
  /** Waits until everything so far would survive a loss of power. */
  flush(): Promise<void>
  close(): Promise<void>
}

export const DEFAULT_BUDGET_BYTES = 1024 ** 3
export const DEFAULT_LARGE_FILE_BYTES = 100 * 1024 ** 2
/** Beyond this, listing them would cost more than old changes of one line are worth. */
const MAX_FILES = 20_000
/** A file of records that has as much is full, or this part of the budget: they are removed as a whole. */
const FULL_BYTES = 1024 ** 2
const FULL_PART = 1 / 16
/** How long the store of another folder, which came with a copy of the workspace, is left where it is. */
const FOREIGN_STORE_MS = 7 * 24 * 3600 * 1000

export function openUndoStore(options: UndoStoreOptions): UndoStore {
  const now = options.now ?? Date.now
  const budgetBytes = options.budgetBytes ?? DEFAULT_BUDGET_BYTES
  const largeFileBytes = options.largeFileBytes ?? DEFAULT_LARGE_FILE_BYTES
  const places = openPlaces(options.directory)
  const owner = randomBytes(6).toString('hex')
  const room = createRoom(places, budgetBytes)
  const syncing = createBatchSync()
  const files = createRecordFiles(places, syncing, Math.min(FULL_BYTES, budgetBytes * FULL_PART))
  let ownerLock: FileLock | undefined

  return {
    places,
    begin(call, undoes) {
      // Says that this process lives: its pending records are not for others to settle.
      ownerLock ??= tryLock(ownerPath(places, owner))
      const at = now()
      const order = unlessRemoved(places, () => nextInOrder(places))
      const id = `${order}-${owner}`
      const { run, tool, ended } = call
      const how = ended === undefined ? {} : { ended }
      const header = { format: 1, id, call: call.id, run, tool, at, ...how } as const
      return new ChangeRecord({
        places,
        header: undoes === undefined ? header : { ...header, undoes },
        budgetBytes,
        largeFileBytes,
        makeRoom: room,
        takeFile: files.take,
        giveBack: files.giveBack,
      })
    },
    syncSoon: syncing.folder,
    closeSoon: syncing.closeSoon,
    flush: syncing.flush,
    async close() {
      files.close()
      await syncing.flush()
      ownerLock?.release()
      ownerLock = undefined
    },
  }
}

/**
 * Records are ordered by a number that all processes share, so that a clock that is set changes no order: the size of a
 * file that each of them lengthens, which never goes back. Ids of earlier versions began with the time, and with a 0.
 */
function nextInOrder(places: StorePlaces): string {
  const path = join(dirname(places.calls), 'order')
  const before = existsSync(path) ? 0 : numberIn(listRecords(places)[0]?.header.id)
  const descriptor = openSync(path, 'a', 0o600)
  try {
    // A store whose file was lost goes on behind its newest record.
    if (before > 0) ftruncateSync(descriptor, before)
    writeSync(descriptor, '.')
    return `1${String(fstatSync(descriptor).size).padStart(13, '0')}`
  } finally {
    closeSync(descriptor)
  }
}

function numberIn(id = ''): number {
  return id.startsWith('1') ? Number(id.slice(1, 14)) : 0
}

/** The files that this process appends to: as many as there are records at the same time. */
function createRecordFiles(places: StorePlaces, syncing: BatchSync, fullBytes: number) {
  const free: RecordFile[] = []
  const retire = (file: RecordFile): void => {
    if (file.size === 0 && !file.isGone()) rmSync(file.path)
    else if (!file.isGone()) renameSync(file.path, join(places.calls, recordName(file.id, file.totalBytes)))
    syncing.lastRecord(file)
  }
  return {
    take(id: string): RecordFile {
      const file = free.pop() ?? unlessRemoved(places, () => new RecordFile(places.pending, id))
      if (file.isGone()) throw removedStore(places)
      return file
    },
    giveBack(file: RecordFile): void {
      if (file.totalBytes >= fullBytes) {
        retire(file)
        return
      }
      free.push(file)
      syncing.record(file)
    },
    close() {
      for (const file of free.splice(0)) retire(file)
    },
  }
}

function unlessRemoved<T>(places: StorePlaces, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') throw removedStore(places)
    throw error
  }
}

function removedStore(places: StorePlaces): ToolError {
  return new ToolError(
    'failed',
    `The undo store was removed while Kogu was running: ${dirname(places.calls)}`,
    {
      hint: 'Nothing was changed. Restart Kogu; it creates a new one.',
    },
  )
}

export function ownerPath(places: StorePlaces, owner: string): string {
  return join(places.pending, `${owner}.owner`)
}

/**
 * The store lies in a folder named after the identity of its parent. A workspace that was copied or cloned with its
 * `.kogu` brings records of other paths, or records written to attack: they have another name and are never looked at.
 */
function openPlaces(directory: string): StorePlaces {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  if (realpathSync.native(directory) !== directory) {
    throw new ToolError('failed', `The undo store must not be a symlink: ${directory}`, {
      hint: 'Replace the symlink with a folder.',
    })
  }
  const identity = statSync(directory, { bigint: true })
  const own = `v2-${identity.ino.toString(36)}-${identity.birthtimeNs.toString(36)}`
  for (const name of readdirSync(directory)) {
    const age = Date.now() - statSync(join(directory, name)).mtimeMs
    if (name !== own && age > FOREIGN_STORE_MS)
      rmSync(join(directory, name), { recursive: true, force: true })
  }
  const root = join(directory, own)
  const places = { pending: join(root, 'pending'), calls: join(root, 'calls'), files: join(root, 'files') }
  for (const place of Object.values(places)) mkdirSync(place, { recursive: true, mode: 0o700 })
  return places
}

/** Removes the oldest files of records until `bytes` more fit into the budget. */
function createRoom(places: StorePlaces, budgetBytes: number): (bytes: number) => void {
  // Other processes add too, so the sum is taken anew every now and then.
  let used = Number.POSITIVE_INFINITY
  let addedSince = 0
  return bytes => {
    addedSince += Math.max(bytes, budgetBytes / MAX_FILES)
    used += bytes
    if (used <= budgetBytes && addedSince < budgetBytes / 16) return
    const names = readdirSync(places.calls).sort()
    used = bytes + names.reduce((sum, name) => sum + sizeInName(name), 0)
    addedSince = 0
    const excess = names.length - MAX_FILES
    for (const [index, name] of names.entries()) {
      if (used <= budgetBytes && index >= excess) return
      removeRecords(places, name)
      used -= sizeInName(name)
    }
  }
}

function removeRecords(places: StorePlaces, name: string): void {
  const path = join(places.calls, name)
  const headers = headersIn(path)
  // The records first: one without its files would promise what it cannot keep.
  rmSync(path, { force: true })
  for (const { header } of headers) rmSync(join(places.files, header.id), { recursive: true, force: true })
}

/** After files that were set aside have left the store: so that others need not go to make room for them. */
export function countLess(places: StorePlaces, path: string, bytes: number): void {
  const name = basename(path)
  // A file that is not full yet is not counted yet.
  if (dirname(path) !== places.calls) return
  try {
    renameSync(path, join(places.calls, recordName(idInName(name), Math.max(0, sizeInName(name) - bytes))))
  } catch (error) {
    // Removed or counted anew by another process; the sum is an estimate.
    if (!isSystemError(error)) throw error
  }
}

function idInName(name: string): string {
  return name.slice(0, name.indexOf('.'))
}

function sizeInName(name: string): number {
  const size = Number(name.split('.')[1])
  return Number.isFinite(size) ? size : 0
}
