// What Kogu and an isolate's process say to each other, on one socket: frames of a length, a kind, the call's number
// (random, so that a late or forged frame of another call is noticed), a request's number, and text.

export type FrameKind = keyof typeof KINDS

export interface Frame {
  readonly kind: FrameKind
  /** Of the call that it belongs to; 32 hexadecimal digits. */
  readonly call: string
  /** Of the request within the call; 0 where there is none. */
  readonly request: number
  readonly text: string
}

export const NO_CALL = '0'.repeat(32)

const KINDS = {
  /** To the process: the tool's code. */
  load: 1,
  /** To the process: run it once; the text is the input as JSON. */
  call: 2,
  /** To the process: the answer to a request, as JSON. */
  reply: 3,
  /** From the process: it is up. */
  ready: 11,
  /** From the process: a line of JSON with what it logged, then the value as JSON. */
  result: 12,
  /** From the process: why there is no result, as JSON. */
  failure: 13,
  /** From the process: what the code wants from the host, as JSON. */
  request: 14,
} as const

const HEADER_BYTES = 4 + 1 + 16 + 4

export function encodeFrame({ kind, call, request, text }: Frame): Uint8Array {
  const length = Buffer.byteLength(text)
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + length)
  bytes.writeUInt32BE(length, 0)
  bytes.writeUInt8(KINDS[kind], 4)
  bytes.write(call, 5, 16, 'hex')
  bytes.writeUInt32BE(request, 21)
  bytes.write(text, HEADER_BYTES)
  return bytes
}

/** Puts frames together from the chunks of a stream. Throws when one is malformed or longer than `mostBytes`. */
export function createFrameReader(mostBytes: number, onFrame: (frame: Frame) => void) {
  let chunks: Uint8Array[] = []
  let size = 0
  let wanted = HEADER_BYTES
  return (chunk: Uint8Array): void => {
    chunks.push(chunk)
    size += chunk.length
    while (size >= wanted) {
      const bytes = Buffer.concat(chunks)
      const length = bytes.readUInt32BE(0)
      if (length > mostBytes) throw new Error(`a frame of ${length} bytes`)
      const end = HEADER_BYTES + length
      if (size < end) {
        chunks = [bytes]
        wanted = end
        return
      }
      const rest = bytes.subarray(end)
      chunks = rest.length === 0 ? [] : [rest]
      size = rest.length
      wanted = HEADER_BYTES
      onFrame({
        kind: kindOf(bytes.readUInt8(4)),
        call: bytes.toString('hex', 5, 21),
        request: bytes.readUInt32BE(21),
        text: bytes.toString('utf8', HEADER_BYTES, end),
      })
    }
  }
}

function kindOf(code: number): FrameKind {
  for (const [kind, value] of Object.entries(KINDS)) {
    // The keys of KINDS are its kinds.
    if (value === code) return kind as FrameKind
  }
  throw new Error(`a frame of the unknown kind ${code}`)
}
