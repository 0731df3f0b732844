import { closeSync, lstatSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { isSystemError, ToolError } from '../../core/errors.ts'
import { sha256 } from '../files/file-content.ts'
import {
  type Change,
  type RecordHeader,
  type RecordLine,
  type StorePlaces,
  storedName,
} from './undo-record.ts'

/** Where a record begins in a file of records. */
export interface RecordPlace {
  readonly path: string
  readonly start: number
}

/** A record read back. */
export interface SavedRecord extends RecordPlace {
  readonly header: RecordHeader
  /** False when its process was killed before all changes were made, or is still making them. */
  readonly isDone: boolean
  /** False when only some of the changes that it announced were made. */
  readonly isWhole: boolean
  /** In the order in which they were made. */
  readonly changes: readonly Change[]
  readonly temporaries: readonly { path: string; movedFrom?: string }[]
  readonly opened: readonly { path: string; mode: number }[]
  /** What the changes left in the index of repositories: path → digest of its entries. */
  readonly gitIndexes: ReadonlyMap<string, string>
  /** Where the kept contents are in the file: hash → line. */
  readonly objects: ReadonlyMap<string, { start: number; length: number }>
  /** The files that were set aside: hash → those that have it. */
  readonly setAside: ReadonlyMap<string, readonly AsideFile[]>
}

interface AsideFile {
  readonly number: number
  /** Where it was. */
  readonly path: string
  readonly size: number
}

const HEADER_LINE = Buffer.from('{"header":')
const OBJECT_LINE = Buffer.from('{"object":"')
const DONE_LINE = Buffer.from('{"done":')
const HASH_LENGTH = 64
const CHUNK = 4 * 1024 * 1024

/** All records that are done, the newest first. */
export function listRecords(places: StorePlaces): (RecordPlace & { header: RecordHeader })[] {
  return recordFiles(places)
    .flatMap(path => headersIn(path).filter(each => each.isDone))
    .sort((a, b) => (a.header.id < b.header.id ? 1 : -1))
}

export function recordFiles(places: StorePlaces): string[] {
  // In the order in which a file moves: one that moves meanwhile is not missed.
  return [places.pending, places.calls].flatMap(folder =>
    readdirSync(folder).flatMap(name => (name.endsWith('.jsonl') ? [join(folder, name)] : [])),
  )
}

/** The records in a file, in their order. None when the file went meanwhile. */
export function headersIn(path: string): (RecordPlace & { header: RecordHeader; isDone: boolean })[] {
  const found: (RecordPlace & { header: RecordHeader; isDone: boolean })[] = []
  for (const { bytes, start } of linesOf(path, 0)) {
    if (beginsWith(bytes, HEADER_LINE)) {
      const line = parseLine(bytes)
      if (line !== undefined && 'header' in line) {
        found.push({ path, start, header: line.header, isDone: false })
      }
    } else if (beginsWith(bytes, DONE_LINE)) {
      const last = found.at(-1)
      if (last !== undefined) found[found.length - 1] = { ...last, isDone: true }
    }
  }
  return found
}

/** Contents stay on the disk until they are asked for. A record that was cut short gives what it has. */
export function readRecord({ path, start: from }: RecordPlace): SavedRecord | undefined {
  let header: RecordHeader | undefined
  let done: 'all' | Set<number> | undefined
  const changes: Change[] = []
  const temporaries: { path: string; movedFrom?: string }[] = []
  const opened: { path: string; mode: number }[] = []
  const gitIndexes = new Map<string, string>()
  const objects = new Map<string, { start: number; length: number }>()
  for (const { bytes, start } of linesOf(path, from)) {
    if (beginsWith(bytes, OBJECT_LINE)) {
      const hash = bytes.toString('latin1', OBJECT_LINE.length, OBJECT_LINE.length + HASH_LENGTH)
      objects.set(hash, { start, length: bytes.length })
      continue
    }
    const line = parseLine(bytes)
    if (line === undefined) continue
    if ('header' in line) {
      if (header !== undefined) break
      header = line.header
    } else if ('change' in line) changes.push(line.change)
    else if ('instead' in line) changes[changes.length - 1] = line.instead
    else if ('temporary' in line) {
      temporaries.push({
        path: line.temporary,
        ...(line.movedFrom === undefined ? {} : { movedFrom: line.movedFrom }),
      })
    } else if ('opened' in line) opened.push({ path: line.opened, mode: line.mode })
    else if ('gitIndex' in line) gitIndexes.set(line.path, line.gitIndex)
    else if ('done' in line) done = line.done === 'all' ? 'all' : new Set(line.done)
  }
  if (header === undefined) return undefined
  const made = changes.filter((_, index) => done === undefined || done === 'all' || done.has(index))
  const setAside = findSetAside(made)
  return {
    path,
    start: from,
    header,
    isDone: done !== undefined,
    isWhole: made.length === changes.length,
    changes: made,
    temporaries,
    opened,
    gitIndexes,
    objects,
    setAside,
  }
}

function findSetAside(changes: readonly Change[]): Map<string, AsideFile[]> {
  const found = new Map<string, AsideFile[]>()
  for (const { path, before, content } of changes) {
    if (typeof content !== 'object' || !('setAside' in content) || before?.sha256 === undefined) continue
    const same = found.get(before.sha256) ?? []
    same.push({ number: content.setAside, path, size: before.size })
    found.set(before.sha256, same)
  }
  return found
}

export function asidePath(places: StorePlaces, { header }: SavedRecord, number: number): string {
  return join(places.files, header.id, String(number))
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
      open = { path, descriptor: openRecords(path) }
    }
    return open.descriptor
  }
  return {
    close,
    read(record, hash) {
      const place = record.objects.get(hash)
      const bytes =
        place === undefined ? readFile(places, record, hash) : readObject(descriptorOf(record.path), place)
      return verified(bytes, hash)
    },
  }
}

function verified(bytes: Buffer | undefined, hash: string): Buffer {
  if (bytes === undefined) {
    throw new ToolError('failed', `This content is no longer in the undo store (${hash.slice(0, 12)}).`)
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
  const line = parseLine(buffer)
  if (line === undefined || !('object' in line)) return undefined
  return 'zstd' in line
    ? zstdDecompressSync(Buffer.from(line.zstd, 'base64'))
    : Buffer.from(line.raw, 'base64')
}

/** What was set aside may be back at its place by now, and is the same file there. */
function readFile(places: StorePlaces, record: SavedRecord, hash: string): Buffer | undefined {
  const stored = (name: string): string => join(places.files, record.header.id, name)
  const packed = readIfThere(stored(storedName(hash, true)))
  if (packed !== undefined) return zstdDecompressSync(packed)
  const kept = readIfThere(stored(storedName(hash, false)))
  if (kept !== undefined) return kept
  for (const { number, path, size } of record.setAside.get(hash) ?? []) {
    for (const place of [asidePath(places, record, number), path]) {
      const bytes = readIfThere(place, size)
      if (bytes !== undefined && sha256(bytes) === hash) return bytes
    }
  }
  return undefined
}

/** With a size, only a file that has it: another one may be too large to be read. */
function readIfThere(path: string, size?: number): Buffer | undefined {
  try {
    const stat = lstatSync(path)
    return stat.isFile() && (size ?? stat.size) === stat.size ? readFileSync(path) : undefined
  } catch (error) {
    if (isSystemError(error) && ['ENOENT', 'ENOTDIR', 'EACCES'].includes(error.code ?? '')) return undefined
    throw error
  }
}

/** Opens a file of records, which may have become full since it was listed. */
function openRecords(path: string): number {
  try {
    return openSync(path, 'r')
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'ENOENT') throw error
    const calls = join(dirname(dirname(path)), 'calls')
    const name = readdirSync(calls).find(each => each.startsWith(`${basename(path, '.jsonl')}.`))
    if (name === undefined) throw error
    return openSync(join(calls, name), 'r')
  }
}

function beginsWith(bytes: Buffer, beginning: Buffer): boolean {
  return (
    bytes.length >= beginning.length &&
    bytes.compare(beginning, 0, beginning.length, 0, beginning.length) === 0
  )
}

function parseLine(bytes: Buffer): RecordLine | undefined {
  try {
    // Our own file, in a folder that no tool may write to.
    return JSON.parse(bytes.toString('utf8')) as RecordLine
  } catch {
    // The last line of a record that was cut short by a kill.
    return undefined
  }
}

/** Positions are in bytes. A last line without its end is left out. */
function* linesOf(path: string, from: number): Generator<{ bytes: Buffer; start: number }> {
  let descriptor: number
  try {
    descriptor = openRecords(path)
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return
    throw error
  }
  try {
    let rest = Buffer.alloc(0)
    let start = from
    for (;;) {
      const buffer = Buffer.allocUnsafe(CHUNK)
      const count = readSync(descriptor, buffer, 0, CHUNK, start + rest.length)
      if (count === 0) return
      rest = rest.length === 0 ? buffer.subarray(0, count) : Buffer.concat([rest, buffer.subarray(0, count)])
      let next = 0
      for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10, next)) {
        yield { bytes: rest.subarray(next, end), start: start + next }
        next = end + 1
      }
      start += next
      rest = rest.subarray(next)
    }
  } finally {
    closeSync(descriptor)
  }
}
