import { isAscii } from 'node:buffer'
import { createHash, hash } from 'node:crypto'
import type { OpenFile } from '../../core/files.ts'
import { decodePiece } from './codec.ts'
import { cutAtGrapheme } from './cut.ts'
import type { TextFormat } from './format.ts'

// Reads lines of a file of any size with the memory of one block. Lines are counted in bytes: in every encoding that is
// read here the byte 0x0A stands for a line feed only (in UTF-16, the pair of bytes on an even position).

const BLOCK = 256 * 1024
const SMALL = 4096
/** Bytes of a line that are kept: more than `lineCharacters` needs in any encoding. */
const KEPT = 16 * 1024
/** Bytes that are searched for the end of one line. */
const LONGEST_LINE = 64 * 1024 * 1024

type LineEnding = 'lf' | 'crlf' | 'cr' | 'mixed' | 'none'

/** A file in blocks; the last one read is kept, so that a small file is read once. */
export interface Blocks {
  readonly size: number
  at(position: number): Promise<Uint8Array>
}

export function blocksOf(file: OpenFile, signal: AbortSignal): Blocks {
  let last: { position: number; bytes: Uint8Array } | undefined
  return {
    size: file.size,
    async at(position) {
      signal.throwIfAborted()
      if (last !== undefined && last.position === position) return last.bytes
      // The size is a hint: a file that has grown is read on.
      const expected = Math.min(BLOCK, Math.max(SMALL, file.size - position))
      const bytes = await file.read(position, expected)
      last = { position, bytes }
      return bytes
    },
  }
}

export interface Scan {
  readonly totalLines: number
  readonly sha256: string
  readonly lineEnding: LineEnding
  /** Lines that end before each block. */
  readonly linesBefore: readonly number[]
  /** Position of the first block with a byte that is not ASCII, if any. */
  readonly foreignBlock: number | undefined
}

/** Reads the whole file once: hash, number of lines, kind of line ends. */
export async function scanFile(blocks: Blocks, format: TextFormat): Promise<Scan> {
  const ends = { lf: 0, crlf: 0, cr: 0 }
  const linesBefore: number[] = []
  const wide = format.encoding.startsWith('utf-16')
  let previous = 0
  let size = 0
  let foreignBlock: number | undefined
  // Most files are one block, whose hash is made at once in half the time.
  let digest: ReturnType<typeof createHash> | undefined
  let whole: Uint8Array = new Uint8Array()
  for (;;) {
    const block = await blocks.at(size)
    if (block.length === 0) break
    if (size === 0 && block.length < BLOCK) whole = block
    else {
      digest ??= createHash('sha256')
      digest.update(block)
    }
    if (foreignBlock === undefined && !isAscii(block)) foreignBlock = size
    linesBefore.push(ends.lf + ends.crlf)
    previous = countEnds(wide ? narrowed(block, format) : block, previous, ends)
    size += block.length
    if (block.length < BLOCK) break
  }
  const onlyReturns = ends.lf + ends.crlf === 0 && ends.cr > 0
  const terminated = onlyReturns ? ends.cr : ends.lf + ends.crlf
  const last = onlyReturns ? 13 : 10
  const unfinished = size > format.bomLength && previous !== last
  return {
    totalLines: terminated + (unfinished ? 1 : 0),
    sha256: digest?.digest('hex') ?? hash('sha256', whole),
    lineEnding: endingOf(ends),
    linesBefore,
    foreignBlock,
  }
}

/** Where to start reading in order to come to a line: a byte position, and how many lines to skip from there. */
export function startOfLine(scan: Scan | null, format: TextFormat, line: number): Start {
  const carriageReturns = scan?.lineEnding === 'cr'
  // Strictly before: a block in whose midst the line has begun already is too late. Lone returns are not counted.
  const block = carriageReturns ? -1 : (scan?.linesBefore.findLastIndex(lines => lines < line) ?? -1)
  if (block <= 0) return { position: format.bomLength, skip: line, carriageReturns }
  return { position: block * BLOCK, skip: line - (scan?.linesBefore[block] ?? 0), carriageReturns }
}

export interface Start {
  readonly position: number
  readonly skip: number
  readonly carriageReturns: boolean
}

/** Adds up the line ends; returns the last byte. */
function countEnds(
  bytes: Uint8Array,
  before: number,
  ends: { lf: number; crlf: number; cr: number },
): number {
  // Nearly all files have line feeds only.
  if (before !== 13 && !bytes.includes(13)) {
    // A plain loop: with an iterator, or a search for each line, it takes twice as long.
    for (let at = 0; at < bytes.length; at += 1) if (bytes[at] === 10) ends.lf += 1
    return bytes.at(-1) ?? before
  }
  let previous = before
  for (const byte of bytes) {
    if (byte === 10) {
      if (previous === 13) {
        ends.crlf += 1
        ends.cr -= 1
      } else ends.lf += 1
    } else if (byte === 13) ends.cr += 1
    previous = byte
  }
  return previous
}

/** One byte per UTF-16 unit: the low one where the high one is zero, else something that is no line end. */
function narrowed(block: Uint8Array, format: TextFormat): Uint8Array {
  const low = format.encoding === 'utf-16le' ? 0 : 1
  const out = new Uint8Array(block.length >> 1)
  for (let i = 0; i < out.length; i += 1) {
    out[i] = block[2 * i + 1 - low] === 0 ? (block[2 * i + low] ?? 0) : 0xff
  }
  return out
}

function endingOf({ lf, crlf, cr }: { lf: number; crlf: number; cr: number }): LineEnding {
  if (lf > 0 && crlf > 0) return 'mixed'
  if (crlf > 0) return 'crlf'
  if (lf > 0) return 'lf'
  return cr > 0 ? 'cr' : 'none'
}

export interface WindowLimits {
  readonly lines: number
  readonly bytes: number
  readonly lineCharacters: number
}

export interface Window {
  readonly lines: readonly string[]
  /** Those that are not shown to their end, as indexes into `lines`. */
  readonly cut: readonly number[]
  /** Nothing follows the last of them. */
  readonly reachedEnd: boolean
  /** The end of the last line was not found within the limit, so what follows has no line number. */
  readonly lost: boolean
}

/** Reads lines from a byte position, after skipping some; stops at the first limit that is reached. */
export async function readWindow(
  blocks: Blocks,
  format: TextFormat,
  start: Start,
  limits: WindowLimits,
): Promise<Window> {
  const small = await readSmall(blocks, format, start, limits)
  if (small !== undefined) return small
  const lines: string[] = []
  let { skip, position } = start
  const cut: number[] = []
  let shown = 0
  let line = emptyLine()
  /** Takes a finished line; false when a limit is reached. */
  const take = (): boolean => {
    const text = lineText(line, format.encoding, limits.lineCharacters)
    const size = Buffer.byteLength(text.shown) + 1
    if (lines.length > 0 && shown + size > limits.bytes) return false
    shown += size
    if (text.isCut) cut.push(lines.length)
    lines.push(text.shown)
    line = emptyLine()
    return lines.length < limits.lines
  }
  for (;;) {
    const block = await blocks.at(position)
    if (block.length === 0) break
    for (let from = 0; from < block.length; ) {
      const end = nextLineEnd(block, from, format, start.carriageReturns)
      const piece = block.subarray(from, end === -1 ? block.length : end)
      from += piece.length
      if (skip > 0) skip -= end === -1 ? 0 : 1
      else {
        addPiece(line, piece)
        if (end !== -1 && !take())
          return { lines, cut, reachedEnd: position + from >= blocks.size && line.size === 0, lost: false }
        if (line.size > LONGEST_LINE) {
          take()
          return { lines, cut, reachedEnd: false, lost: true }
        }
      }
    }
    position += block.length
  }
  const complete = line.size === 0 || take() || line.size === 0
  return { lines, cut, reachedEnd: complete, lost: false }
}

/** Most files are small and ordinary: decoded as a whole and split, when no limit can be reached. */
async function readSmall(
  blocks: Blocks,
  format: TextFormat,
  start: Start,
  limits: WindowLimits,
): Promise<Window | undefined> {
  const size = blocks.size - start.position
  if (format.encoding !== 'utf-8' || start.carriageReturns || size > Math.min(BLOCK, limits.bytes) / 2)
    return undefined
  const bytes = await blocks.at(start.position)
  if (bytes.length !== size) return undefined
  const text = decodePiece(bytes, 'utf-8')
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const shown = start.skip === 0 ? lines : lines.slice(start.skip)
  const wanted = text.includes('\r')
    ? shown.map(line => (line.endsWith('\r') ? line.slice(0, -1) : line))
    : shown
  const fits = wanted.length <= limits.lines && wanted.every(line => line.length <= limits.lineCharacters)
  return fits ? { lines: wanted, cut: [], reachedEnd: true, lost: false } : undefined
}

interface PartialLine {
  pieces: Uint8Array[]
  kept: number
  size: number
}

function emptyLine(): PartialLine {
  return { pieces: [], kept: 0, size: 0 }
}

function addPiece(line: PartialLine, piece: Uint8Array): void {
  const room = KEPT - line.kept
  if (room > 0) {
    line.pieces.push(piece.subarray(0, room))
    line.kept += Math.min(room, piece.length)
  }
  line.size += piece.length
}

function lineText(line: PartialLine, encoding: string, most: number): { shown: string; isCut: boolean } {
  const [only = new Uint8Array(), ...more] = line.pieces
  const text = decodePiece(more.length === 0 ? only : Buffer.concat(line.pieces), encoding).replace(
    /(\r\n|\n|\r)$/,
    '',
  )
  if (text.length <= most && line.kept === line.size) return { shown: text, isCut: false }
  const shown = cutAtGrapheme(text, most)
  return { shown: `${shown}… [line cut: ${line.size} bytes in all]`, isCut: true }
}

/** Index after the next line end at or after `from`, or -1. */
function nextLineEnd(block: Uint8Array, from: number, format: TextFormat, carriageReturns: boolean): number {
  const byte = carriageReturns ? 13 : 10
  if (!format.encoding.startsWith('utf-16')) return block.indexOf(byte, from) + 1 || -1
  const low = format.encoding === 'utf-16le' ? 0 : 1
  for (let at = block.indexOf(byte, from); at !== -1; at = block.indexOf(byte, at + 1)) {
    const unit = at - low
    if (unit % 2 === 0 && block[unit + 1 - low] === 0) return unit + 2
  }
  return -1
}

/** The position where the last `count` lines of a file begin, found from its end. */
export async function tailPosition(
  file: OpenFile,
  format: TextFormat,
  count: number,
  signal: AbortSignal,
): Promise<{ position: number; lines: number }> {
  const wide = format.encoding.startsWith('utf-16') ? 1 : 0
  let end = file.size - ((file.size - format.bomLength) % (1 + wide))
  let found = 0
  for (;;) {
    signal.throwIfAborted()
    const begin = Math.max(format.bomLength, end - BLOCK)
    if (begin >= end) return { position: format.bomLength, lines: found + 1 }
    const block = await file.read(begin, end - begin)
    const ends: number[] = []
    for (let at = nextLineEnd(block, 0, format, false); at !== -1; at = nextLineEnd(block, at, format, false))
      ends.push(at)
    for (const at of ends.reverse()) {
      // The end of the last line is not the start of another one.
      if (begin + at === file.size) continue
      found += 1
      if (found === count) return { position: begin + at, lines: count }
    }
    end = begin
  }
}
