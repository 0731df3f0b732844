import { readFileSync, readlinkSync, statfsSync, statSync } from 'node:fs'
import { namesIn } from '../../core/names-in.ts'
import type { Started } from '../processes/spawner.ts'
import type { GroupLimit, GroupLimits } from './cgroup.ts'

const EVERY_MS = 100
const PAGE_BYTES = 4096

/**
 * Looks after a program and all it started: whether it ran into a limit that the kernel keeps, and whether it exceeds
 * one that the kernel does not keep here. Returns the function that ends it.
 */
export function watchTree(
  program: Pick<Started, 'pid' | 'exceeded'>,
  limits: GroupLimits,
  { stop, keeps }: { stop: (limit: GroupLimit) => void; keeps: (limit: GroupLimit) => boolean },
): () => void {
  const unkept = { processes: !keeps('processes'), memory: !keeps('memory') }
  const timer = setInterval(() => {
    const reached = program.exceeded()
    if (reached !== null) return stop(reached)
    if (!unkept.processes && !unkept.memory) return
    const pids = descendantsOf(program.pid, limits.processes)
    if (unkept.processes && pids.length > limits.processes) stop('processes')
    else if (unkept.memory && memoryOf(pids, limits.memoryBytes) > limits.memoryBytes) stop('memory')
  }, EVERY_MS)
  return () => clearInterval(timer)
}

/** A process and all that came from it. Stops looking once there are too many: a fork bomb must not keep us busy. */
export function descendantsOf(root: number, limit: number): number[] {
  const found = [root]
  for (let index = 0; index < found.length && found.length <= limit; index += 1) {
    const pid = found[index]
    // Each thread has children of its own.
    const children = namesIn(`/proc/${pid}/task`).map(thread => read(`/proc/${pid}/task/${thread}/children`))
    found.push(
      ...children.flatMap(list =>
        list
          .split(' ')
          .filter(child => child !== '')
          .map(Number),
      ),
    )
  }
  return found
}

/**
 * Upper bounds first, which are cheap; the exact share (memory shared after a fork counts once) only above them. With it,
 * what lies in the sandbox's file systems in memory and in its sockets, which belongs to no process.
 */
function memoryOf(pids: readonly number[], limit: number): number {
  const unowned = bytesInFiles(pids.at(-1)) + bytesInSockets(pids.at(-1))
  for (const measure of [residentBytes, ownBytes]) {
    const upperBound = unowned + sum(pids, measure)
    if (upperBound <= limit) return upperBound
  }
  return unowned + sum(pids, proportionalBytes)
}

export function residentBytes(pid: number): number {
  return Number(read(`/proc/${pid}/statm`).split(' ')[1] ?? 0) * PAGE_BYTES
}

/** Without mapped files, which the kernel can take back. Memory that processes share is in no file that it could. */
function ownBytes(pid: number): number {
  return kilobytes(read(`/proc/${pid}/status`), ['RssAnon', 'RssShmem'])
}

function proportionalBytes(pid: number): number {
  const text = read(`/proc/${pid}/smaps_rollup`)
  if (text === '') return ownBytes(pid)
  // Kernels before 5.4 do not tell the kinds apart.
  return kilobytes(text, text.includes('Pss_Anon') ? ['Pss_Anon', 'Pss_Shmem'] : ['Pss'])
}

function kilobytes(text: string, names: readonly string[]): number {
  const values = names.map(name => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0))
  return values.reduce((total, value) => total + value * 1024, 0)
}

/** As seen by one process of the command. Mapped ones count twice: better than not at all. */
function bytesInFiles(pid: number | undefined): number {
  return IN_MEMORY.reduce((total, folder) => {
    try {
      const path = `/proc/${pid}/root${folder}`
      // Before bubblewrap has put up its walls, these are still the host's.
      if (statSync(path).dev === statSync(folder).dev) return total
      const { type, blocks, bfree, bsize } = statfsSync(path)
      return type === TMPFS ? total + (blocks - bfree) * bsize : total
    } catch {
      // It ended while we looked, or the folder is not there. What it can hold is limited by its size.
      return total
    }
  }, 0)
}

const IN_MEMORY = ['/dev/shm', '/var/tmp']
const TMPFS = 0x01021994

/**
 * As seen by one process of the command, whose network is its own. Nothing tells what a Unix socket holds, so each socket
 * counts with what it may hold. Buffers of TCP grow beyond that by themselves and are counted by their content.
 */
function bytesInSockets(pid: number | undefined): number {
  const network = linkOf(`/proc/${pid}/ns/net`)
  if (network === '' || network === linkOf('/proc/self/ns/net')) return 0
  const counts = read(`/proc/${pid}/net/sockstat`) + read(`/proc/${pid}/net/sockstat6`)
  const count = Number(/^sockets: used (\d+)/m.exec(counts)?.[1] ?? 0)
  // The kernel goes through a table of the whole machine for these, which takes milliseconds.
  const queued = [...counts.matchAll(/^(TCP6?): inuse [1-9]/gm)].flatMap(([, name = '']) => [
    ...read(`/proc/${pid}/net/${name.toLowerCase()}`).matchAll(QUEUES),
  ])
  const bytes = queued.map(([, sent, received]) => Number(`0x${sent}`) + Number(`0x${received}`))
  return count * SOCKET_BYTES + bytes.reduce((total, value) => total + value, 0)
}

const QUEUES = / ([0-9A-F]{8}):([0-9A-F]{8}) 0[0-9A-F]:/g

/** The default of both buffers where the system names none. */
const SOCKET_BYTES = Number(read('/proc/sys/net/core/wmem_default')) || 212_992

function sum(pids: readonly number[], measure: (pid: number) => number): number {
  return pids.reduce((total, pid) => total + measure(pid), 0)
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    // It ended while we looked.
    return ''
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // It ended while we looked.
    return ''
  }
}
