import { type ParsedLine, parseLine } from './line.ts'

export type ProblemKind =
  | 'changed'
  | 'removed'
  | 'inserted'
  | 'duplicated'
  | 'reordered'
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

/** Where the chain stands. No hash: nothing can be said about what may follow. */
interface Place {
  line: number
  seq: number
  hash: string | undefined
}

/** More than anybody reads, and few enough that a hostile file costs no more than its size. */
const MOST_PROBLEMS = 1_000

/** Events that are missing so far; they may still turn up further down. */
interface Gap {
  from: number
  to: number
  line: number
  found: number
}

/**
 * Follows the chain of one segment line by line and names what was done to it. After each fault it finds its way back
 * into the chain, so that one edit is one problem. A line is judged by what stands around it: one that does not fit while
 * the next one fits the line before was inserted; one that the next one goes on from was changed.
 */
export class ChainCheck {
  readonly problems: Problem[] = []
  readonly #segment: string
  #line = 0
  #last: Place = { line: 0, seq: 0, hash: undefined }
  /** Where the chain stood before `#last`, to which the next line may lead back. */
  #before: Place | undefined
  /** Problems that the next line may show in another light: about `#last`. */
  #suspicions: Problem[] = []
  #gaps: Gap[] = []
  /** By seq, the first 48 bits of the hash: 8 bytes an event, and enough to tell a copy from another event. */
  readonly #seen: number[] = []

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
    if (this.problems.length + this.#gaps.length >= MOST_PROBLEMS) return undefined
    const line = parseLine(text)
    if (line?.intact === true) {
      this.#place(line)
      this.#seen[line.seq] = shortHash(line.hash)
      return line
    }
    const problem =
      line === undefined
        ? this.#report(
            'unreadable',
            `Line ${this.#line} is not an event of this log: it was overwritten or inserted.`,
          )
        : this.#report('changed', `Event ${line.seq} was changed: it does not match its hash.`, line.seq)
    this.#suspect(problem, line?.hash)
    return undefined
  }

  /** To be called after the last line. */
  finish(): void {
    for (const gap of this.#gaps) {
      const missing = gap.to - gap.from + 1 - gap.found
      if (missing > 0) this.#reportRemoved(gap, missing)
    }
    if (this.problems.length >= MOST_PROBLEMS) {
      this.#report('unreadable', 'There are too many problems; the rest of the file was not checked.')
    }
    this.problems.sort((a, b) => a.line - b.line)
  }

  #place(line: ParsedLine): void {
    const { seq } = line
    const expected = this.#last.seq + 1
    const gap = this.#gaps.find(({ from, to }) => from <= seq && seq <= to)
    if (follows(line, this.#last)) {
      this.#accept(line)
    } else if (this.#seen[seq] === shortHash(line.hash)) {
      this.#report('duplicated', `Event ${seq} appears a second time.`, seq)
    } else if (gap !== undefined && this.#seen[seq] === undefined) {
      gap.found += 1
      this.#report('reordered', `Event ${seq} comes after event ${this.#last.seq}.`, seq)
    } else if (this.#before !== undefined && follows(line, this.#before)) {
      this.#leadBack(line, this.#before)
    } else if (seq > expected) {
      this.#leap(line)
    } else if (seq < expected) {
      this.#report('inserted', `Event ${seq} does not belong here: the chain goes on without it.`, seq)
    } else if (this.#suspicions.length > 0) {
      // The right number, but not made from the line before it, and that line was found out already.
      this.#accept(line)
    } else {
      const message = `Event ${this.#last.seq} was changed and hashed again: event ${seq} does not follow from it.`
      this.#suspect(this.#report('changed', message, this.#last.seq, this.#last.line), line.hash)
    }
  }

  #accept(line: ParsedLine): void {
    this.#before = this.#last
    this.#suspicions = []
    this.#last = { line: this.#line, seq: line.seq, hash: line.hash }
  }

  /** Takes the line in, without trusting it. */
  #suspect(problem: Problem, hash: string | undefined): void {
    if (this.#suspicions.length === 0) this.#before = this.#last
    this.#suspicions.push(problem)
    this.#last = { line: this.#line, seq: this.#last.seq + 1, hash }
  }

  /** This line goes on from where the chain stood before: what stands between was inserted. */
  #leadBack(line: ParsedLine, before: Place): void {
    const inserted = this.#last
    if (this.#suspicions.length === 0)
      this.#suspicions.push(this.#report('inserted', '', inserted.seq, inserted.line))
    for (const problem of this.#suspicions) {
      problem.kind = 'inserted'
      problem.line = Math.max(problem.line, before.line + 1)
      problem.message = `Line ${problem.line} was inserted: event ${line.seq} follows from line ${before.line}.`
    }
    // Two events claim the same place. Which of them is the true one shows in the line after them.
    const twins = inserted.seq === line.seq && inserted.hash !== undefined
    this.#before = twins ? inserted : before
    if (!twins) this.#suspicions = []
    this.#last = { line: this.#line, seq: line.seq, hash: line.hash }
  }

  #leap(line: ParsedLine): void {
    this.#gaps.push({ from: this.#last.seq + 1, to: line.seq - 1, line: this.#line, found: 0 })
    this.#accept(line)
    this.#before = undefined
  }

  #reportRemoved(gap: Gap, missing: number): void {
    let first = gap.from
    while (this.#seen[first] !== undefined) first += 1
    const which = missing === 1 ? `Event ${first} was` : `${missing} events (from ${first} on) were`
    this.#report('removed', `${which} removed before line ${gap.line}.`, first, gap.line)
  }

  #report(kind: ProblemKind, message: string, seq = this.#last.seq + 1, line = this.#line): Problem {
    const problem: Problem = { segment: this.#segment, line, seq, kind, message }
    this.problems.push(problem)
    return problem
  }
}

function follows(line: ParsedLine, place: Place): boolean {
  return line.seq === place.seq + 1 && (place.hash === undefined || line.prev === place.hash)
}

function shortHash(hash: string): number {
  return Number.parseInt(hash.slice(0, 12), 16)
}
