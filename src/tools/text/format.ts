import { isAscii, isUtf8 } from 'node:buffer'
import { guessLegacy } from './legacy.ts'

/** How the bytes of a text file are to be read. */
export interface TextFormat {
  /** A label that TextDecoder knows. */
  readonly encoding: string
  /** Bytes of the byte order mark: 0, 2 or 3. */
  readonly bomLength: number
  /** False when it is a guess from statistics. Text that is not ASCII is then shown, but never written. */
  readonly certain: boolean
  /** UTF-8 with some bytes that are not. They are kept as they are. */
  readonly damaged: boolean
}

export const UTF8: TextFormat = { encoding: 'utf-8', bomLength: 0, certain: true, damaged: false }

/** The format of a text by its content, or null for content that is not text. `bytes` may be the head of a longer file. */
export function detectFormat(bytes: Uint8Array): TextFormat | null {
  const marked = fromByteOrderMark(bytes)
  if (marked !== undefined) return marked
  if (isAscii(bytes)) return isMostlyControl(bytes) || bytes.includes(0) ? fromZeros(bytes) : UTF8
  if (bytes.includes(0)) return fromZeros(bytes)
  if (isMostlyControl(bytes)) return null
  if (isUtf8(withoutCutSequence(bytes))) return UTF8
  const { sequences, telling, broken } = countSequences(bytes)
  if (sequences >= 4 * broken) return { ...UTF8, damaged: true }
  const legacy = guessLegacy(bytes)
  if (legacy?.isSingleByte && !legacy.certain) {
    if (telling > 0 && telling * 2 >= broken) return { ...UTF8, damaged: true }
    if (legacy.isWeak) return { ...UTF8, damaged: true, certain: false }
  }
  if (legacy !== null)
    return { encoding: legacy.encoding, bomLength: 0, certain: legacy.certain, damaged: false }
  // UTF-16 without a mark and without one ASCII character has no zero byte.
  return fromZeros(bytes)
}

/** What a person calls it: "UTF-16LE with BOM". */
export function describeEncoding(format: TextFormat): string {
  const name = format.encoding.startsWith('utf') ? format.encoding.toUpperCase() : format.encoding
  const notes = [
    format.bomLength > 0 ? ' with BOM' : '',
    format.damaged ? ' with invalid bytes' : '',
    format.certain ? '' : ' (a guess)',
  ]
  return name + notes.join('')
}

function fromByteOrderMark(bytes: Uint8Array): TextFormat | null | undefined {
  const [a, b, c, d] = bytes
  if (a === 0xef && b === 0xbb && c === 0xbf) {
    const valid = isUtf8(withoutCutSequence(bytes))
    return { encoding: 'utf-8', bomLength: 3, certain: true, damaged: !valid }
  }
  // UTF-32 has no decoder on this platform; its little-endian mark begins like that of UTF-16.
  if (a === 0xff && b === 0xfe && c === 0 && d === 0) return null
  if (a === 0 && b === 0 && c === 0xfe && d === 0xff) return null
  if (a === 0xff && b === 0xfe) return { encoding: 'utf-16le', bomLength: 2, certain: true, damaged: false }
  if (a === 0xfe && b === 0xff) return { encoding: 'utf-16be', bomLength: 2, certain: true, damaged: false }
  return undefined
}

/** UTF-16 without a byte order mark, or binary. */
function fromZeros(bytes: Uint8Array): TextFormat | null {
  // Taken in pairs, ASCII looks like ideographs: text with a stray NUL is not UTF-16.
  if (printableShare(bytes) > 0.9) return null
  const little = plausibleUnits(bytes, 0)
  const big = plausibleUnits(bytes, 1)
  const best = Math.max(little.share, big.share)
  if (best < 0.95) return null
  // Swapped, ASCII looks like rare ideographs; line feeds and spaces tell the two apart.
  const isLittle = little.anchors === big.anchors ? little.share >= big.share : little.anchors > big.anchors
  if (Math.max(little.anchors, big.anchors) === 0) return null
  return { encoding: isLittle ? 'utf-16le' : 'utf-16be', bomLength: 0, certain: true, damaged: false }
}

function plausibleUnits(bytes: Uint8Array, highFirst: 0 | 1): { share: number; anchors: number } {
  const end = Math.min(bytes.length, 16_384) & ~1
  let plausible = 0
  let anchors = 0
  for (let i = 0; i < end; i += 2) {
    const first = bytes[i] ?? 0
    const second = bytes[i + 1] ?? 0
    const unit = highFirst === 1 ? (first << 8) | second : (second << 8) | first
    if (unit === 0x0a || unit === 0x20 || unit === 0x0d || unit === 0x3002) anchors += 1
    if (isPlausibleUnit(unit)) plausible += 1
  }
  return { share: end === 0 ? 0 : plausible / (end / 2), anchors }
}

function printableShare(bytes: Uint8Array): number {
  const sample = bytes.subarray(0, 16_384)
  let printable = 0
  for (const byte of sample)
    if ((byte >= 0x20 && byte < 0x7f) || byte === 9 || byte === 10 || byte === 13) printable += 1
  return printable / Math.max(1, sample.length)
}

function isPlausibleUnit(unit: number): boolean {
  if (unit < 0x80) return unit === 9 || unit === 10 || unit === 13 || (unit >= 0x20 && unit < 0x7f)
  if (unit < 0x0250) return unit >= 0xa0
  if (unit >= 0x0370 && unit < 0x1200) return true
  if (unit >= 0x2000 && unit < 0x2c00) return true
  if (unit >= 0x3000 && unit < 0x3100) return true
  if (unit >= 0x4e00 && unit < 0xa000) return true
  if (unit >= 0xac00 && unit < 0xe000) return true
  return unit >= 0xff01 && unit < 0xfff0
}

function isMostlyControl(bytes: Uint8Array): boolean {
  const end = Math.min(bytes.length, 16_384)
  let controls = 0
  for (let i = 0; i < end; i += 1) {
    controls += IS_CONTROL[bytes[i] ?? 0] ?? 0
  }
  return controls > end * 0.05
}

/** Backspace, tab, line feed, form feed, carriage return, escape: logs and man pages hold them. */
const TEXT_CONTROLS = [8, 9, 10, 12, 13, 27]
/** 1 for every other control: looked up for each byte of each file that is read. */
const IS_CONTROL = Uint8Array.from({ length: 256 }, (_, byte) =>
  (byte < 0x20 && !TEXT_CONTROLS.includes(byte)) || byte === 0x7f ? 1 : 0,
)

/** A head may end inside a character. */
function withoutCutSequence(bytes: Uint8Array): Uint8Array {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) break
    if (byte >= 0xc0) return sequenceLength(byte) > back ? bytes.subarray(0, bytes.length - back) : bytes
  }
  return bytes
}

/** `telling`: sequences that are hardly ever a text of another encoding: 'Ã©', and those of three and four bytes. */
function countSequences(bytes: Uint8Array): { sequences: number; telling: number; broken: number } {
  let sequences = 0
  let telling = 0
  let broken = 0
  for (let i = 0; i < bytes.length; ) {
    const length = validSequence(bytes, i)
    if (length === 0) broken += 1
    if (length > 1) sequences += 1
    if (length > 2 || (length === 2 && bytes[i] === 0xc3)) telling += 1
    i += Math.max(1, length)
  }
  return { sequences, telling, broken }
}

/** Length of the well-formed UTF-8 sequence at `index`; 0 when there is none. */
export function validSequence(bytes: Uint8Array, index: number): number {
  const first = bytes[index] ?? 0
  if (first < 0x80) return 1
  const length = sequenceLength(first)
  if (length === 1 || index + length > bytes.length) return 0
  for (let i = 1; i < length; i += 1) {
    if (((bytes[index + i] ?? 0) & 0xc0) !== 0x80) return 0
  }
  const second = bytes[index + 1] ?? 0
  if (first === 0xe0 && second < 0xa0) return 0
  if (first === 0xed && second > 0x9f) return 0
  if (first === 0xf0 && second < 0x90) return 0
  if (first === 0xf4 && second > 0x8f) return 0
  return length
}

function sequenceLength(first: number): number {
  if (first >= 0xc2 && first < 0xe0) return 2
  if (first >= 0xe0 && first < 0xf0) return 3
  if (first >= 0xf0 && first < 0xf5) return 4
  return 1
}
