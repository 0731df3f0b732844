import { type LineTable, lineTable, splitLines } from './lines.ts'
import { type Pair, pairedReplacement, verbatimReplacement } from './replacement.ts'
import { mostSimilar } from './similarity.ts'
import type { Edit, Match, Region } from './types.ts'
import { lineEndView, punctuationView, type View } from './views.ts'

/** A text that edits are looked up in. Views and lines are made when the first edit needs them, and kept. */
export interface Haystack {
  readonly text: string
  readonly lineEnds: () => View
  readonly punctuation: () => View
  readonly lines: () => LineTable
}

export function haystack(text: string): Haystack {
  return {
    text,
    lineEnds: once(() => lineEndView(text)),
    punctuation: once(() => punctuationView(text)),
    lines: once(() => lineTable(text)),
  }
}

/** More replacements than this in one call are refused: 'e' in a large file would be millions. */
export const MOST_MATCHES = 100_000
/** Enough to know that a text is not unique. */
const MOST_SHOWN = 1000
/** Characters of a text in which typographic variants are looked for. */
const MOST_FOLDED = 4_000_000

export type Found =
  | { ok: true; matches: readonly Match[] }
  /** Several places are as good as each other; none is chosen. */
  | { ok: false; rivals: readonly Match[] }

/**
 * All matches of the strictest rung that has any. Looser rungs are never mixed in: an exact match and a similar one are
 * one match, not two.
 */
export function climb(hay: Haystack, edit: Edit): Found {
  for (const rung of [exactText, sameText, lastLineWithoutEnd, sameButWhitespace, sameButPunctuation]) {
    const matches = rung(hay, edit)
    if (matches.length > 0) return { ok: true, matches }
  }
  return edit.replaceAll ? { ok: true, matches: [] } : similar(hay, edit)
}

/** What occurs as it was quoted is what was meant, a carriage return like any other character. */
function exactText(hay: Haystack, edit: Edit): Match[] {
  const { oldText, replaceAll } = edit
  // '\n' alone quotes a whole line end, which must not be torn in two.
  const tears = (at: number): boolean => oldText.startsWith('\n') && hay.text[at - 1] === '\r'
  return occurrences(hay.text, oldText, replaceAll)
    .filter(at => !tears(at))
    .map(start => {
      const region = { start, end: start + oldText.length }
      const replacement = verbatimReplacement(hay.text, region, edit)
      return { ...region, rung: 'exact', confidence: 1, replacement }
    })
}

/** Line ends count as equal here: nobody who reads a file can see which kind it has. */
function sameText(hay: Haystack, edit: Edit): Match[] {
  const view = hay.lineEnds()
  const old = quotedLineEnds(edit.oldText)
  return occurrences(view.text, old, edit.replaceAll).map(at => {
    const region = { start: view.start(at), end: view.end(at + old.length) }
    const replacement = verbatimReplacement(hay.text, region, edit)
    return { ...region, rung: 'line_ends', confidence: 1, replacement }
  })
}

/** A carriage return alone is no line end here: whoever quotes one means that character, and no line feed. */
function quotedLineEnds(text: string): string {
  return text.replaceAll('\r\n', '\n')
}

/** The old text ends with a line end, the file's last line does not. */
function lastLineWithoutEnd(hay: Haystack, edit: Edit): Match[] {
  const view = hay.lineEnds()
  const old = quotedLineEnds(edit.oldText)
  const shorter = old.slice(0, -1)
  if (!old.endsWith('\n') || shorter === '' || !view.text.endsWith(shorter)) return []
  const at = view.text.length - shorter.length
  if (at > 0 && view.text[at - 1] !== '\n') return []
  const newText = edit.newText.replace(/\r?\n$/, '')
  const region = { start: view.start(at), end: hay.text.length }
  const replacement = verbatimReplacement(hay.text, region, { oldText: shorter, newText })
  return [{ ...region, rung: 'line_ends', confidence: 1, replacement }]
}

function sameButWhitespace(hay: Haystack, edit: Edit): Match[] {
  return sameLines(hay, edit, line => line.trim(), 'whitespace')
}

function sameButPunctuation(hay: Haystack, edit: Edit): Match[] {
  if (hay.text.length > MOST_FOLDED) return []
  // Nothing to fold: this would repeat the rungs before it.
  if (isPlainAscii(hay.text) && isPlainAscii(edit.oldText)) return []
  const view = hay.punctuation()
  const old = punctuationView(edit.oldText)
  if (old.text === '') return []
  const isWhole = (index: number): boolean => index === 0 || view.start(index) >= view.end(index)
  // A match that begins or ends inside a character ('..' in '…') is none.
  const found = occurrences(view.text, old.text, edit.replaceAll).filter(
    at => isWhole(at) && isWhole(at + old.text.length),
  )
  if (found.length === 0) {
    return sameLines(hay, edit, line => punctuationView(line).text.trim(), 'punctuation')
  }
  return found.map(at => narrowed(hay.text, view, old, at, edit))
}

/** Leaves what old and new text share at both ends as the file has it: its typographic quotes stay. */
function narrowed(text: string, view: View, old: View, at: number, edit: Edit): Match {
  const { oldText, newText } = edit
  const isBoundary = (index: number): boolean =>
    old.start(index) >= old.end(index) && view.start(at + index) >= view.end(at + index)
  const head = commonLength(oldText, newText, false)
  let first = 0
  let last = old.text.length
  while (first < last && old.end(first + 1) <= head) first += 1
  while (first > 0 && !isBoundary(first)) first -= 1
  const shared = first === 0 ? 0 : old.end(first)
  const tail = Math.min(
    commonLength(oldText, newText, true),
    Math.min(oldText.length, newText.length) - shared,
  )
  while (last > first && oldText.length - old.start(last - 1) <= tail) last -= 1
  while (last < old.text.length && !isBoundary(last)) last += 1
  const kept = oldText.length - old.start(last)
  const end = last === first ? view.start(at + first) : view.end(at + last)
  const region: Region = { start: view.start(at + first), end }
  const replacement = verbatimReplacement(text, region, {
    oldText: oldText.slice(shared, oldText.length - kept),
    newText: newText.slice(shared, newText.length - kept),
  })
  return { ...region, rung: 'punctuation', confidence: 0.9, replacement }
}

/** Whole lines that are equal under `key`, with the new text indented as the file is. */
function sameLines(
  hay: Haystack,
  edit: Edit,
  key: (line: string) => string,
  rung: 'whitespace' | 'punctuation',
): Match[] {
  const table = hay.lines()
  const wanted = splitLines(edit.oldText, false).map(line => key(line.text))
  const anchor = wanted.findIndex(line => line !== '')
  if (anchor === -1) return []
  const keys = table.lines.map(line => key(line.text))
  const matches: Match[] = []
  let from = 0
  for (;;) {
    const at = keys.indexOf(wanted[anchor] ?? '', from + anchor)
    if (at === -1) return matches
    const first = at - anchor
    from = first + 1
    if (!wanted.every((line, index) => keys[first + index] === line)) continue
    matches.push(wholeLines(table, first, edit, rung, rung === 'whitespace' ? 0.95 : 0.9))
    // When one place is meant, places that overlap count too.
    if (edit.replaceAll) from = first + wanted.length
    if (matches.length > MOST_MATCHES) return matches
  }
}

function similar(hay: Haystack, edit: Edit): Found {
  const table = hay.lines()
  const wanted = splitLines(edit.oldText, false).map(line => line.text)
  const candidates = mostSimilar(table, wanted)
  const [best, second] = candidates
  if (best === undefined || !best.isEnough) return { ok: true, matches: [] }
  const toMatch = (first: number, score: number): Match =>
    wholeLines(table, first, edit, 'similarity', Math.round(score * 100) / 100)
  if (second !== undefined && second.score > best.score - 0.05) {
    return { ok: false, rivals: [toMatch(best.first, best.score), toMatch(second.first, second.score)] }
  }
  return { ok: true, matches: [toMatch(best.first, best.score)] }
}

/** A match of whole lines, one line of the file for each line of the old text. */
function wholeLines(
  table: LineTable,
  first: number,
  edit: Edit,
  rung: 'whitespace' | 'punctuation' | 'similarity',
  confidence: number,
): Match {
  const old = splitLines(edit.oldText, false)
  const pairs: Pair[] = old.map((line, index) => ({
    old: line,
    file: table.lines[first + index] ?? { text: '', eol: '' },
  }))
  const last = pairs.at(-1)
  const start = table.starts[first] ?? 0
  const end = (table.starts[first + old.length] ?? table.text.length) - (last?.file.eol.length ?? 0)
  const { replacement, takesLineEnd } = pairedReplacement(table, { start, end }, pairs, edit)
  const region = { start, end: takesLineEnd ? end + (last?.file.eol.length ?? 0) : end }
  return { ...region, rung, confidence, replacement }
}

/** When one place is meant, places that overlap count too: 'aa' is not unique in 'aaa'. */
function occurrences(text: string, piece: string, all: boolean): number[] {
  const found: number[] = []
  const step = all ? piece.length : 1
  const most = all ? MOST_MATCHES : MOST_SHOWN
  for (let at = text.indexOf(piece); at !== -1 && found.length <= most; at = text.indexOf(piece, at + step)) {
    found.push(at)
  }
  return found
}

function commonLength(a: string, b: string, fromEnd: boolean): number {
  const most = Math.min(a.length, b.length)
  let length = 0
  while (length < most) {
    const i = fromEnd ? a.length - 1 - length : length
    const j = fromEnd ? b.length - 1 - length : length
    if (a.charCodeAt(i) !== b.charCodeAt(j)) break
    length += 1
  }
  return length
}

function isPlainAscii(text: string): boolean {
  return !/[^\0-\x7f]/.test(text)
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
