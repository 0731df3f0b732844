import { close, fsync } from 'node:fs'
import { promisify } from 'node:util'
import type { PinnedDirectory } from './pinned-directory.ts'
import type { RecordFile } from './record-file.ts'

const syncAsync = promisify(fsync)
const closeAsync = promisify(close)

const AFTER_MS = 100

/**
 * Brings records and the names in folders to the disk a moment after they were written: one by one, each would make the
 * next change wait. Records go first, so that what survives a loss of power can be undone.
 */
export interface BatchSync {
  record(file: RecordFile): void
  /** For the last time: it is closed then. */
  lastRecord(file: RecordFile): void
  folder(folder: PinnedDirectory): void
  flush(): Promise<void>
}

export function createBatchSync(): BatchSync {
  const records = new Set<RecordFile>()
  const ended = new Set<RecordFile>()
  /** Descriptors of our own, by what they hold. */
  const folders = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  let running = Promise.resolve()

  const syncAll = async (): Promise<void> => {
    const batch = [...records]
    records.clear()
    const descriptors = [...folders.values()]
    folders.clear()
    // What cannot be synced is still there for all but a loss of power.
    for (const file of batch) {
      await file.sync().catch(() => undefined)
      if (ended.delete(file)) file.close()
    }
    for (const descriptor of descriptors) {
      await syncAsync(descriptor).catch(() => undefined)
      await closeAsync(descriptor).catch(() => undefined)
    }
  }
  const flush = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    running = running.then(syncAll)
    return running
  }
  const soon = (): void => {
    timer ??= setTimeout(flush, AFTER_MS).unref()
  }
  return {
    flush,
    record(file) {
      records.add(file)
      soon()
    },
    lastRecord(file) {
      ended.add(file)
      records.add(file)
      soon()
    },
    folder(folder) {
      const identity = folder.identity()
      if (folders.has(identity)) return
      const descriptor = folder.openAgain()
      if (descriptor === undefined) return
      folders.set(identity, descriptor)
      soon()
    },
  }
}
