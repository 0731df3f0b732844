import { type LineTable, lineEndView, lineTable, splitLines, type View } from './lines.ts'
import { type Pair, pairedReplacement, verbatimReplacement } from './replacement.ts'
import type { Edit, Match } from './types.ts'

/** A text that edits are looked up in. Views and lines are made when the first edit needs them, and kept. */
export interface Haystack {
  readonly text: string
  readonly lineEnds: () => View
  readonly lines: () => LineTable
}

export function haystack(text: string): Haystack {
  return {
    text,
    lineEnds: once(() => lineEndView(text)),
    lines: once(() => lineTable(text)),
  }
}

/** More replacements than this in one call are refused: 'e' in a large file would be millions. */
export const MOST_MATCHES = 100_000
/** Enough to know that a text is not unique. */
const MOST_SHOWN = 1000

/**
 * All matches of the strictest rung that has any. Looser rungs are never mixed in: an exact match and one with other
 * whitespace are one match, not two. Text that is only similar is not matched: the refusal shows where it is.
 */
export function climb(hay: Haystack, edit: Edit): readonly Match[] {
  for (const rung of [exactText, sameText, lastLineWithoutEnd, sameButWhitespace]) {
    const matches = rung(hay, edit)
    if (matches.length > 0) return matches
  }
  return []
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
      return { ...region, rung: 'exact', replacement }
    })
}

/** Line ends count as equal here: nobody who reads a file can see which kind it has. */
function sameText(hay: Haystack, edit: Edit): Match[] {
  const view = hay.lineEnds()
  const old = quotedLineEnds(edit.oldText)
  return occurrences(view.text, old, edit.replaceAll).map(at => {
    const region = { start: view.original(at), end: view.original(at + old.length) }
    const replacement = verbatimReplacement(hay.text, region, edit)
    return { ...region, rung: 'line_ends', replacement }
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
  const region = { start: view.original(at), end: hay.text.length }
  const replacement = verbatimReplacement(hay.text, region, { oldText: shorter, newText })
  return [{ ...region, rung: 'line_ends', replacement }]
}

/** Whole lines that are equal but for the space around them, with the new text indented as the file is. */
function sameButWhitespace(hay: Haystack, edit: Edit): Match[] {
  const table = hay.lines()
  const wanted = splitLines(edit.oldText, false).map(line => line.text.trim())
  const anchor = wanted.findIndex(line => line !== '')
  if (anchor === -1) return []
  const keys = table.lines.map(line => line.text.trim())
  const matches: Match[] = []
  let from = 0
  for (;;) {
    const at = keys.indexOf(wanted[anchor] ?? '', from + anchor)
    if (at === -1) return matches
    const first = at - anchor
    from = first + 1
    if (!wanted.every((line, index) => keys[first + index] === line)) continue
    matches.push(wholeLines(table, first, edit))
    // When one place is meant, places that overlap count too.
    if (edit.replaceAll) from = first + wanted.length
    if (matches.length > MOST_MATCHES) return matches
  }
}

/** A match of whole lines, one line of the file for each line of the old text. */
function wholeLines(table: LineTable, first: number, edit: Edit): Match {
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
  return { ...region, rung: 'whitespace', replacement }
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

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
