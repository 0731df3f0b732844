import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * One control group for everything that this Kogu starts: the kernel's own stop for a fork bomb, where nothing else
 * holds (the limit on processes per user does not count for root). One for all, because to move a process into a group
 * takes the kernel up to 13 ms; the helper moves once. The count of a single command is kept by the watchdog.
 */
export interface Cgroup {
  /** A process that writes its id here joins, with everything it starts from then on. */
  readonly procs: string
  remove(): void
}

const PROCESSES = 1024

/** Undefined where we may not make one. */
export function createCgroup(): Cgroup | undefined {
  for (const parent of parents()) {
    removeLeftOvers(parent)
    const folder = join(parent, `kogu-${process.pid}-${process.hrtime.bigint()}`)
    try {
      mkdirSync(folder)
    } catch {
      // Not ours to use, or no such kind of control group here.
      continue
    }
    const remove = (): void => removeGroup(folder)
    try {
      writeFileSync(join(folder, 'pids.max'), String(PROCESSES))
      return { procs: join(folder, 'cgroup.procs'), remove }
    } catch {
      // The parent does not pass on the counting of processes.
      remove()
    }
  }
  return undefined
}

/** Version 2 allows groups beside our own only (one with processes in it cannot have limited children). */
function parents(): string[] {
  const lines = readText('/proc/self/cgroup').split('\n')
  const own = (controllers: string): string | undefined =>
    lines
      .find(line => line.split(':')[1] === controllers)
      ?.split(':')
      .slice(2)
      .join(':')
  const version1 = own('pids')
  const version2 = own('')
  return [
    ...(version1 === undefined ? [] : [join('/sys/fs/cgroup/pids', version1)]),
    ...(version2 === undefined
      ? []
      : [join('/sys/fs/cgroup', dirname(version2)), join('/sys/fs/cgroup', version2)]),
  ]
}

/** Groups of a Kogu that was killed. One that is in use cannot be removed, so trying is harmless. */
function removeLeftOvers(parent: string): void {
  for (const name of existsSync(parent) ? readdirSync(parent) : []) {
    const pid = /^kogu-(\d+)-\d+$/.exec(name)?.[1]
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) removeGroup(join(parent, name))
  }
}

function removeGroup(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // Still in use; the next Kogu removes it.
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // No control groups on this system.
    return ''
  }
}
