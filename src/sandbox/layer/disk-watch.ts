import { lstatSync, readdirSync, readFileSync, statfsSync, statSync } from 'node:fs'
import { namesIn } from '../../core/names-in.ts'
import { descendantsOf } from '../walls/watchdog.ts'

export interface DiskLimits {
  readonly bytes: number
  readonly entries: number
}

const EVERY_MS = 250

/**
 * Ends a command that fills the disk, in any of the folders that it can write. The kernel has no limit for what lies below
 * a folder, so the free space of the disk is looked at, which costs nothing; only when much of it is gone, perhaps taken
 * by others, what lies in them is counted, and what lies in no folder any more and is still open. Returns the function that
 * ends the watch.
 */
export function watchDisk(
  roots: readonly string[],
  limits: DiskLimits,
  { pid, stop }: { pid: () => number | undefined; stop: () => void },
): () => void {
  const before = roots.map(freeOn)
  let looks = 0
  const timer = setInterval(() => {
    looks += 1
    const isSuspicious = roots.map(freeOn).some((now, index) => {
      const { bytes, entries } = before[index] ?? now
      return bytes - now.bytes > limits.bytes / 2 || entries - now.entries > limits.entries / 2
    })
    // Some file systems do not count entries, and others may have made room meanwhile.
    const isDue = looks % 8 === 0
    const open = isSuspicious || isDue ? unlinkedBytes(pid()) : 0
    const isCounted = isSuspicious || (isDue && before.some(({ entries }) => entries === 0))
    if (open > limits.bytes || (isCounted && exceeds(roots, limits, open))) stop()
  }, EVERY_MS)
  return () => clearInterval(timer)
}

function freeOn(path: string): DiskLimits {
  const { bavail, bsize, ffree } = statfsSync(path)
  return { bytes: bavail * bsize, entries: ffree }
}

/** All of them together. Stops counting as soon as it is too much. `elsewhere`: what is known already. */
export function exceeds(roots: readonly string[], limits: DiskLimits, elsewhere = 0): boolean {
  let bytes = elsewhere
  let entries = 0
  const folders = roots.map(root => Buffer.from(root))
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of entriesOf(folder)) {
      const path = Buffer.concat([folder, Buffer.from('/'), entry.name])
      if (entry.isDirectory()) folders.push(path)
      else bytes += (lstatSync(path, { throwIfNoEntry: false })?.blocks ?? 0) * 512
      entries += 1
      if (bytes > limits.bytes || entries > limits.entries) return true
    }
  }
  return false
}

function entriesOf(folder: Buffer) {
  try {
    return readdirSync(folder, { withFileTypes: true, encoding: 'buffer' })
  } catch {
    // Gone meanwhile, or not for us to read: the command's own business.
    return []
  }
}

const MOST_PROCESSES = 2000
const TMPFS = 0x01021994

/** Files that have no name any more take their space as long as a process of the command has them open or mapped. */
function unlinkedBytes(pid: number | undefined): number {
  if (pid === undefined) return 0
  const files = new Map<string, number>()
  for (const process of descendantsOf(pid, MOST_PROCESSES)) {
    for (const descriptor of namesIn(`/proc/${process}/fd`)) {
      const path = `/proc/${process}/fd/${descriptor}`
      try {
        const stat = statSync(path)
        // What lies in memory has a limit of its own.
        if (!stat.isFile() || stat.nlink > 0 || statfsSync(path).type === TMPFS) continue
        files.set(`${stat.ino}`, stat.blocks * 512)
      } catch {
        // It was closed while we looked.
      }
    }
    for (const [inode, bytes] of mappedOf(process)) if (!files.has(inode)) files.set(inode, bytes)
  }
  return [...files.values()].reduce((total, bytes) => total + bytes, 0)
}

/** Of these only the length is known; nothing that lies in memory. */
function mappedOf(process: number): [inode: string, bytes: number][] {
  try {
    const lines = readFileSync(`/proc/${process}/maps`, 'utf8').matchAll(MAPPED)
    return [...lines].map(([, start = '', end = '', inode = '']) => [
      inode,
      Number.parseInt(end, 16) - Number.parseInt(start, 16),
    ])
  } catch {
    // It ended while we looked.
    return []
  }
}

const MAPPED =
  /^([0-9a-f]+)-([0-9a-f]+) \S+ \S+ \S+ (\d+) +(?!\/(?:dev\/shm|tmp|var\/tmp|memfd:|SYSV))\/.* \(deleted\)$/gm
