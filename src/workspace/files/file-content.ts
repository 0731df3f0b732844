import { createHash, hash } from 'node:crypto'
import * as fs from 'node:fs'
import { promisify } from 'node:util'

// A round trip through the thread pool costs more than reading or writing a small file; a large one must not stop
// everything else that the process does.

const readAsync = promisify(fs.read)
const writeAsync = promisify(fs.write)
const syncAsync = promisify(fs.fsync)

const SMALL = 256 * 1024
const CHUNK = 1024 * 1024
/** Only ever used between two awaits. */
const SCRATCH = Buffer.allocUnsafe(64 * 1024)

export function sha256(bytes: Uint8Array | string): string {
  return hash('sha256', bytes)
}

/** All bytes of an open file, as they are now (it may have grown or shrunk since `size` was taken). */
export async function readAll(descriptor: number, size: number): Promise<Uint8Array> {
  let buffer = Buffer.allocUnsafe(size + 1)
  let length = 0
  for (;;) {
    const wanted =
      buffer.length <= SMALL ? buffer.length - length : Math.min(CHUNK * 8, buffer.length - length)
    const count =
      buffer.length <= SMALL
        ? fs.readSync(descriptor, buffer, length, wanted, length)
        : (await readAsync(descriptor, buffer, length, wanted, length)).bytesRead
    length += count
    // Of a regular file, less than was wanted means that there is no more.
    if (count < wanted) return buffer.subarray(0, length)
    if (length === buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(Math.max(4096, length))])
  }
}

export async function readPart(descriptor: number, position: number, length: number): Promise<Uint8Array> {
  const buffer = Buffer.allocUnsafe(length)
  let done = 0
  while (done < length) {
    const count =
      length <= SMALL
        ? fs.readSync(descriptor, buffer, done, length - done, position + done)
        : (await readAsync(descriptor, buffer, done, length - done, position + done)).bytesRead
    if (count === 0) break
    done += count
  }
  return buffer.subarray(0, done)
}

export async function writeAll(descriptor: number, bytes: Uint8Array): Promise<void> {
  let done = 0
  while (done < bytes.length) {
    done +=
      bytes.length <= SMALL
        ? fs.writeSync(descriptor, bytes, done, bytes.length - done, done)
        : (await writeAsync(descriptor, bytes, done, Math.min(CHUNK * 8, bytes.length - done), done))
            .bytesWritten
  }
}

export async function syncFile(descriptor: number, size: number): Promise<void> {
  if (size <= SMALL) fs.fsyncSync(descriptor)
  else await syncAsync(descriptor)
}

/** Whether an open file holds just these bytes. */
export async function holds(descriptor: number, bytes: Uint8Array): Promise<boolean> {
  const buffer = bytes.length < SCRATCH.length ? SCRATCH : Buffer.allocUnsafe(CHUNK)
  let done = 0
  for (;;) {
    const count =
      buffer === SCRATCH
        ? fs.readSync(descriptor, buffer, 0, buffer.length, done)
        : (await readAsync(descriptor, buffer, 0, buffer.length, done)).bytesRead
    if (count === 0) return done === bytes.length
    if (!buffer.subarray(0, count).equals(bytes.subarray(done, done + count))) return false
    done += count
    // Of a regular file, less than was wanted means that there is no more.
    if (count < buffer.length) return done === bytes.length
  }
}

/** Hash and size of an open file without holding it in memory. */
export async function hashFile(
  descriptor: number,
  expected: number,
): Promise<{ sha256: string; size: number }> {
  if (expected < SCRATCH.length) {
    const count = fs.readSync(descriptor, SCRATCH, 0, SCRATCH.length, 0)
    if (count < SCRATCH.length) return { sha256: sha256(SCRATCH.subarray(0, count)), size: count }
  }
  const digest = createHash('sha256')
  const buffer = Buffer.allocUnsafe(CHUNK)
  let size = 0
  for (;;) {
    const { bytesRead } = await readAsync(descriptor, buffer, 0, CHUNK, size)
    if (bytesRead === 0) return { sha256: digest.digest('hex'), size }
    digest.update(buffer.subarray(0, bytesRead))
    size += bytesRead
  }
}
