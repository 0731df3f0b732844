import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { ToolError } from '../core/errors.ts'
import { type FileLock, waitForLock } from '../core/lock-file.ts'
import { sha256 } from './file-content.ts'

/** One writer at a time for each path, in this process and between Kogu processes. */
export interface PathLocks {
  /** Runs `work` while holding the locks of all these real paths. */
  hold<T>(realPaths: readonly string[], work: () => Promise<T>): Promise<T>
}

const WAIT_MS = 10_000

/** `directory` holds one small file per path that is being written at this moment. */
export function createPathLocks(directory: string, waitMs: number = WAIT_MS): PathLocks {
  // Who comes last on each path. The entry goes when nobody waits: a long life must not fill the memory.
  const last = new Map<string, Promise<void>>()
  mkdirSync(directory, { recursive: true, mode: 0o700 })

  async function holdOne<T>(path: string, work: () => Promise<T>): Promise<T> {
    const before = last.get(path)
    const turn = Promise.withResolvers<void>()
    last.set(path, turn.promise)
    try {
      await before
      const lock = await take(path)
      try {
        return await work()
      } finally {
        lock.release()
      }
    } finally {
      if (last.get(path) === turn.promise) last.delete(path)
      turn.resolve()
    }
  }

  async function take(path: string): Promise<FileLock> {
    const lock = await waitForLock(join(directory, sha256(path).slice(0, 32)), waitMs)
    if (lock !== undefined) return lock
    throw new ToolError('conflict', `Another Kogu process is changing this file: ${path}`, {
      hint: 'Repeat the call when it has finished.',
    })
  }

  return {
    hold(realPaths, work) {
      // Always in the same order: two calls that each wait for the other's path would wait for ever.
      const ordered = [...new Set(realPaths)].sort()
      const nest = (index: number): ReturnType<typeof work> => {
        const path = ordered[index]
        return path === undefined ? work() : holdOne(path, () => nest(index + 1))
      }
      return nest(0)
    },
  }
}
