import type { LineTable } from './lines.ts'

/** A run of lines that is like the wanted ones, one for one. */
export interface Candidate {
  /** Index of its first line. */
  readonly first: number
  /** 0 to 1, weighted by the length of the lines. */
  readonly score: number
}

const MOST_LINES = 400
const MOST_CANDIDATES = 60
/** Lines of a file in which a place is looked for without one equal line. */
const MOST_SEARCHED = 50_000
/** Characters of a line that are compared: two minified lines must not cost seconds. */
const LINE_LIMIT = 400

/**
 * The places that are most like the wanted lines, the best first. The cost is bounded: only places that share a line
 * with the wanted text are looked at (for a single line: those of similar length), at most 60, and 400 characters a line.
 */
export function mostSimilar(table: LineTable, wanted: readonly string[]): Candidate[] {
  if (wanted.length === 0 || wanted.length > MOST_LINES || table.lines.length < wanted.length) return []
  const places = votes(table, wanted)
  const candidates = places.map(first => judge(table, first, wanted))
  return candidates.sort((a, b) => b.score - a.score || a.first - b.first)
}

/** Starting lines by the number of lines that would fall on an equal one. */
function votes(table: LineTable, wanted: readonly string[]): number[] {
  const positions = new Map<string, number[]>()
  table.lines.forEach((line, index) => {
    const key = line.text.trim()
    if (key === '') return
    const list = positions.get(key)
    if (list === undefined) positions.set(key, [index])
    // A line that is everywhere ('}') says nothing about the place.
    else if (list.length < 200) list.push(index)
  })
  const last = table.lines.length - wanted.length
  const count = new Map<number, number>()
  wanted.forEach((line, offset) => {
    for (const position of positions.get(line.trim()) ?? []) {
      const first = position - offset
      if (first >= 0 && first <= last)
        count.set(first, (count.get(first) ?? 0) + Math.min(40, line.trim().length))
    }
  })
  if (count.size === 0) return byWords(table, wanted)
  return [...count]
    .sort((a, b) => b[1] - a[1] || a[0] - b[0])
    .slice(0, MOST_CANDIDATES)
    .map(([first]) => first)
}

/** No line is equal: places whose line shares the most words with the longest wanted line. */
function byWords(table: LineTable, wanted: readonly string[]): number[] {
  const longest = wanted.reduce(
    (best, line, index) => (line.length > (wanted[best]?.length ?? 0) ? index : best),
    0,
  )
  const words = new Set(wordsOf(wanted[longest] ?? ''))
  if (words.size === 0 || table.lines.length > MOST_SEARCHED) return []
  const last = table.lines.length - wanted.length
  const shared: { first: number; share: number }[] = []
  table.lines.forEach((line, index) => {
    const first = index - longest
    if (first < 0 || first > last || line.text.length > 4 * LINE_LIMIT) return
    const own = wordsOf(line.text)
    const common = own.filter(word => words.has(word)).length
    if (common > 0) shared.push({ first, share: (2 * common) / (own.length + words.size) })
  })
  return shared
    .sort((a, b) => b.share - a.share || a.first - b.first)
    .slice(0, MOST_CANDIDATES)
    .map(({ first }) => first)
}

function wordsOf(line: string): string[] {
  return line.slice(0, LINE_LIMIT).match(/[\p{L}\p{N}_]+/gu) ?? []
}

function judge(table: LineTable, first: number, wanted: readonly string[]): Candidate {
  let weight = 0
  let points = 0
  wanted.forEach((line, index) => {
    const a = line.trim()
    const b = (table.lines[first + index]?.text ?? '').trim()
    const size = Math.max(a.length, b.length, 1)
    const alike = a === b ? 1 : likeness(a.slice(0, LINE_LIMIT), b.slice(0, LINE_LIMIT))
    weight += size
    points += alike * size
  })
  return { first, score: points / weight }
}

/** 1 for the same text, 0 for nothing in common: the share of pairs of neighbouring characters. Linear in the length. */
function likeness(a: string, b: string): number {
  if (a.length < 2 || b.length < 2) return a === b ? 1 : 0
  const pairs = new Map<string, number>()
  for (let i = 0; i + 1 < a.length; i += 1) {
    const pair = a.slice(i, i + 2)
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1)
  }
  let common = 0
  for (let i = 0; i + 1 < b.length; i += 1) {
    const pair = b.slice(i, i + 2)
    const left = pairs.get(pair) ?? 0
    if (left === 0) continue
    common += 1
    pairs.set(pair, left - 1)
  }
  return (2 * common) / (a.length + b.length - 2)
}
