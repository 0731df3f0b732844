import { closeSync, openSync, writeSync } from 'node:fs'
import { stripControlSequences } from './control-sequences.ts'

/** What is shown of a program's output: its beginning and its end, whatever its size. */
export interface KeptOutput {
  /** Without control sequences. When the middle is missing, a line says so. */
  text: string
  truncated: boolean
  /** Exact, of the whole output. */
  bytes: number
  lines: number
  /** Where all of it lies, when it did not fit. `complete` is false when even that had to be cut. */
  spill: { path: string; bytes: number; complete: boolean } | null
}

export interface OutputKeeper {
  write(chunk: Uint8Array): void
  /** What is kept so far. */
  read(): KeptOutput
  /** Closes the spill file. */
  close(): void
}

export interface OutputKeeperOptions {
  /** Of text that is shown, in bytes; half of it from the beginning, half from the end. */
  limit?: number
  /** A file for the whole output, created only when it does not fit. */
  spillPath?: string
  spillLimit?: number
}

const DEFAULT_OUTPUT_LIMIT = 30_000
const DEFAULT_SPILL_LIMIT = 20 * 1024 * 1024
const NEWLINE = 0x0a

/** Holds the first and the last bytes in memory and nothing in between, so that 1 GB costs what 1 MB costs. */
export function createOutputKeeper(options: OutputKeeperOptions = {}): OutputKeeper {
  const limit = options.limit ?? DEFAULT_OUTPUT_LIMIT
  const half = Math.floor(limit / 2)
  const spill =
    options.spillPath === undefined ? undefined : createSpill(options.spillPath, options.spillLimit)
  // While everything fits, the beginning holds it all; the end starts behind its first half.
  const head = { bytes: Buffer.alloc(limit), length: 0 }
  const tail = createTail(half)
  const total = { bytes: 0, lines: 0, lastByte: NEWLINE }
  return {
    write(chunk) {
      if (chunk.length === 0) return
      const room = Math.min(chunk.length, limit - head.length)
      head.bytes.set(chunk.subarray(0, room), head.length)
      if (total.bytes <= limit && total.bytes + chunk.length > limit) {
        spill?.write(head.bytes.subarray(0, head.length))
        tail.write(head.bytes.subarray(0, head.length + room))
        spill?.write(chunk)
        tail.write(chunk.subarray(room))
      } else if (total.bytes > limit) {
        spill?.write(chunk)
        tail.write(chunk)
      }
      head.length += room
      total.bytes += chunk.length
      total.lines += countNewlines(chunk)
      total.lastByte = chunk.at(-1) ?? NEWLINE
    },
    read() {
      const truncated = total.bytes > limit
      const lines = total.lines + (total.lastByte === NEWLINE ? 0 : 1)
      const counts = { truncated, bytes: total.bytes, lines, spill: spill?.state() ?? null }
      if (!truncated) return { text: toText(head.bytes.subarray(0, head.length)), ...counts }
      const start = endAtBoundary(head.bytes.subarray(0, half))
      const end = startAtBoundary(tail.read())
      const left = total.bytes - start.length - end.length
      const where = counts.spill === null ? '' : `; all of it is in ${counts.spill.path}`
      const gap = `\n[… ${left} of ${total.bytes} bytes (${lines} lines) left out${where} …]\n`
      return { text: toText(start) + gap + toText(end), ...counts }
    },
    close: () => spill?.close(),
  }
}

/** The last bytes, in a ring. */
function createTail(size: number) {
  const ring = Buffer.alloc(size)
  const state = { at: 0, filled: 0 }
  return {
    write(chunk: Uint8Array): void {
      const last = chunk.subarray(Math.max(0, chunk.length - size))
      const first = last.subarray(0, size - state.at)
      ring.set(first, state.at)
      ring.set(last.subarray(first.length), 0)
      state.at = size === 0 ? 0 : (state.at + last.length) % size
      state.filled = Math.min(size, state.filled + last.length)
    },
    read: (): Buffer =>
      state.filled < size
        ? Buffer.from(ring.subarray(0, state.filled))
        : Buffer.concat([ring.subarray(state.at), ring.subarray(0, state.at)]),
  }
}

function createSpill(path: string, limit = DEFAULT_SPILL_LIMIT) {
  const state: { file: number | undefined; bytes: number; complete: boolean } = {
    file: undefined,
    bytes: 0,
    complete: true,
  }
  return {
    write(chunk: Uint8Array): void {
      const room = chunk.subarray(0, Math.max(0, limit - state.bytes))
      if (room.length < chunk.length) state.complete = false
      if (room.length === 0) return
      // wx: a link that somebody put there beforehand is not followed.
      state.file ??= openSync(path, 'wx', 0o600)
      for (let done = 0; done < room.length; ) done += writeSync(state.file, room, done)
      state.bytes += room.length
    },
    state: () => (state.file === undefined ? null : { path, bytes: state.bytes, complete: state.complete }),
    close(): void {
      if (state.file !== undefined) closeSync(state.file)
    },
  }
}

/** Cut at the end of a line, if there is one near; never inside a character. */
function endAtBoundary(bytes: Uint8Array): Uint8Array {
  const line = bytes.lastIndexOf(NEWLINE)
  if (line >= bytes.length / 2) return bytes.subarray(0, line + 1)
  let end = bytes.length
  // Back to the first byte of the last character, and keep it when all its bytes are there.
  while (end > 0 && isContinuation(bytes[end - 1])) end -= 1
  const length = characterLength(bytes[end - 1])
  return bytes.subarray(0, end - 1 + length <= bytes.length ? end - 1 + length : end - 1)
}

function startAtBoundary(bytes: Uint8Array): Uint8Array {
  const line = bytes.indexOf(NEWLINE)
  if (line !== -1 && line < bytes.length / 2) return bytes.subarray(line + 1)
  let start = 0
  while (start < 4 && isContinuation(bytes[start])) start += 1
  return bytes.subarray(start)
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}

function characterLength(byte: number | undefined): number {
  if (byte === undefined || byte < 0xc0) return 1
  if (byte < 0xe0) return 2
  return byte < 0xf0 ? 3 : 4
}

function countNewlines(chunk: Uint8Array): number {
  let count = 0
  for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) count += 1
  return count
}

function toText(bytes: Uint8Array): string {
  return stripControlSequences(Buffer.from(bytes).toString('utf8'))
}
