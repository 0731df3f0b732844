import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { stripControlSequences } from './control-sequences.ts'

interface OutputLine {
  /** From 1. */
  number: number
  text: string
}

export interface LineQuery {
  /** First line, from 1; negative: counted from the end. */
  from?: number
  count?: number
}

export interface LineSearch {
  /** Told about each line; must take linear time. */
  matches: (line: string) => boolean
  /** Lines shown around each match. */
  context?: number
  /** Matches, not lines. */
  limit?: number
}

export interface FoundLines {
  lines: OutputLine[]
  /** Of the whole file. */
  totalLines: number
  /** All matches, also those beyond the limit. */
  totalMatches: number
}

const LINE_LENGTH = 2_000
const DEFAULT_COUNT = 200

/** Lines of a spilled output, in memory that does not depend on its size. */
export async function readOutputLines(path: string, query: LineQuery = {}): Promise<FoundLines> {
  const { from = 1, count = DEFAULT_COUNT } = query
  const fromEnd = from < 0 ? -from : 0
  const kept: OutputLine[] = []
  let number = 0
  for await (const text of linesOf(path)) {
    number += 1
    if (fromEnd > 0) {
      kept.push({ number, text })
      if (kept.length > fromEnd) kept.shift()
    } else if (number >= from && number < from + count) {
      kept.push({ number, text })
    }
  }
  const lines = fromEnd > 0 ? kept.slice(0, count) : kept
  return { lines: lines.map(show), totalLines: number, totalMatches: 0 }
}

export async function searchOutput(path: string, search: LineSearch): Promise<FoundLines> {
  const { context = 0, limit = 100 } = search
  const lines: OutputLine[] = []
  const before: OutputLine[] = []
  let number = 0
  let matches = 0
  let after = 0
  for await (const text of linesOf(path)) {
    number += 1
    const line = { number, text }
    if (search.matches(text)) {
      matches += 1
      if (matches <= limit) {
        lines.push(...before.splice(0), line)
        after = context
        continue
      }
    }
    if (after > 0) {
      lines.push(line)
      after -= 1
    } else if (context > 0) {
      before.push(line)
      if (before.length > context) before.shift()
    }
  }
  return { lines: lines.map(show), totalLines: number, totalMatches: matches }
}

function show({ number, text }: OutputLine): OutputLine {
  return { number, text: text.length > LINE_LENGTH ? `${text.slice(0, LINE_LENGTH)}…` : text }
}

async function* linesOf(path: string): AsyncGenerator<string> {
  let rest = ''
  // A link in its place, which a repository could bring along, would show any file of the person.
  const file = await open(
    path,
    constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0),
  )
  for await (const chunk of file.createReadStream({ encoding: 'utf8', highWaterMark: PIECE })) {
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) yield stripControlSequences(line)
    // A line without end is not held whole: its pieces count as lines of their own.
    if (rest.length > PIECE) {
      yield stripControlSequences(rest)
      rest = ''
    }
  }
  if (rest !== '') yield stripControlSequences(rest)
}

const PIECE = 64 * 1024
