import type { Region } from './types.ts'

/** A line without its end, and its end: '\n', '\r\n', '\r' or '' for the last one. */
export interface Line {
  readonly text: string
  readonly eol: string
}

/** Old Macintosh files end lines with a carriage return alone; elsewhere it is a character like others. */
export function endsWithCarriageReturn(text: string): boolean {
  return !text.includes('\n') && text.includes('\r')
}

/** Splits into lines; a text that ends with a line end has no empty last line. */
export function splitLines(text: string, carriageReturnEnds: boolean): Line[] {
  const pattern = carriageReturnEnds ? /\r\n|\n|\r/g : /\r?\n/g
  const lines: Line[] = []
  let start = 0
  for (const match of text.matchAll(pattern)) {
    lines.push({ text: text.slice(start, match.index), eol: match[0] })
    start = match.index + match[0].length
  }
  if (start < text.length) lines.push({ text: text.slice(start), eol: '' })
  return lines
}

/** The text with the positions of its lines, made once per file and only when a match is not found verbatim. */
export interface LineTable {
  readonly text: string
  readonly lines: readonly Line[]
  /** Where each line starts, and the end of the text. */
  readonly starts: readonly number[]
}

export function lineTable(text: string): LineTable {
  const lines = splitLines(text, endsWithCarriageReturn(text))
  const starts = [0]
  let start = 0
  for (const line of lines) {
    start += line.text.length + line.eol.length
    starts.push(start)
  }
  return { text, lines, starts }
}

/** Line numbers, from 1, of a region. */
export function lineNumbers(text: string, region: Region): { first: number; last: number } {
  const end = endsWithCarriageReturn(text) ? '\r' : '\n'
  const first = count(text, end, 0, region.start) + 1
  // A region that ends with a line end does not reach into the next line.
  const inside = count(text, end, region.start, Math.max(region.start, region.end - 1))
  return { first, last: first + inside }
}

function count(text: string, piece: string, from: number, to: number): number {
  let found = 0
  for (let at = text.indexOf(piece, from); at !== -1 && at < to; at = text.indexOf(piece, at + 1)) found += 1
  return found
}

/** The line end that a new line at this place gets: that of its own line, else of the nearest one, else none is known. */
export function lineEndNear(text: string, region: Region): string | null {
  if (endsWithCarriageReturn(text)) return '\r'
  const inside = text.slice(region.start, region.end).indexOf('\n')
  const after = inside === -1 ? text.indexOf('\n', region.end) : region.start + inside
  const at = after === -1 ? text.lastIndexOf('\n', region.start) : after
  if (at === -1) return null
  return text[at - 1] === '\r' ? '\r\n' : '\n'
}

/**
 * The text with '\n' as line ends, and the way back. What is found in it is a region of the original, so nothing but that
 * region is ever replaced.
 */
export interface View {
  readonly text: string
  /** The index in the original. */
  original(index: number): number
}

export function lineEndView(text: string): View {
  if (!text.includes('\r')) return { text, original: index => index }
  if (!text.includes('\n')) return { text: text.replaceAll('\r', '\n'), original: index => index }
  // View indexes of the line ends that are one character shorter here.
  const shortened: number[] = []
  for (let at = text.indexOf('\r\n'); at !== -1; at = text.indexOf('\r\n', at + 2)) {
    shortened.push(at - shortened.length)
  }
  const original = (index: number): number => index + countBelow(shortened, index)
  return { text: text.replaceAll('\r\n', '\n'), original }
}

function countBelow(sorted: readonly number[], limit: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] ?? 0) < limit) low = middle + 1
    else high = middle
  }
  return low
}
