import { randomBytes } from 'node:crypto'
import { linkSync, lstatSync, mkdirSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { isSystemError, ToolError } from '../core/errors.ts'
import { type FileLock, tryLock, waitForLock } from '../core/lock-file.ts'
import { sha256 } from './file-content.ts'

/** One writer at a time for each path, in this process and between Kogu processes. */
export interface PathLocks {
  /** Runs `work` while holding the locks of all these real paths. */
  hold<T>(realPaths: readonly string[], work: () => Promise<T>): Promise<T>
  /** Removes what says that this process lives. Not calling it leaves one small file to the next recovery. */
  close(): void
}

const WAIT_MS = 10_000

/** `directory` holds one small file per path that is being written at this moment. */
export function createPathLocks(directory: string, waitMs: number = WAIT_MS): PathLocks {
  // Who comes last on each path. The entry goes when nobody waits: a long life must not fill the memory.
  const last = new Map<string, Promise<void>>()
  const taker = createTaker(directory, waitMs)

  async function holdOne<T>(path: string, work: () => Promise<T>): Promise<T> {
    const before = last.get(path)
    const turn = Promise.withResolvers<void>()
    last.set(path, turn.promise)
    try {
      await before
      const lock = await taker.take(path)
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

  return {
    close: taker.close,
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

/**
 * A lock file names its process. One such file is made per process and given further names: a name is made and removed
 * in microseconds, while making and removing a file each time makes every new file on the disk slower.
 */
function createTaker(directory: string, waitMs: number) {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const ownerPath = join(directory, `${randomBytes(6).toString('hex')}.owner`)
  let owner: { lock: FileLock; ino: number } | undefined

  function takeAtOnce(lockPath: string): FileLock | undefined {
    try {
      owner ??= own(ownerPath)
      const ino = owner?.ino
      linkSync(ownerPath, lockPath)
      return { release: () => removeIfOurs(lockPath, ino) }
    } catch (error) {
      // Taken; or this file system has no hard links, or somebody tidied up: then the lock is taken the long way.
      if (!isSystemError(error)) throw error
      if (error.code === 'ENOENT') owner = undefined
      return undefined
    }
  }

  return {
    async take(path: string): Promise<FileLock> {
      const lockPath = join(directory, sha256(path).slice(0, 32))
      const lock = takeAtOnce(lockPath) ?? (await waitForLock(lockPath, waitMs))
      if (lock !== undefined) return lock
      throw new ToolError('conflict', `Another Kogu process is changing this file: ${path}`, {
        hint: 'Repeat the call when it has finished.',
      })
    },
    close(): void {
      owner?.lock.release()
      owner = undefined
    },
  }
}

function own(path: string): { lock: FileLock; ino: number } | undefined {
  const lock = tryLock(path)
  return lock === undefined ? undefined : { lock, ino: lstatSync(path).ino }
}

function removeIfOurs(path: string, ino: number | undefined): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.ino === ino) unlinkSync(path)
}
