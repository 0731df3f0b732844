import { lstatSync, readdirSync, statfsSync } from 'node:fs'

export interface DiskLimits {
  readonly bytes: number
  readonly entries: number
}

const EVERY_MS = 250

/**
 * Ends a command that fills the disk. The kernel has no limit for what lies below a folder, so the free space of the disk
 * is looked at, which costs nothing; only when much of it is gone, perhaps taken by others, the layer itself is counted.
 * Returns the function that ends the watch.
 */
export function watchDisk(upper: string, limits: DiskLimits, stop: () => void): () => void {
  const before = freeOn(upper)
  let looks = 0
  const timer = setInterval(() => {
    looks += 1
    const now = freeOn(upper)
    const isSuspicious =
      before.bytes - now.bytes > limits.bytes / 2 || before.entries - now.entries > limits.entries / 2
    // Some file systems do not count entries.
    const isDue = before.entries === 0 && looks % 8 === 0
    if ((isSuspicious || isDue) && exceeds(upper, limits)) stop()
  }, EVERY_MS)
  return () => clearInterval(timer)
}

function freeOn(path: string): DiskLimits {
  const { bavail, bsize, ffree } = statfsSync(path)
  return { bytes: bavail * bsize, entries: ffree }
}

/** Stops counting as soon as it is too much. */
export function exceeds(root: string, limits: DiskLimits): boolean {
  let bytes = 0
  let entries = 0
  const folders = [Buffer.from(root)]
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
