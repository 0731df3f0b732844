import { hash as digest } from 'node:crypto'

/**
 * One event is one line: `{"seq":1,"at":"…","prev":"…","hash":"…",` and then the members of the event. `hash` is the
 * SHA-256, in lower-case hex, of the bytes of the line without its line feed and without the text `,"hash":"…"`. Nothing
 * is parsed or put in order first, so that no two different lines have the same hash. `prev` is the hash of the line
 * before; in the first line of a segment, the head of the segment before it, or `NO_HASH`.
 */
export interface Stamp {
  seq: number
  /** ISO 8601 in UTC, with milliseconds. */
  at: string
  prev: string
  hash: string
}

export interface ParsedLine extends Stamp {
  /** Whether the line still has the hash that it says. */
  intact: boolean
}

export const NO_HASH = '0'.repeat(64)

export function sha256(data: string | Uint8Array): string {
  return digest('sha256', data, 'hex')
}

/** `event` is the JSON text of an object that has at least one member. */
export function formatLine(
  seq: number,
  at: string,
  prev: string,
  event: string,
): { text: string; hash: string } {
  const head = `{"seq":${seq},"at":"${at}","prev":"${prev}"`
  const rest = `,${event.slice(1)}`
  const hash = sha256(head + rest)
  return { text: `${head},"hash":"${hash}"${rest}\n`, hash }
}

const HEAD =
  /^\{"seq":([1-9]\d{0,14}),"at":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)","prev":"([0-9a-f]{64})","hash":"([0-9a-f]{64})"(?=,)/
const LONGEST_HEAD = 256
const HASH_MEMBER = ',"hash":"'.length + NO_HASH.length + 1

/** Undefined when it is not a line of this log. */
export function parseLine(line: Buffer): ParsedLine | undefined {
  const stamp = parseStamp(line)
  if (stamp === undefined) return undefined
  const { length, ...rest } = stamp
  const hashed = Buffer.concat([line.subarray(0, length - HASH_MEMBER), line.subarray(length)])
  return { ...rest, intact: sha256(hashed) === stamp.hash }
}

/** The stamp without looking whether it is true; `length` is where it ends. */
export function parseStamp(line: Buffer): (Stamp & { length: number }) | undefined {
  const match = HEAD.exec(line.toString('latin1', 0, LONGEST_HEAD))
  if (match === null) return undefined
  const [head, seq = '', at = '', prev = '', hash = ''] = match
  return { seq: Number(seq), at, prev, hash, length: head.length }
}
