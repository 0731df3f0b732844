import { randomBytes } from 'node:crypto'
import { constants, lstatSync, readdirSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { isSystemError, ToolError } from '../../core/errors.ts'
import { makeFolders } from '../../core/make-folders.ts'

/**
 * A segment's id is when it was started and a random number, so that ids sort by time. One that continues another sorts after
 * it also when both were started within a millisecond, or the clock was set back.
 */
export function newSegmentId(at: string, after?: string): string {
  const id = `${toCompactTime(at)}-${randomBytes(4).toString('hex')}`
  if (after === undefined || id > after) return id
  const [time = '', number = ''] = after.split('-')
  return `${time}-${(Number.parseInt(number, 16) + 1).toString(16).padStart(8, '0')}`
}

/** `2026-11-15T21:25:23.123Z` → `20261115T212523123Z`, as in segment ids. */
export function toCompactTime(at: string): string {
  return at.replaceAll(/[-:.]/g, '')
}

export function segmentPath(directory: string, id: string): string {
  return join(directory, `${id}.jsonl`)
}

const FILE = /^(\d{8}T\d{9}Z-[0-9a-f]{8})\.jsonl$/

/** Ids of all segments, the oldest first. A folder that does not exist has none. */
export function listSegments(directory: string): string[] {
  try {
    const ids = readdirSync(directory).map(name => FILE.exec(name)?.[1])
    return ids.filter(id => id !== undefined).sort()
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return []
    throw error
  }
}

/** A cloned repository could bring a link in the place of the folder, and make us write into whatever it leads to. */
export function ensureOwnFolder(directory: string): void {
  makeFolders(directory)
  if (!lstatSync(directory).isDirectory()) {
    throw new ToolError('failed', `The audit folder is a symlink: ${directory}`, { hint: 'Remove the link.' })
  }
}

/** Flags that keep a link or a pipe with the name of a segment from being followed or waited for. */
export const PLAIN_FILE = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

const CHUNK = 1024 * 1024
const SMALLEST_CHUNK = 8 * 1024

/** Complete lines in batches, without their line feeds; at the end returns what follows the last line feed. */
export async function* readForward(path: string): AsyncGenerator<Buffer[], Buffer> {
  const file = await openPlainFile(path)
  try {
    let rest: Buffer[] = []
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK)
      const { bytesRead } = await file.read(chunk, 0, CHUNK, null)
      if (bytesRead === 0) return Buffer.concat(rest)
      const data = chunk.subarray(0, bytesRead)
      const end = data.lastIndexOf(10) + 1
      // A line longer than the chunk is collected in pieces and joined once.
      if (end > 0) yield splitLines(Buffer.concat([...rest, data.subarray(0, end)]))
      rest = end > 0 ? [data.subarray(end)] : [...rest, data]
    }
  } finally {
    await file.close()
  }
}

/** Complete lines in batches, the last line first. What follows the last line feed is left out. */
export async function* readBackward(path: string): AsyncGenerator<Buffer[]> {
  const file = await openPlainFile(path)
  try {
    let position = (await file.stat()).size
    let size = SMALLEST_CHUNK
    // The beginning of the line that the next chunk completes; before the first line feed from the end, nothing.
    let rest: Buffer | undefined
    while (position > 0) {
      const length = Math.min(size, position)
      const chunk = Buffer.allocUnsafe(length)
      const { bytesRead } = await file.read(chunk, 0, length, position - length)
      if (bytesRead < length) return
      position -= length
      size = Math.min(size * 4, CHUNK * 16)
      const data =
        rest === undefined ? chunk.subarray(0, chunk.lastIndexOf(10) + 1) : Buffer.concat([chunk, rest])
      if (data.length === 0) continue
      const start = position === 0 ? 0 : data.indexOf(10) + 1
      rest = data.subarray(0, start)
      const lines = splitLines(data.subarray(start))
      if (lines.length > 0) yield lines.reverse()
    }
  } finally {
    await file.close()
  }
}

/** `data` ends with a line feed, or is empty. */
export function splitLines(data: Buffer): Buffer[] {
  const lines: Buffer[] = []
  for (let start = 0; start < data.length; ) {
    const end = data.indexOf(10, start)
    lines.push(data.subarray(start, end))
    start = end + 1
  }
  return lines
}

async function openPlainFile(path: string): Promise<FileHandle> {
  const file = await open(path, constants.O_RDONLY | PLAIN_FILE)
  if ((await file.stat()).isFile()) return file
  await file.close()
  throw new ToolError('failed', `Not a regular file: ${path}`)
}
