import { closeSync, linkSync, openSync, readFileSync, renameSync, unlinkSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isSystemError } from './errors.ts'

/** Whoever holds the lock calls `release`. */
export interface FileLock {
  release(): void
}

/**
 * Takes an exclusive lock between processes, or returns undefined when a living process has it. The file names its
 * owner by pid and start time, so that the lock of a process that died (or whose pid was given to another) is broken.
 */
export function tryLock(path: string): FileLock | undefined {
  const mine = `${process.pid} ${startTime(process.pid) ?? ''}`
  // The content must be there the moment the lock exists, or another process would see an empty lock and break it:
  // written aside, then hard-linked into place, which fails when the name exists.
  const draft = `${path}.${process.pid}.${uniqueNumber()}`
  writeNew(draft, mine)
  try {
    for (let attempt = 0; attempt < 3; attempt += 1) {
      try {
        linkSync(draft, path)
        return { release: () => releaseLock(path, mine) }
      } catch (error) {
        if (!isSystemError(error) || error.code !== 'EEXIST') throw error
      }
      if (!breakStale(path)) return undefined
    }
    return undefined
  } finally {
    unlinkSync(draft)
  }
}

/** Waits for the lock; gives up after `timeoutMs` and returns undefined. */
export async function waitForLock(path: string, timeoutMs: number): Promise<FileLock | undefined> {
  const deadline = Date.now() + timeoutMs
  for (let pause = 1; ; pause = Math.min(pause * 2, 50)) {
    const lock = tryLock(path)
    if (lock !== undefined) return lock
    if (Date.now() > deadline) return undefined
    await sleep(pause)
  }
}

/** Removes the lock of a dead owner. True when the lock may be tried again. */
function breakStale(path: string): boolean {
  const owner = read(path)
  if (owner === undefined) return true
  if (isAlive(owner)) return false
  // Renamed first: of two processes that both found it stale, one gets it; if it took a fresh lock by mistake, it puts
  // it back.
  const aside = `${path}.stale.${process.pid}.${uniqueNumber()}`
  try {
    renameSync(path, aside)
  } catch {
    // Somebody else was faster.
    return true
  }
  const taken = read(aside)
  if (taken !== owner) {
    try {
      linkSync(aside, path)
    } catch {
      // The name is taken again; its new owner stays.
    }
  }
  unlinkSync(aside)
  return true
}

function isAlive(owner: string): boolean {
  const [pid, started] = owner.split(' ')
  const number = Number(pid)
  if (!Number.isInteger(number) || number <= 0) return false
  const now = startTime(number)
  if (now !== undefined) return started === undefined || started === '' || now === started
  if (process.platform === 'linux') return false
  try {
    process.kill(number, 0)
    return true
  } catch (error) {
    return isSystemError(error) && error.code === 'EPERM'
  }
}

/** Field 22 of /proc/PID/stat: when the process started, in clock ticks since boot. */
function startTime(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The command name may hold spaces and parentheses; the fields count from the last one.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    // No such process, or no /proc on this system.
    return undefined
  }
}

function releaseLock(path: string, mine: string): void {
  if (read(path) === mine) unlinkSync(path)
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // Gone: nobody holds it.
    return undefined
  }
}

function writeNew(path: string, text: string): void {
  const fd = openSync(path, 'wx', 0o600)
  writeSync(fd, text)
  closeSync(fd)
}

const counter = { value: 0 }

function uniqueNumber(): number {
  counter.value += 1
  return counter.value
}
