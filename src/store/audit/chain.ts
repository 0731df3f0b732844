import { type ParsedLine, parseLine } from './line.ts'

export type ProblemKind =
  | 'changed'
  | 'removed'
  | 'inserted'
  | 'unreadable'
  | 'cut-tail'
  | 'recomputed'
  | 'missing-segment'
  | 'misplaced'

export interface Problem {
  segment: string
  /** Counted from 1; 0 when it is about the file as a whole. */
  line: number
  seq?: number
  kind: ProblemKind
  message: string
}

/** More than anybody reads, and few enough that a hostile file costs no more than its size. */
const MOST_PROBLEMS = 1_000

/** Follows the chain of one segment line by line, and goes on behind what does not belong to it. */
export class ChainCheck {
  readonly problems: Problem[] = []
  readonly #segment: string
  #line = 0
  /** The last event. No hash: its line is broken, and the next line may follow from anything. */
  #last: { line: number; seq: number; hash: string | undefined } = { line: 0, seq: 0, hash: undefined }
  /** Broken lines since the last intact one: each may stand for an event, or for none. */
  #broken = 0

  constructor(segment: string) {
    this.#segment = segment
  }

  /** The last event, and how many lines there were. */
  get end(): { seq: number; hash: string | undefined; lines: number } {
    return { seq: this.#last.seq, hash: this.#last.hash, lines: this.#line }
  }

  /** The next line. Returns its stamp when it is intact. */
  next(text: Buffer): ParsedLine | undefined {
    this.#line += 1
    if (this.problems.length >= MOST_PROBLEMS) return undefined
    const line = parseLine(text)
    if (line?.intact === true) {
      this.#place(line)
      return line
    }
    if (line === undefined) this.#report('unreadable', `Line ${this.#line} is not an event of this log.`)
    else this.#report('changed', `Event ${line.seq} was changed: it does not match its hash.`, line.seq)
    this.#broken += 1
    this.#last = { line: this.#line, seq: this.#last.seq + 1, hash: undefined }
    return undefined
  }

  /** To be called after the last line. */
  finish(): void {
    if (this.problems.length >= MOST_PROBLEMS)
      this.#report('unreadable', 'There are too many problems; the rest of the file was not checked.')
    this.problems.sort((a, b) => a.line - b.line)
  }

  #place({ seq, prev, hash }: ParsedLine): void {
    const { seq: lastSeq, hash: lastHash, line: lastLine } = this.#last
    const expected = lastSeq + 1
    if (seq < expected - this.#broken) {
      const message = `Event ${seq} does not belong after event ${lastSeq}: it was added, repeated or moved here.`
      this.#report('inserted', message, seq)
      return
    }
    if (seq > expected) {
      const which = seq === expected + 1 ? `Event ${expected} was` : `Events ${expected} to ${seq - 1} were`
      this.#report('removed', `${which} removed before line ${this.#line}.`, expected)
    } else if (lastHash !== undefined && prev !== lastHash) {
      const message = `Event ${lastSeq} was changed or added, and hashed again: event ${seq} does not follow from it.`
      this.#report('changed', message, lastSeq, lastLine)
    }
    this.#broken = 0
    this.#last = { line: this.#line, seq, hash }
  }

  #report(kind: ProblemKind, message: string, seq = this.#last.seq + 1, line = this.#line): void {
    this.problems.push({ segment: this.#segment, line, seq, kind, message })
  }
}
