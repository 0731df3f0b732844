import { formatPatch, type StructuredPatch, type StructuredPatchHunk, structuredPatch } from 'diff'

export interface DiffSummary {
  /** Unified diff with three lines of context, or null when the texts are too different to compare in time. */
  readonly diff: string | null
  readonly added: number
  readonly removed: number
}

const CONTEXT = 3
const MOST_CHARACTERS = 60_000
/** Comparing slices is far faster than comparing characters. */
const BLOCKS = [4096, 64, 1]

/**
 * What changed between two texts. Only the part between the first and the last difference is compared, and of a longer diff than
 * `most` characters the end is left out.
 */
export function summarizeDiff(
  before: string,
  after: string,
  name: string,
  most = MOST_CHARACTERS,
): DiffSummary {
  if (before === after) return { diff: '', added: 0, removed: 0 }
  const head = windowStart(before, after)
  const tail = windowEnd(before, after, head)
  const oldPart = before.slice(head, before.length - tail)
  const newPart = after.slice(head, after.length - tail)
  const patch = toPatch(oldPart, newPart, name)
  if (patch === undefined) return { diff: null, ...countChanged(oldPart, newPart) }
  const skipped = countLineEnds(before, head)
  let added = 0
  let removed = 0
  for (const hunk of patch.hunks) {
    hunk.oldStart += skipped
    hunk.newStart += skipped
    for (const line of hunk.lines) {
      if (line.startsWith('+')) added += 1
      if (line.startsWith('-')) removed += 1
    }
  }
  addContext(patch.hunks, before.slice(0, head), before.slice(before.length - tail))
  const text = withPlainName(formatPatch(patch).replace(/^=+\n/, ''), name)
  return { diff: text.length > most ? shorten(text, most) : text, added, removed }
}

function toPatch(before: string, after: string, name: string): StructuredPatch | undefined {
  const names = { oldFileName: `a/${name}`, newFileName: `b/${name}`, oldHeader: '', newHeader: '' }
  const hunk = oneHunk(before, after)
  if (hunk !== undefined) return { ...names, hunks: [hunk] }
  return structuredPatch(names.oldFileName, names.newFileName, before, after, '', '', {
    context: CONTEXT,
    timeout: 300,
  })
}

/** Names are quoted, in bytes, only where they could pass for something else. */
function withPlainName(diff: string, name: string): string {
  if (/[\p{C}\p{Zl}\p{Zp}"\\]/u.test(name)) return diff
  return diff.replace(/^--- .*\n\+\+\+ .*\n/, () => `--- a/${name}\n+++ b/${name}\n`)
}

/**
 * Where one line takes the place of some, or some of one, as in most edits, there is nothing to search for. Nor in a new file:
 * whether its content is shown must not depend on how busy the machine is.
 */
function oneHunk(before: string, after: string): StructuredPatchHunk | undefined {
  const isWhole = (text: string): boolean => text === '' || text.endsWith('\n')
  if (!isWhole(before) || !isWhole(after)) return undefined
  const linesOf = (text: string): string[] => (text === '' ? [] : text.slice(0, -1).split('\n'))
  const [old, fresh] = [linesOf(before), linesOf(after)]
  const most = Math.min(old.length, fresh.length)
  let first = 0
  while (first < most && old[first] === fresh[first]) first += 1
  let last = 0
  while (last < most - first && old[old.length - 1 - last] === fresh[fresh.length - 1 - last]) last += 1
  const removed = old.slice(first, old.length - last)
  const added = fresh.slice(first, fresh.length - last)
  if (Math.min(removed.length, added.length) > 1 || removed.some(line => added.includes(line)))
    return undefined
  const above = old.slice(Math.max(0, first - CONTEXT), first)
  const below = old.slice(old.length - last).slice(0, CONTEXT)
  const start = first - above.length + 1
  const context = above.length + below.length
  return {
    oldStart: start,
    oldLines: context + removed.length,
    newStart: start,
    newLines: context + added.length,
    lines: [
      ...above.map(line => ` ${line}`),
      ...removed.map(line => `-${line}`),
      ...added.map(line => `+${line}`),
      ...below.map(line => ` ${line}`),
    ],
  }
}

/** Without a diff: lines that are only on one side, as often as they are. A line that only moved is not counted. */
function countChanged(before: string, after: string): { added: number; removed: number } {
  const left = new Map<string, number>()
  const lines = before.split('\n')
  for (const line of lines) left.set(line, (left.get(line) ?? 0) + 1)
  let added = 0
  let kept = 0
  for (const line of after.split('\n')) {
    const more = left.get(line) ?? 0
    if (more === 0) added += 1
    else {
      left.set(line, more - 1)
      kept += 1
    }
  }
  return { added, removed: lines.length - kept }
}

/**
 * Lines that repeat may put a difference close to an end of what was compared. Less context than usual would say that the
 * file begins or ends there.
 */
function addContext(hunks: readonly StructuredPatchHunk[], above: string, below: string): void {
  const [first, last] = [hunks[0], hunks.at(-1)]
  if (first === undefined || last === undefined) return
  const isContext = (line: string): boolean => line.startsWith(' ')
  const leading = first.lines.findIndex(line => !isContext(line))
  const missingAbove = lastLines(above, CONTEXT - leading)
  first.lines.unshift(...missingAbove)
  first.oldStart -= missingAbove.length
  first.newStart -= missingAbove.length
  const trailing = last.lines.length - 1 - last.lines.findLastIndex(line => !isContext(line))
  const missingBelow = firstLines(below, CONTEXT - trailing)
  last.lines.push(...missingBelow.shown)
  for (const [hunk, count] of [
    [first, missingAbove.length],
    [last, missingBelow.count],
  ] as const) {
    hunk.oldLines += count
    hunk.newLines += count
  }
}

function lastLines(text: string, count: number): string[] {
  const lines = text.slice(linesAbove(text, text.length, count), -1).split('\n')
  return count <= 0 || text === '' ? [] : lines.map(line => ` ${line}`)
}

/** Where the line begins that is so many lines above the one that begins at `start`. */
function linesAbove(text: string, start: number, count: number): number {
  let at = start
  for (let lines = 0; lines < count && at > 0; lines += 1)
    at = at < 2 ? 0 : text.lastIndexOf('\n', at - 2) + 1
  return at
}

function firstLines(text: string, most: number): { shown: string[]; count: number } {
  const shown: string[] = []
  let count = 0
  for (let at = 0; count < most && at < text.length; count += 1) {
    const end = text.indexOf('\n', at)
    shown.push(` ${text.slice(at, end === -1 ? text.length : end)}`)
    if (end === -1) shown.push('\\ No newline at end of file')
    at = end === -1 ? text.length : end + 1
  }
  return { shown, count }
}

function shorten(diff: string, most: number): string {
  const end = diff.lastIndexOf('\n', most)
  return `${diff.slice(0, end)}\n[diff cut: ${diff.length - end} characters more]\n`
}

/** Start of the line CONTEXT lines before the first difference. */
function windowStart(before: string, after: string): number {
  const same = sameLength(before, after, (text, from, to) => text.slice(from, to))
  return same === 0 ? 0 : linesAbove(before, before.lastIndexOf('\n', same - 1) + 1, CONTEXT)
}

/** Characters after the CONTEXT lines that follow the last difference. */
function windowEnd(before: string, after: string, head: number): number {
  const [old, fresh] = [before.slice(head), after.slice(head)]
  const same = sameLength(old, fresh, (text, from, to) => text.slice(text.length - to, text.length - from))
  let end = old.indexOf('\n', old.length - same)
  for (let lines = 0; lines < CONTEXT && end !== -1; lines += 1) end = old.indexOf('\n', end + 1)
  return end === -1 ? 0 : old.length - end - 1
}

type Part = (text: string, from: number, to: number) => string

/** How many characters are the same, from where `part` counts. */
function sameLength(before: string, after: string, part: Part): number {
  const most = Math.min(before.length, after.length)
  let same = 0
  for (const block of BLOCKS)
    while (same + block <= most && part(before, same, same + block) === part(after, same, same + block))
      same += block
  return same
}

export function countLines(text: string): number {
  if (text === '') return 0
  return countLineEnds(text, text.length) + (text.endsWith('\n') ? 0 : 1)
}

function countLineEnds(text: string, end: number): number {
  let found = 0
  for (let at = text.indexOf('\n'); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) found += 1
  return found
}
