import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  rmSync,
  unlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isSystemError } from './errors.ts'
import { makeWhole } from './write-whole.ts'

/** Whoever holds the lock calls `release`; a second call does nothing. */
export interface FileLock {
  release(): void
}

/**
 * Takes an exclusive lock between processes of one machine, or returns undefined when a living process has it (or is
 * just taking it). The file names its owner by pid, start time and pid namespace, so that the lock of a process that
 * died, or whose pid was given to another, is broken. A process in another container cannot be judged: it counts as
 * alive until the machine restarts.
 */
export function tryLock(path: string): FileLock | undefined {
  return acquire(path, 0)
}

/** Whether a living process has it. Changes nothing. */
export function isLocked(path: string): boolean {
  return stateOf(path) === 'held'
}

/** Waits for the lock; gives up after `timeoutMs` and returns undefined. */
export async function waitForLock(path: string, timeoutMs: number): Promise<FileLock | undefined> {
  const deadline = performance.now() + timeoutMs
  for (let pause = 1; ; pause = Math.min(pause * 2, 50)) {
    const lock = tryLock(path)
    if (lock !== undefined) return lock
    if (performance.now() > deadline) return undefined
    await sleep(pause)
  }
}

/** Removes what processes that were killed left in a folder: locks, and drafts of locks, which nobody else would look at. */
export function sweepLocks(folder: string): void {
  // A link that came with a clone: what ends in .lock there is not ours.
  const isOurs = lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true
  const names = isOurs ? readdirSync(folder) : []
  for (const name of names) {
    const path = join(folder, name)
    if (name.endsWith('.lock')) {
      if (stateOf(path) === 'stale') tryLock(path)?.release()
    } else if (/\.[0-9a-f]{12}$/.test(name) && isAbandoned(path)) rmSync(path, { force: true })
  }
}

/** A draft is empty for the moment in which it is written. */
function isAbandoned(draft: string): boolean {
  const file = lstatSync(draft, { throwIfNoEntry: false })
  if (file?.isFile() !== true || file.size > LONGEST_OWNER) return false
  return file.size === 0 ? Date.now() - file.mtimeMs > 60_000 : stateOf(draft) === 'stale'
}

const LONGEST_OWNER = 256

/** Each level guards the breaking of the one before it; a level is needed only when a process died while breaking. */
const DEEPEST_GUARD = 4

function acquire(path: string, depth: number): FileLock | undefined {
  const mine = describeSelf()
  for (let attempt = 0; attempt < 3; attempt += 1) {
    // With its content from the first moment: another process would break an empty lock.
    if (makeWhole(path, mine)) return { release: () => releaseLock(path, mine) }
    if (!removeStale(path, depth)) return undefined
  }
  return undefined
}

/**
 * Removes the lock of a dead owner. True when the lock may be tried again. Only the holder of the guard may remove, and
 * it looks again once it has the guard: otherwise a process that found the old lock stale a moment ago would remove the
 * new lock of the process that was faster.
 */
function removeStale(path: string, depth: number): boolean {
  if (stateOf(path) === 'held') return false
  if (depth === DEEPEST_GUARD) return false
  const guard = acquire(`${path}.stale`, depth + 1)
  if (guard === undefined) return false
  try {
    const state = stateOf(path)
    // Gone: somebody may take it at this very moment, and removing would take it from them.
    if (state === 'stale') rmSync(path, { force: true })
    return state !== 'held'
  } finally {
    guard.release()
  }
}

function stateOf(path: string): 'held' | 'stale' | 'gone' {
  try {
    return isAlive(read(path)) ? 'held' : 'stale'
  } catch (error) {
    // What cannot be read (another user's lock, a link laid in its place) cannot be judged, so it stays.
    return isSystemError(error) && error.code === 'ENOENT' ? 'gone' : 'held'
  }
}

/** The boot and the pid namespace: a pid and its start time mean something only there. */
const PID_SPACE = pidSpace()
const SELF = `${process.pid} ${startTime(process.pid) ?? '-'} ${PID_SPACE}`

/** The number tells two locks of one process apart. */
function describeSelf(): string {
  return `${SELF} ${randomBytes(6).toString('hex')}`
}

function isAlive(owner: string): boolean {
  const [pid, started, space] = owner.split(' ')
  const number = Number(pid)
  if (!Number.isInteger(number) || number <= 0 || started === undefined || space === undefined) return false
  const [boot, namespace] = space.split('/')
  const [bootHere, namespaceHere] = PID_SPACE.split('/')
  if (boot !== bootHere) return false
  if (namespace !== namespaceHere) return true
  if (process.platform === 'linux') return startTime(number) === started
  try {
    process.kill(number, 0)
    return true
  } catch (error) {
    return isSystemError(error) && error.code === 'EPERM'
  }
}

/** When the process started, in clock ticks since the machine did. Undefined: not running, or no /proc here. */
function startTime(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The command name may hold spaces and parentheses; the fields count from the last one.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // A zombie has died already and only waits for its parent, which may never look.
    const state = fields[0]
    return state === 'Z' || state === 'X' ? undefined : fields[19]
  } catch {
    return undefined
  }
}

function pidSpace(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8)
    return `${boot}/${readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '')}`
  } catch {
    // Not Linux.
    return '-/-'
  }
}

function releaseLock(path: string, mine: string): void {
  try {
    if (read(path) === mine) unlinkSync(path)
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'ENOENT') throw error
  }
}

/** A link or pipe laid in the place of a lock must not make us hang. */
function read(path: string): string {
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  try {
    const buffer = Buffer.alloc(LONGEST_OWNER)
    return buffer.toString('utf8', 0, readSync(fd, buffer, 0, buffer.length, 0))
  } finally {
    closeSync(fd)
  }
}
