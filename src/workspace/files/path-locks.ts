import { randomBytes } from 'node:crypto'
import { linkSync, lstatSync, mkdirSync, unlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isSystemError, ToolError } from '../../core/errors.ts'
import { type FileLock, tryLock } from '../../core/lock-file.ts'
import { sha256 } from './file-content.ts'

/** One writer at a time for each path, in this process and between Kogu processes. */
export interface PathLocks {
  /** Runs `work` while holding the locks of all these real paths. */
  hold<T>(realPaths: readonly string[], work: () => Promise<T>): Promise<T>
  /** Removes what says that this process lives. Not calling it leaves one small file to the next recovery. */
  close(): void
}

const WAIT_MS = 10_000
/** A write takes a few milliseconds. */
const STUCK_MS = 20

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
  const ownerPath = join(directory, `${randomBytes(6).toString('hex')}.owner`)
  let owner: { lock: FileLock; ino: number } | undefined

  function takeIfFree(lockPath: string): FileLock | undefined {
    owner ??= own(ownerPath)
    const { ino } = owner
    try {
      linkSync(ownerPath, lockPath)
      const taken = performance.now()
      return { release: () => giveBack(lockPath, ino, performance.now() - taken) }
    } catch (error) {
      // Somebody tidied our file away: the next attempt makes a new one.
      if (isSystemError(error) && error.code === 'ENOENT') owner = undefined
      else if (!isSystemError(error) || error.code !== 'EEXIST') throw error
      return undefined
    }
  }

  async function take(path: string): Promise<FileLock> {
    const lockPath = join(directory, sha256(path).slice(0, 32))
    const started = performance.now()
    for (let pause = 1; ; pause = Math.min(pause * 2, 20)) {
      const lock = takeIfFree(lockPath) ?? (isStuck(lockPath) ? tryLock(lockPath) : undefined)
      if (lock !== undefined) return lock
      if (performance.now() - started > waitMs) {
        throw new ToolError('conflict', `Another Kogu process is changing this file: ${path}`, {
          hint: 'Repeat the call when it has finished.',
        })
      }
      await sleep(pause)
    }
  }

  return {
    take,
    close(): void {
      owner?.lock.release()
      owner = undefined
    },
  }
}

function own(path: string): { lock: FileLock; ino: number } {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const lock = tryLock(path)
  if (lock === undefined) throw new Error(`The name of a new lock is taken: ${path}`)
  return { lock, ino: lstatSync(path).ino }
}

/**
 * The process that holds the lock has not taken or given back any lock for a while (each makes or removes a name of its
 * file, which the system notes): it may be dead, and then `tryLock` takes over.
 */
function isStuck(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  return stat !== undefined && Date.now() - stat.ctimeMs > STUCK_MS
}

/** Nobody takes a lock over that is not stuck. After that, it may be somebody else's. */
function giveBack(path: string, ino: number, heldMs: number): void {
  if (heldMs > STUCK_MS / 2 && lstatSync(path, { throwIfNoEntry: false })?.ino !== ino) return
  try {
    unlinkSync(path)
  } catch (error) {
    // Somebody tidied it away.
    if (!isSystemError(error) || error.code !== 'ENOENT') throw error
  }
}
