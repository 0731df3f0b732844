import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { isSystemError, ToolError } from '../core/errors.ts'
import { sha256 } from './file-content.ts'
import {
  type Change,
  type RecordHeader,
  type RecordLine,
  type StorePlaces,
  storedName,
} from './undo-record.ts'

/** A record read back. */
export interface SavedRecord {
  readonly path: string
  readonly header: RecordHeader
  /** In the order in which they were made. */
  readonly changes: readonly Change[]
  readonly temporaries: readonly { path: string; movedFrom?: string }[]
  /** Where the kept contents are in the file: hash → line. */
  readonly objects: ReadonlyMap<string, { start: number; length: number }>
}

const OBJECT_LINE = '{"object":"'
const HASH_LENGTH = 64
const CHUNK = 4 * 1024 * 1024

/** Paths of all complete records, the newest first. */
export function listRecords(places: StorePlaces): string[] {
  const names = readdirSync(places.calls).filter(name => name.endsWith('.jsonl'))
  return names
    .sort()
    .reverse()
    .map(name => join(places.calls, name))
}

/** The header only: enough to choose by call or run. Undefined when the record went meanwhile or is damaged. */
export function readHeader(path: string): RecordHeader | undefined {
  for (const { text } of linesOf(path, 4096)) {
    const line = parseLine(text)
    return line !== undefined && 'header' in line ? line.header : undefined
  }
  return undefined
}

/** Contents stay on the disk until they are asked for. A record that was cut short gives what it has. */
export function readRecord(path: string): SavedRecord | undefined {
  let header: RecordHeader | undefined
  let done: Set<number> | undefined
  const changes: Change[] = []
  const temporaries: { path: string; movedFrom?: string }[] = []
  const objects = new Map<string, { start: number; length: number }>()
  for (const { text, start, length } of linesOf(path, CHUNK)) {
    if (text.startsWith(OBJECT_LINE)) {
      objects.set(text.slice(OBJECT_LINE.length, OBJECT_LINE.length + HASH_LENGTH), { start, length })
      continue
    }
    const line = parseLine(text)
    if (line === undefined) continue
    if ('header' in line) header = line.header
    else if ('change' in line) changes.push(line.change)
    else if ('temporary' in line) {
      temporaries.push({
        path: line.temporary,
        ...(line.movedFrom === undefined ? {} : { movedFrom: line.movedFrom }),
      })
    } else if ('done' in line) done = new Set(line.done)
  }
  if (header === undefined) return undefined
  const made = done === undefined ? changes : changes.filter((_, index) => done.has(index))
  return { path, header, changes: made, temporaries, objects }
}

/** Kept bytes, by their hash and checked against it. */
export function readKept(places: StorePlaces, record: SavedRecord, hash: string): Buffer {
  const reader = createKeptReader(places)
  try {
    return reader.read(record, hash)
  } finally {
    reader.close()
  }
}

/** Reads many contents; keeps the file of the last record open. */
export interface KeptReader {
  read(record: SavedRecord, hash: string): Buffer
  close(): void
}

export function createKeptReader(places: StorePlaces): KeptReader {
  let open: { path: string; descriptor: number } | undefined
  const close = (): void => {
    if (open !== undefined) closeSync(open.descriptor)
    open = undefined
  }
  const descriptorOf = (path: string): number => {
    if (open?.path !== path) {
      close()
      open = { path, descriptor: openSync(path, 'r') }
    }
    return open.descriptor
  }
  return {
    close,
    read(record, hash) {
      const place = record.objects.get(hash)
      const bytes =
        place === undefined
          ? (readFile(places, record, hash, true) ?? readFile(places, record, hash, false))
          : readObject(descriptorOf(record.path), place)
      return verified(bytes, hash)
    },
  }
}

function verified(bytes: Buffer | undefined, hash: string): Buffer {
  if (bytes === undefined) {
    throw new ToolError('failed', `A content is not in the undo store any more (${hash.slice(0, 12)}).`)
  }
  // What is kept as a second name of a file can be changed by a program that still has the file open.
  if (sha256(bytes) !== hash) {
    throw new ToolError(
      'failed',
      `The undo store holds a damaged copy (${hash.slice(0, 12)}), which is not used.`,
    )
  }
  return bytes
}

function readObject(descriptor: number, place: { start: number; length: number }): Buffer | undefined {
  const buffer = Buffer.allocUnsafe(place.length)
  readSync(descriptor, buffer, 0, place.length, place.start)
  const line = parseLine(buffer.toString('latin1'))
  if (line === undefined || !('object' in line)) return undefined
  return 'zstd' in line
    ? zstdDecompressSync(Buffer.from(line.zstd, 'base64'))
    : Buffer.from(line.raw, 'base64')
}

function readFile(
  places: StorePlaces,
  record: SavedRecord,
  hash: string,
  packed: boolean,
): Buffer | undefined {
  try {
    const bytes = readFileSync(join(places.files, record.header.id, storedName(hash, packed)))
    return packed ? zstdDecompressSync(bytes) : bytes
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return undefined
    throw error
  }
}

function parseLine(text: string): RecordLine | undefined {
  try {
    // Our own file, in a folder that no tool may write to.
    return JSON.parse(text) as RecordLine
  } catch {
    // The last line of a record that was cut short by a kill.
    return undefined
  }
}

/** Positions are in bytes. A last line without its end is left out. */
function* linesOf(path: string, chunk: number): Generator<{ text: string; start: number; length: number }> {
  let descriptor: number
  try {
    descriptor = openSync(path, 'r')
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return
    throw error
  }
  try {
    let rest = Buffer.alloc(0)
    let start = 0
    for (;;) {
      const buffer = Buffer.allocUnsafe(chunk)
      const count = readSync(descriptor, buffer, 0, chunk, start + rest.length)
      if (count === 0) return
      rest = rest.length === 0 ? buffer.subarray(0, count) : Buffer.concat([rest, buffer.subarray(0, count)])
      let from = 0
      for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10, from)) {
        yield { text: rest.toString('utf8', from, end), start: start + from, length: end - from }
        from = end + 1
      }
      start += from
      rest = rest.subarray(from)
    }
  } finally {
    closeSync(descriptor)
  }
}
