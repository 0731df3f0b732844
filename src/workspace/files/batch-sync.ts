import { close, fsync } from 'node:fs'
import { promisify } from 'node:util'
import type { RecordFile } from '../undo/record-file.ts'
import type { PinnedDirectory } from './pinned-directory.ts'

const syncAsync = promisify(fsync)
const closeAsync = promisify(close)

const AFTER_MS = 100
const MOST_OPEN = 64

/**
 * What is done a moment after a change, because each change would have to wait for it: records and the names in folders
 * are brought to the disk, and files that were replaced are closed. Records go first, so that a change which survives a
 * loss of power can be undone (but for contents too large for a record, which the system writes in its own time). What
 * cannot be synced is still there for all but a loss of power, so nothing here fails a change.
 */
export interface BatchSync {
  record(file: RecordFile): void
  /** For the last time: it is closed then. */
  lastRecord(file: RecordFile): void
  folder(folder: PinnedDirectory): void
  /** With its last name gone, a file goes with its descriptor, which takes the system long. */
  closeSoon(descriptor: number): void
  flush(): Promise<void>
}

export function createBatchSync(): BatchSync {
  const records = new Set<RecordFile>()
  const ended = new Set<RecordFile>()
  /** Descriptors of our own, by what they hold. */
  const folders = new Map<string, number>()
  const replaced: number[] = []
  let timer: NodeJS.Timeout | undefined
  let running = Promise.resolve()

  const runAll = async (): Promise<void> => {
    const batch = [...records]
    records.clear()
    // Those that end while others are being synced wait for the next time.
    const last = new Set(ended)
    ended.clear()
    const descriptors = [...folders.values()]
    folders.clear()
    const closing = replaced.splice(0)
    for (const file of batch) {
      await file.sync().catch(ignore)
      if (last.has(file)) await file.close().catch(ignore)
    }
    for (const descriptor of descriptors) await syncAsync(descriptor).catch(ignore)
    await Promise.all([...descriptors, ...closing].map(each => closeAsync(each).catch(ignore)))
  }
  const flush = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    running = running.then(runAll)
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
      try {
        const identity = folder.identity()
        if (folders.has(identity)) return
        // A caller that never gives the timer its turn must not use up all descriptors.
        const descriptor = folders.size < MOST_OPEN ? folder.openAgain() : undefined
        if (descriptor === undefined) return folder.sync()
        folders.set(identity, descriptor)
        soon()
      } catch {
        // See above.
      }
    },
    closeSoon(descriptor) {
      replaced.push(descriptor)
      // Another thread closes them, whether or not the timer ever gets its turn.
      if (replaced.length === MOST_OPEN) for (const each of replaced.splice(0)) close(each, ignore)
      soon()
    },
  }
}

function ignore(): void {}
