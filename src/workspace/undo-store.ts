import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { ToolError } from '../core/errors.ts'
import { type FileLock, tryLock } from '../core/lock-file.ts'
import { type CallReference, ChangeRecord, type StorePlaces } from './undo-record.ts'

export interface UndoStoreOptions {
  /** A real path: no component may be a link. */
  readonly directory: string
  /** All records together, on disk. The oldest go first. */
  readonly budgetBytes?: number
  /** Files above this are not kept; their change says so. */
  readonly largeFileBytes?: number
}

export interface UndoStore {
  readonly places: StorePlaces
  /** Starts the record of one change, or of many that belong together. */
  begin(call: CallReference, undoes?: readonly string[]): ChangeRecord
  /** Waits until everything recorded so far would survive a loss of power. */
  flush(): Promise<void>
  close(): Promise<void>
}

export const DEFAULT_BUDGET_BYTES = 1024 ** 3
export const DEFAULT_LARGE_FILE_BYTES = 100 * 1024 ** 2
/** Beyond this, listing them would cost more than old changes of one line are worth. */
const MAX_RECORDS = 20_000
const SYNC_AFTER_MS = 100
/** How long the store of another folder, which came with a copy of the workspace, is left where it is. */
const FOREIGN_STORE_MS = 7 * 24 * 3600 * 1000

export function openUndoStore(options: UndoStoreOptions): UndoStore {
  const budgetBytes = options.budgetBytes ?? DEFAULT_BUDGET_BYTES
  const largeFileBytes = options.largeFileBytes ?? DEFAULT_LARGE_FILE_BYTES
  const places = openPlaces(options.directory)
  const owner = randomBytes(6).toString('hex')
  const room = createRoom(places, budgetBytes)
  const syncing = createBatchSync()
  let ownerLock: FileLock | undefined
  let count = 0

  return {
    places,
    begin(call, undoes) {
      // Says that this process lives: its pending records are not for others to settle.
      ownerLock ??= tryLock(ownerPath(places, owner))
      count += 1
      const at = Date.now()
      const id = `${String(at).padStart(14, '0')}-${String(count).padStart(6, '0')}-${owner}`
      const header = { format: 1, id, call: call.id, run: call.run, tool: call.tool, at } as const
      return new ChangeRecord({
        places,
        header: undoes === undefined ? header : { ...header, undoes },
        budgetBytes,
        largeFileBytes,
        makeRoom: room,
        onCommitted: syncing.add,
      })
    },
    flush: syncing.flush,
    async close() {
      await syncing.flush()
      ownerLock?.release()
      ownerLock = undefined
    },
  }
}

/** Syncs files a moment after they were written: one by one, each would make the next change wait for the disk. */
function createBatchSync() {
  let waiting: string[] = []
  let timer: NodeJS.Timeout | undefined
  let running = Promise.resolve()
  const flush = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    const batch = waiting
    waiting = []
    running = running.then(async () => {
      for (const path of batch) await syncPath(path)
    })
    return running
  }
  return {
    flush,
    add(path: string): void {
      waiting.push(path)
      timer ??= setTimeout(flush, SYNC_AFTER_MS).unref()
    },
  }
}

async function syncPath(path: string): Promise<void> {
  try {
    await using file = await open(path)
    await file.sync()
  } catch {
    // Removed by now to keep to the budget; or it cannot be synced, and is still there for all but a loss of power.
  }
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
    throw new ToolError('failed', `The undo store may not lie behind a link: ${directory}`, {
      hint: 'Replace the link by a folder.',
    })
  }
  const identity = statSync(directory, { bigint: true })
  const own = `v1-${identity.ino.toString(36)}-${identity.birthtimeNs.toString(36)}`
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

/** Removes the oldest records until `bytes` more fit into the budget. */
function createRoom(places: StorePlaces, budgetBytes: number): (bytes: number) => void {
  // Other processes add too, so the sum is taken anew every now and then.
  let used = Number.POSITIVE_INFINITY
  let addedSince = 0
  return bytes => {
    addedSince += Math.max(bytes, budgetBytes / MAX_RECORDS)
    used += bytes
    if (used <= budgetBytes && addedSince < budgetBytes / 16) return
    const records = readdirSync(places.calls).sort()
    used = bytes + records.reduce((sum, name) => sum + sizeInName(name), 0)
    addedSince = 0
    const excess = records.length - MAX_RECORDS
    for (const [index, name] of records.entries()) {
      if (used <= budgetBytes && index >= excess) return
      removeRecord(places, name)
      used -= sizeInName(name)
    }
  }
}

export function removeRecord(places: StorePlaces, name: string): void {
  // The record first: one without its files would promise what it cannot keep.
  rmSync(join(places.calls, name), { force: true })
  rmSync(join(places.files, idInName(name)), { recursive: true, force: true })
}

export function idInName(name: string): string {
  return name.slice(0, name.indexOf('.'))
}

function sizeInName(name: string): number {
  const size = Number(name.split('.')[1])
  return Number.isFinite(size) ? size : 0
}
