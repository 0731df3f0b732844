import { lstatSync, readdirSync, statfsSync } from 'node:fs'

export interface DiskLimits {
  readonly bytes: number
  readonly entries: number
}

const EVERY_MS = 250

/**
 * Ends a command that fills the disk, in any of the folders that it can write. The kernel has no limit for what lies below
 * a folder, so the free space of the disk is looked at, which costs nothing; only when much of it is gone, perhaps taken
 * by others, what lies in them is counted. Returns the function that ends the watch.
 */
export function watchDisk(roots: readonly string[], limits: DiskLimits, stop: () => void): () => void {
  const before = roots.map(freeOn)
  let looks = 0
  const timer = setInterval(() => {
    looks += 1
    const isSuspicious = roots.map(freeOn).some((now, index) => {
      const { bytes, entries } = before[index] ?? now
      return bytes - now.bytes > limits.bytes / 2 || entries - now.entries > limits.entries / 2
    })
    // Some file systems do not count entries.
    const isDue = before.some(({ entries }) => entries === 0) && looks % 8 === 0
    if ((isSuspicious || isDue) && exceeds(roots, limits)) stop()
  }, EVERY_MS)
  return () => clearInterval(timer)
}

function freeOn(path: string): DiskLimits {
  const { bavail, bsize, ffree } = statfsSync(path)
  return { bytes: bavail * bsize, entries: ffree }
}

/** All of them together. Stops counting as soon as it is too much. */
export function exceeds(roots: readonly string[], limits: DiskLimits): boolean {
  let bytes = 0
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
