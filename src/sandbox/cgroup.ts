import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * One control group for everything that this Kogu starts. It is the kernel's own stop for a fork bomb where nothing else
 * holds (the limit on processes per user does not count for root), and gives all commands together no more than a fair
 * share of the processors, so that Kogu gets a turn to stop them. One for all, because to move a process into a group
 * takes the kernel up to 13 ms; the helper moves once. The count of a single command is kept by the watchdog.
 */
export interface Cgroup {
  /** A process that writes its id to each of these joins, with everything it starts from then on. */
  readonly procs: readonly string[]
  remove(): void
}

const PROCESSES = 1024

/** Undefined where we may not make one. */
export function createCgroup(): Cgroup | undefined {
  const name = `kogu-${process.pid}-${process.hrtime.bigint()}`
  const lines = readText('/proc/self/cgroup')
    .split('\n')
    .map(line => line.split(':'))
  const folder = firstOf(parents(lines, 'pids'), parent => makeGroup(join(parent, name), 'pids.max'))
  if (folder === undefined) return undefined
  // Version 2 has both in one tree; version 1 has a tree for the processors, whose shares are fair as they are.
  const share = firstOf(version1(lines, 'cpu'), parent => makeGroup(join(parent, name), undefined))
  const folders = share === undefined ? [folder] : [folder, share]
  return {
    procs: folders.map(path => join(path, 'cgroup.procs')),
    remove: () => folders.forEach(removeGroup),
  }
}

function firstOf<T>(
  candidates: readonly string[],
  attempt: (candidate: string) => T | undefined,
): T | undefined {
  for (const candidate of candidates) {
    const found = attempt(candidate)
    if (found !== undefined) return found
  }
  return undefined
}

function makeGroup(folder: string, limitFile: string | undefined): string | undefined {
  removeLeftOvers(dirname(folder))
  try {
    mkdirSync(folder)
  } catch {
    // Not ours to use, or no such kind of control group here.
    return undefined
  }
  try {
    if (limitFile !== undefined) writeFileSync(join(folder, limitFile), String(PROCESSES))
    return folder
  } catch {
    // The parent does not pass on the counting of processes.
    removeGroup(folder)
    return undefined
  }
}

function parents(lines: readonly string[][], controller: string): string[] {
  const version2 = lines
    .find(([, controllers]) => controllers === '')
    ?.slice(2)
    .join(':')
  if (version2 === undefined) return version1(lines, controller)
  // Beside our own first: a group of version 2 with processes in it cannot have limited children.
  const beside = [join('/sys/fs/cgroup', dirname(version2)), join('/sys/fs/cgroup', version2)]
  return [...version1(lines, controller), ...beside]
}

function version1(lines: readonly string[][], controller: string): string[] {
  const line = lines.find(([, controllers]) => controllers?.split(',').includes(controller))
  return line === undefined ? [] : [join('/sys/fs/cgroup', line[1] ?? '', line.slice(2).join(':'))]
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
