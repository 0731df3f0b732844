import { counted } from '../../core/counted.ts'
import { cutAround } from '../text/cut.ts'
import { createLongLine, type LongLine } from './long-line.ts'

// Reads ripgrep's JSON lines. They are parsed only when they are shown: most of a large result is only counted.

export interface FileMatches {
  /** As ripgrep gives it, without the leading './'. */
  readonly path: string
  /** Matching lines in the whole file. */
  matches: number
  /** The first of them, with the context lines between them; unparsed unless they are long. */
  readonly kept: (Uint8Array | ShownLine)[]
  keptMatches: number
  /** How many of them paging comes to. */
  reachable: number
}

export interface MatchStreamOptions {
  /** Whether a file may appear at all. */
  accepts(path: string): boolean
  /** Matching lines that are kept of one file. */
  readonly perFile: number
  /** Matching lines that can be shown, in the order of the paths; what comes later is only counted. */
  readonly needed: number
  /** A match may go across lines. */
  readonly multiline: boolean
}

export interface MatchStream {
  push(chunk: Uint8Array): void
  summary(): MatchSummary
}

interface MatchSummary {
  /** Those that can be shown. */
  readonly files: readonly FileMatches[]
  readonly fileCount: number
  /** Matching lines in all; with multiline, matches. */
  readonly matches: number
  /** Lines of all matches. */
  readonly matchedLines: number
  /** Matching lines that paging comes to: at most `perFile` of each file. */
  readonly reachable: number
}

const LONGEST = 1024 * 1024
/** A line that is cut at once, so that not all of it is kept. */
const LONG = 4096
const NEWLINE = 10
/** Lines that are kept beyond the needed ones before files are sorted out. */
const SPARE = 10_000

export function createMatchStream({ accepts, perFile, needed, multiline }: MatchStreamOptions): MatchStream {
  let files: FileMatches[] = []
  const totals = { fileCount: 0, matches: 0, matchedLines: 0, reachable: 0 }
  let current: FileMatches | undefined
  let carry: Uint8Array[] = []
  let carried = 0
  let long: LongLine | undefined
  let keptInAll = 0
  const mostKept = Math.min(perFile, needed)
  const begin = (line: Uint8Array): void => {
    current = undefined
    const path = pathOf(line)
    if (path === undefined || !accepts(path)) return
    current = { path, matches: 0, kept: [], keptMatches: 0, reachable: 0 }
  }
  const end = (line: Uint8Array): void => {
    if (current === undefined || current.matches === 0) return
    files.push(current)
    totals.fileCount += 1
    totals.matches += current.matches
    totals.matchedLines += multiline ? matchedLinesOf(line) : current.matches
    current.reachable = Math.min(current.matches, perFile)
    totals.reachable += current.reachable
    keptInAll += current.keptMatches
    current = undefined
    if (keptInAll < needed + SPARE) return
    files = firstOf(files, needed)
    keptInAll = files.reduce((sum, file) => sum + file.keptMatches, 0)
  }
  const keep = (isMatch: boolean, line: () => Uint8Array | ShownLine): void => {
    if (current === undefined) return
    if (isMatch) current.matches += 1
    if (current.matches > mostKept) return
    if (isMatch) current.keptMatches += 1
    current.kept.push(line())
  }
  const take = (line: Uint8Array): void => {
    // {"type":"match",… {"type":"context",… {"type":"begin",… {"type":"end",…
    const kind = line[9]
    if (kind === 0x62) begin(line)
    else if (kind === 0x65) end(line)
    else if (kind === 0x6d || kind === 0x63)
      keep(kind === 0x6d, () => (line.length > LONG ? toShownLine(line) : line.slice()))
  }
  return {
    push(chunk) {
      let from = 0
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
        const piece = chunk.subarray(from, at)
        if (long === undefined) take(carried === 0 ? piece : Buffer.concat([...carry, piece]))
        else {
          long.push(piece)
          const line = long.end()
          keep(line.isMatch, () => line)
        }
        long = undefined
        carry = []
        carried = 0
        from = at + 1
      }
      if (from >= chunk.length) return
      const rest = chunk.slice(from)
      if (long !== undefined) return long.push(rest)
      carry.push(rest)
      carried += rest.length
      if (carried <= LONGEST) return
      long = createLongLine(Buffer.concat(carry))
      carry = []
    },
    summary: () => ({ files: files.sort(byPath), ...totals }),
  }
}

function matchedLinesOf(end: Uint8Array): number {
  return parse(end).data?.stats?.matched_lines ?? 0
}

/** The files, in the order of their paths, that hold the first `needed` lines; the others can never be shown. */
function firstOf(files: FileMatches[], needed: number): FileMatches[] {
  let kept = 0
  return files.sort(byPath).filter(file => {
    const isNeeded = kept < needed
    kept += file.keptMatches
    return isNeeded
  })
}

function byPath(a: FileMatches, b: FileMatches): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0
}

export interface ShownLine {
  readonly line: number
  /** Its last line: a match across lines is one result of several lines. */
  readonly end: number
  readonly text: string
  readonly isMatch: boolean
  /** Of a line that is too long to keep: where in the file the match is, and how many bytes of the line are before it. */
  readonly place?: { readonly at: number; readonly before: number }
}

const LINE_CHARACTERS = 500
/** Lines of one match across lines. */
const MOST_LINES = 20

/** Parses the kept lines of one file and cuts long ones around what matched. */
export function shownLines(file: FileMatches): ShownLine[] {
  return file.kept.map(line => ('text' in line ? line : toShownLine(line)))
}

function toShownLine(raw: Uint8Array): ShownLine {
  const isMatch = raw[9] === 0x6d
  const { data } = parse(raw)
  const bytes = bytesOf(data?.lines)
  const text = bytes.toString('utf8').replace(/\r?\n$/, '')
  const start = data?.submatches?.[0]?.start ?? 0
  // Offsets count bytes.
  const at = text.length > LINE_CHARACTERS ? bytes.toString('utf8', 0, start).length : 0
  const lines = text.split('\n')
  const shown = lines
    .slice(0, MOST_LINES)
    .map((line, index) => cutAround(line.replace(/\r$/, ''), index === 0 ? at : 0, LINE_CHARACTERS))
  if (lines.length > MOST_LINES) shown.push(`[${counted(lines.length - MOST_LINES, 'line')} more]`)
  const line = data?.line_number ?? 0
  return { line, end: line + lines.length - 1, text: shown.join('\n'), isMatch }
}

interface Text {
  text?: string
  bytes?: string
}

interface Event {
  data?: {
    path?: Text
    lines?: Text
    line_number?: number | null
    submatches?: { start: number }[]
    stats?: { matched_lines: number }
  }
}

function parse(line: Uint8Array): Event {
  // ripgrep's own output: the shape is documented and stable.
  return JSON.parse(asBuffer(line).toString('utf8')) as Event
}

const PATH_START = '{"type":"begin","data":{"path":{"text":"'.length

/** Parsing 100,000 of these lines as JSON would cost as much as the search. */
function pathOf(line: Uint8Array): string | undefined {
  const text = asBuffer(line).toString('utf8')
  const isPlain = text.startsWith('"text":"', PATH_START - 8) && !text.includes('\\') && text.endsWith('"}}}')
  const path = isPlain ? text.slice(PATH_START, -4) : decoded(parse(line).data?.path)
  return path?.replace(/^\.\//, '')
}

function decoded(value: Text | undefined): string | undefined {
  return value === undefined ? undefined : bytesOf(value).toString('utf8')
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

/** What is not UTF-8 comes in base64. */
function bytesOf(value: Text | undefined): Buffer {
  return value?.bytes === undefined ? Buffer.from(value?.text ?? '') : Buffer.from(value.bytes, 'base64')
}
