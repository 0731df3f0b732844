import { diffArrays } from 'diff'
import { reindenter } from './indent.ts'
import { endsWithCarriageReturn, type Line, type LineTable, lineEndNear, splitLines } from './lines.ts'
import type { Edit, Region } from './types.ts'

/** A line of the old text and the line of the file that it stands for. */
export interface Pair {
  readonly old: Line
  readonly file: Line
}

type Texts = Pick<Edit, 'oldText' | 'newText'>

/** The new text with the line ends of the region that it replaces. */
export function verbatimReplacement(text: string, region: Region, { oldText, newText }: Texts): string {
  if (!/[\r\n]/.test(newText)) return newText
  if (!newText.includes('\r') && !text.includes('\r')) return newText
  const lineEnd = lineEndNear(text, region)
  // Nothing to go by, or an edit that is about the line ends themselves.
  if (lineEnd === null || unified(oldText) === unified(newText)) return newText
  const inFile = splitLines(text.slice(region.start, region.end), endsWithCarriageReturn(text))
  const pairs = splitLines(oldText, false).map((old, index) => ({ old, file: inFile[index] ?? old }))
  return compose(pairs, splitLines(newText, false), lineEnd, line => line)
}

/**
 * The new text for a match of whole lines that are not the same as the old text. `region` ends before the last line's
 * end; `takesLineEnd` says that the edit removes that too.
 */
export function pairedReplacement(
  table: LineTable,
  region: Region,
  pairs: readonly Pair[],
  { newText }: Texts,
): { replacement: string; takesLineEnd: boolean } {
  const newLines = splitLines(newText, false)
  const oldEnds = pairs.at(-1)?.old.eol !== ''
  const last = newLines.at(-1)
  const newEnds = last !== undefined && last.eol !== ''
  // Both end with a line end: that of the file stays where it is.
  const lines = oldEnds && newEnds ? newLines.with(-1, { text: last.text, eol: '' }) : newLines
  const reindent = reindenter(table, pairs, lines)
  const lineEnd = lineEndNear(table.text, region) ?? '\n'
  return { replacement: compose(pairs, lines, lineEnd, reindent), takesLineEnd: oldEnds && !newEnds }
}

/**
 * Puts the new lines together. Lines that old and new text share are those of the file, byte for byte: what the edit did
 * not mean to change stays, even where the old text was not quite the same.
 */
function compose(
  pairs: readonly Pair[],
  newLines: readonly Line[],
  lineEnd: string,
  reindent: (line: string, near: number) => string,
): string {
  const out: string[] = []
  let oldIndex = 0
  let newIndex = 0
  for (const { removed, added, shared } of hunks(pairs, newLines)) {
    for (let i = 0; i < added; i += 1) {
      const near = oldIndex + Math.min(i, Math.max(0, removed - 1))
      const line = newLines[newIndex + i]
      if (line === undefined) break
      const own = pairs[removed > 0 ? near : oldIndex - 1]?.file.eol
      out.push(reindent(line.text, near), line.eol === '' ? '' : own || lineEnd)
    }
    oldIndex += removed
    newIndex += added
    for (let i = 0; i < shared; i += 1) {
      const kept = pairs[oldIndex + i]?.file
      if (kept === undefined) break
      out.push(kept.text, newLines[newIndex + i]?.eol === '' ? '' : kept.eol || lineEnd)
    }
    oldIndex += shared
    newIndex += shared
  }
  return out.join('')
}

interface Hunk {
  removed: number
  added: number
  shared: number
}

/** Lines that are equal at both ends are taken as the same ones; between them, as many as can be. */
function hunks(pairs: readonly Pair[], newLines: readonly Line[]): Hunk[] {
  const oldTexts = pairs.map(pair => pair.old.text)
  const newTexts = newLines.map(line => line.text)
  const most = Math.min(oldTexts.length, newTexts.length)
  let head = 0
  while (head < most && oldTexts[head] === newTexts[head]) head += 1
  let tail = 0
  while (tail < most - head && oldTexts.at(-1 - tail) === newTexts.at(-1 - tail)) tail += 1
  const middle = middleHunks(
    oldTexts.slice(head, oldTexts.length - tail),
    newTexts.slice(head, newTexts.length - tail),
  )
  return [{ removed: 0, added: 0, shared: head }, ...middle, { removed: 0, added: 0, shared: tail }]
}

function middleHunks(oldTexts: string[], newTexts: string[]): Hunk[] {
  const changes = diffArrays(oldTexts, newTexts, { timeout: 300 })
  // Too different to compare in time: everything is new.
  if (changes === undefined) return [{ removed: oldTexts.length, added: newTexts.length, shared: 0 }]
  const result: Hunk[] = []
  let current: Hunk = { removed: 0, added: 0, shared: 0 }
  for (const change of changes) {
    if (change.removed) current.removed += change.count
    else if (change.added) current.added += change.count
    else {
      result.push({ ...current, shared: change.count })
      current = { removed: 0, added: 0, shared: 0 }
    }
  }
  return [...result, current]
}

function unified(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n')
}
