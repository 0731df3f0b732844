import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { inflateSync } from 'node:zlib'

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag'

/** A pack of objects, opened by its `.idx`. Throws for what is not as git writes it; the caller closes it. */
export interface Pack {
  /** Numbers of all its objects, with their types. */
  types(): Iterable<readonly [hash: string, type: ObjectType]>
  /** The type of one whose number begins like this. */
  typeOf(prefix: string): ObjectType | undefined
  /** Not for blobs, which may be of any size. */
  read(hash: string): Buffer | undefined
  close(): void
}

const HASH = 20
const HEADER = 8
const FAN = 256 * 4
const LONGEST_HEAD = 64
const WINDOW = 1024 * 1024
/** Of trees and commits. */
export const LARGEST_OBJECT = 32 * 1024 * 1024
const MOST_KEPT = 32 * 1024 * 1024
const LARGEST_INDEX = 128 * 1024 * 1024
const TYPES: readonly (ObjectType | undefined)[] = [undefined, 'commit', 'tree', 'blob', 'tag']
const BY_OFFSET = 6
const BY_HASH = 7

export function openPack(indexPath: string): Pack {
  const index = readPackIndex(indexPath)
  const file = openSync(indexPath.replace(/\.idx$/, '.pack'), constants.O_RDONLY | constants.O_NONBLOCK)
  const end = fstatSync(file).size - HASH
  let ends: Map<number, number> | undefined
  const known = new Map<number, ObjectType>()
  const kept = { bytes: 0, bodies: new Map<number, Buffer>() }
  const window = { start: 0, bytes: Buffer.alloc(0) }

  const readAt = (offset: number, length: number): Buffer => {
    const bytes = Buffer.allocUnsafe(length)
    return bytes.subarray(0, readSync(file, bytes, 0, length, offset))
  }
  const isKept = (offset: number, length: number): boolean =>
    offset >= window.start && offset + length <= window.start + window.bytes.length
  const bytesAt = (offset: number, length: number): Buffer =>
    isKept(offset, length)
      ? window.bytes.subarray(offset - window.start, offset - window.start + length)
      : readAt(offset, length)

  /** Its kind, what it is a difference to, and where its compressed bytes begin. */
  const headAt = (offset: number): { kind: number; base: number; start: number } => {
    const bytes = bytesAt(offset, LONGEST_HEAD)
    let at = 0
    const kind = ((bytes[0] ?? 0) >> 4) & 7
    while (((bytes[at++] ?? 0) & 128) !== 0) if (at > 10) throw new Error('not a pack')
    if (kind === BY_HASH) {
      const base = index.find(bytes.toString('hex', at, at + HASH))
      if (base === undefined) throw new Error('a pack without the base of a difference')
      return { kind, base, start: offset + at + HASH }
    }
    if (kind !== BY_OFFSET) return { kind, base: -1, start: offset + at }
    let byte = bytes[at++] ?? 0
    let back = byte & 127
    while ((byte & 128) !== 0) {
      byte = bytes[at++] ?? 0
      back = (back + 1) * 128 + (byte & 127)
      if (at > 60) throw new Error('not a pack')
    }
    return { kind, base: offset - back, start: offset + at }
  }

  const typeAt = (offset: number, depth = 0): ObjectType => {
    const before = known.get(offset)
    if (before !== undefined) return before
    const { kind, base } = headAt(offset)
    if (depth > DEEPEST) throw new Error('differences of differences without end')
    const type = base === -1 ? TYPES[kind] : typeAt(base, depth + 1)
    if (type === undefined) throw new Error('not a pack')
    known.set(offset, type)
    return type
  }

  const bodyAt = (offset: number, depth = 0): Buffer => {
    const before = kept.bodies.get(offset)
    if (before !== undefined) return before
    if (depth > DEEPEST) throw new Error('differences of differences without end')
    const { base, start } = headAt(offset)
    ends ??= endsOf(index, end)
    const packed = bytesAt(start, (ends.get(offset) ?? end) - start)
    const bytes = inflateSync(packed, { maxOutputLength: LARGEST_OBJECT })
    const body = base === -1 ? bytes : applyDifference(bodyAt(base, depth + 1), bytes)
    if (kept.bytes > MOST_KEPT) {
      kept.bodies.clear()
      kept.bytes = 0
    }
    kept.bodies.set(offset, body)
    kept.bytes += body.length
    return body
  }

  const offsetOf = index.find
  return {
    *types() {
      // In the order of the file, so that it is read once from beginning to end.
      const entries = Array.from({ length: index.count }, (_, entry) => entry)
      const places = Float64Array.from(entries, index.offsetAt)
      for (const entry of entries.sort((a, b) => (places[a] ?? 0) - (places[b] ?? 0))) {
        const offset = places[entry] ?? 0
        if (!isKept(offset, LONGEST_HEAD))
          Object.assign(window, { start: offset, bytes: readAt(offset, WINDOW) })
        yield [index.hashAt(entry), typeAt(offset)]
      }
    },
    typeOf(prefix) {
      const entry = index.first(prefix)
      return entry < index.count && index.hashAt(entry).startsWith(prefix)
        ? typeAt(index.offsetAt(entry))
        : undefined
    },
    read(hash) {
      const offset = offsetOf(hash)
      return offset === undefined ? undefined : bodyAt(offset)
    },
    close: () => closeSync(file),
  }
}

/** As git itself allows. */
const DEEPEST = 4095

interface PackIndex {
  readonly count: number
  hashAt(entry: number): string
  offsetAt(entry: number): number
  /** The first entry whose hash is not before this one; it may be the end. */
  first(prefix: string): number
  /** Where the object lies in the pack. */
  find(hash: string): number | undefined
}

/** Its hashes are sorted, so that nothing has to be made of it first. */
export function readPackIndex(path: string): PackIndex {
  const bytes = readAll(path)
  if (bytes.readUInt32BE(0) !== 0xff744f63 || bytes.readUInt32BE(4) !== 2)
    throw new Error('an index of another kind')
  const count = bytes.readUInt32BE(HEADER + FAN - 4)
  const hashes = HEADER + FAN
  const offsets = hashes + count * (HASH + 4)
  const large = offsets + count * 4
  if (large > bytes.length) throw new Error('an index without its end')
  const hashAt = (entry: number): string =>
    bytes.toString('hex', hashes + entry * HASH, hashes + (entry + 1) * HASH)
  const offsetAt = (entry: number): number => {
    const short = bytes.readUInt32BE(offsets + entry * 4)
    return short < 0x80000000 ? short : Number(bytes.readBigUInt64BE(large + (short - 0x80000000) * 8))
  }
  const first = (prefix: string): number => {
    const wanted = Buffer.from(prefix.padEnd(HASH * 2, '0'), 'hex')
    let [low, high] = [0, count]
    while (low < high) {
      const middle = (low + high) >> 1
      const start = hashes + middle * HASH
      if (bytes.compare(wanted, 0, HASH, start, start + HASH) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
  const find = (hash: string): number | undefined => {
    const entry = first(hash)
    return entry < count && hashAt(entry) === hash ? offsetAt(entry) : undefined
  }
  return { count, hashAt, offsetAt, first, find }
}

function readAll(path: string): Buffer {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const { size } = fstatSync(file)
    if (size > LARGEST_INDEX) throw new Error('too many objects')
    const bytes = Buffer.alloc(size)
    readSync(file, bytes)
    return bytes
  } finally {
    closeSync(file)
  }
}

/** Where each object ends: where the next one begins. */
function endsOf({ count, offsetAt }: PackIndex, end: number): Map<number, number> {
  const sorted = Float64Array.from({ length: count }, (_, entry) => offsetAt(entry)).sort()
  return new Map([...sorted].map((offset, at) => [offset, sorted[at + 1] ?? end]))
}

/** Copies of parts of the base, and new bytes between them. */
function applyDifference(base: Buffer, difference: Buffer): Buffer {
  let at = 0
  const size = (): number => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = difference[at++] ?? 0
      value += (byte & 127) * 2 ** shift
      if ((byte & 128) === 0) return value
    }
  }
  if (size() !== base.length) throw new Error('a difference to something else')
  const result = Buffer.alloc(Math.min(size(), LARGEST_OBJECT))
  let end = 0
  while (at < difference.length) {
    const code = difference[at++] ?? 0
    if ((code & 128) === 0) {
      end += difference.copy(result, end, at, at + code)
      at += code
      continue
    }
    const field = (bits: readonly number[]): number =>
      bits.reduce(
        (value, bit, place) => value + ((code & bit) === 0 ? 0 : (difference[at++] ?? 0) * 256 ** place),
        0,
      )
    const from = field([1, 2, 4, 8])
    const length = field([16, 32, 64]) || 0x10000
    end += base.copy(result, end, from, from + length)
  }
  return result
}
