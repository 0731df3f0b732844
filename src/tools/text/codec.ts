import { type TextFormat, validSequence } from './format.ts'

/** A whole text in memory, with the byte offset of every position in it. */
export interface Decoded {
  /** Without the byte order mark. */
  readonly text: string
  /** Byte offsets of ascending UTF-16 indexes, or null when they cannot be told for certain. */
  byteOffsets(indexes: readonly number[]): number[] | null
}

/** Decodes without loss of position, or gives null when the bytes are not text of this format throughout. */
export function decodeDocument(bytes: Uint8Array, format: TextFormat): Decoded | null {
  const body = bytes.subarray(format.bomLength)
  if (format.encoding === 'utf-8') return format.damaged ? damagedUtf8(body, format) : plainUtf8(body, format)
  if (format.encoding === 'utf-16le' || format.encoding === 'utf-16be') return utf16(body, format)
  return legacy(body, format)
}

/** Decodes a piece of a file for showing; what is invalid becomes U+FFFD. */
export function decodePiece(bytes: Uint8Array, encoding: string): string {
  if (encoding === 'utf-8') return asBuffer(bytes).toString('utf8')
  return new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes)
}

/** The bytes of a text, or null when the encoding has no way to say it. */
export function encodeText(text: string, encoding: string): Uint8Array | null {
  if (encoding === 'utf-8') return Buffer.from(text, 'utf8')
  if (encoding === 'utf-16le') return Buffer.from(text, 'utf16le')
  if (encoding === 'utf-16be') return Buffer.from(text, 'utf16le').swap16()
  const table = encoderOf(encoding)
  const out: number[] = []
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    const sequence = code < 0x80 ? [code] : table.get(character)
    if (sequence === undefined) return null
    out.push(...sequence)
  }
  const encoded = Uint8Array.from(out)
  return decodePiece(encoded, encoding) === text ? encoded : null
}

function plainUtf8(body: Uint8Array, format: TextFormat): Decoded {
  const text = asBuffer(body).toString('utf8')
  return {
    text,
    byteOffsets: indexes => {
      let at = 0
      let offset = format.bomLength
      return indexes.map(index => {
        offset += Buffer.byteLength(text.slice(at, index), 'utf8')
        at = index
        return offset
      })
    },
  }
}

/** Keeps a position for every character: not for files of any size. */
const LARGEST_DAMAGED = 16 * 1024 * 1024

/** Every byte that is not UTF-8 becomes one U+FFFD, so that positions stay known. */
function damagedUtf8(body: Uint8Array, format: TextFormat): Decoded | null {
  if (body.length > LARGEST_DAMAGED) return null
  const pieces: string[] = []
  const starts: number[] = []
  const buffer = asBuffer(body)
  for (let i = 0; i < body.length; ) {
    const length = validSequence(body, i)
    const piece = length === 0 ? '\uFFFD' : buffer.toString('utf8', i, i + length)
    pieces.push(piece)
    for (let unit = 0; unit < piece.length; unit += 1) starts.push(i)
    i += Math.max(1, length)
  }
  return {
    text: pieces.join(''),
    byteOffsets: indexes => indexes.map(index => format.bomLength + (starts[index] ?? body.length)),
  }
}

/** Buffer keeps lone surrogates as they are, where TextDecoder would replace them. */
function utf16(body: Uint8Array, format: TextFormat): Decoded | null {
  if (body.length % 2 !== 0) return null
  const copy = Buffer.from(body)
  if (format.encoding === 'utf-16be') copy.swap16()
  return {
    text: copy.toString('utf16le'),
    byteOffsets: indexes => indexes.map(index => format.bomLength + index * 2),
  }
}

function legacy(body: Uint8Array, format: TextFormat): Decoded | null {
  const decoder = new TextDecoder(format.encoding, { fatal: true, ignoreBOM: true })
  const decode = (from: number, to: number): string | null => {
    try {
      return decoder.decode(body.subarray(from, to))
    } catch {
      // Invalid, or cut inside a character: then no position after it is certain.
      return null
    }
  }
  const text = decode(0, body.length)
  if (text === null) return null
  return {
    text,
    byteOffsets: indexes => {
      const offsets: number[] = []
      let at = 0
      let offset = 0
      for (const index of indexes) {
        const end = skipCharacters(body, offset, text.slice(at, index), format.encoding)
        // The proof: the bytes between two offsets are the text between the two indexes.
        if (decode(offset, end) !== text.slice(at, index)) return null
        at = index
        offset = end
        offsets.push(offset)
      }
      return offsets
    },
  }
}

function skipCharacters(body: Uint8Array, from: number, characters: string, encoding: string): number {
  let offset = from
  for (const _ of characters) offset += legacyLength(body, offset, encoding)
  return Math.min(offset, body.length)
}

function legacyLength(body: Uint8Array, offset: number, encoding: string): number {
  const lead = body[offset] ?? 0
  if (lead <= 0x80) return 1
  switch (encoding) {
    case 'shift_jis':
      return lead >= 0xa0 && lead <= 0xdf ? 1 : 2
    case 'euc-jp':
      if (lead === 0x8f) return 3
      return lead === 0x8e || lead >= 0xa1 ? 2 : 1
    case 'gbk': {
      const second = body[offset + 1] ?? 0
      return second >= 0x30 && second <= 0x39 ? 4 : 2
    }
    case 'euc-kr':
    case 'big5':
      return 2
    default:
      return 1
  }
}

/** Filled on first use; building one takes some milliseconds. */
const encoders = new Map<string, ReadonlyMap<string, readonly number[]>>()

/** Character → bytes, found by decoding every sequence of one and two bytes. */
function encoderOf(encoding: string): ReadonlyMap<string, readonly number[]> {
  const known = encoders.get(encoding)
  if (known !== undefined) return known
  const decoder = new TextDecoder(encoding, { ignoreBOM: true })
  const table = new Map<string, readonly number[]>()
  for (const sequence of sequencesOf(encoding)) {
    const text = decoder.decode(Uint8Array.from(sequence))
    const code = text.codePointAt(0) ?? 0
    const isOne = text.length === (code > 0xffff ? 2 : 1) && code !== 0xfffd
    if (isOne && !table.has(text)) table.set(text, sequence)
  }
  encoders.set(encoding, table)
  return table
}

const MULTI_BYTE = new Set(['shift_jis', 'euc-jp', 'euc-kr', 'gbk', 'big5'])

function* sequencesOf(encoding: string): Generator<readonly number[]> {
  for (let byte = 0x80; byte <= 0xff; byte += 1) yield [byte]
  if (!MULTI_BYTE.has(encoding)) return
  for (let lead = 0x81; lead <= 0xfe; lead += 1) {
    // The same characters stand again in rows 0xFA-0xFC, which is where Windows writes them.
    if (encoding === 'shift_jis' && (lead === 0xed || lead === 0xee)) continue
    for (let trail = 0x40; trail <= 0xfe; trail += 1) yield [lead, trail]
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}
