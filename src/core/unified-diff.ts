import { formatPatch, structuredPatch } from 'diff'

export interface DiffSummary {
  /** Unified diff with three lines of context, or null when the texts are too different to compare in time. */
  readonly diff: string | null
  readonly added: number
  readonly removed: number
}

const CONTEXT = 3
const MOST_CHARACTERS = 60_000

/** What changed between two texts. Only the part between the first and the last difference is compared. */
export function summarizeDiff(before: string, after: string, name: string): DiffSummary {
  if (before === after) return { diff: '', added: 0, removed: 0 }
  const head = windowStart(before, after)
  const tail = windowEnd(before, after, head)
  const oldPart = before.slice(head, before.length - tail)
  const newPart = after.slice(head, after.length - tail)
  const patch = structuredPatch(`a/${name}`, `b/${name}`, oldPart, newPart, '', '', {
    context: CONTEXT,
    timeout: 300,
  })
  if (patch === undefined) return { diff: null, added: countLines(newPart), removed: countLines(oldPart) }
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
  const cutAtEnd = tail > 0
  // The window ends inside the text, not at the end of the file.
  if (cutAtEnd) for (const hunk of patch.hunks) hunk.lines = hunk.lines.filter(line => !line.startsWith('\\'))
  const text = formatPatch(patch).replace(/^=+\n/, '')
  return { diff: text.length > MOST_CHARACTERS ? shorten(text) : text, added, removed }
}

function shorten(diff: string): string {
  const end = diff.lastIndexOf('\n', MOST_CHARACTERS)
  return `${diff.slice(0, end)}\n[diff cut: ${diff.length - end} characters more]\n`
}

/** Start of the line CONTEXT lines before the first difference. */
function windowStart(before: string, after: string): number {
  let same = 0
  const most = Math.min(before.length, after.length)
  // Whole blocks first: comparing slices is far faster than comparing characters.
  while (same + 4096 <= most && before.slice(same, same + 4096) === after.slice(same, same + 4096))
    same += 4096
  while (same < most && before.charCodeAt(same) === after.charCodeAt(same)) same += 1
  let start = before.lastIndexOf('\n', same - 1) + 1
  if (same === 0) return 0
  for (let lines = 0; lines < CONTEXT && start > 0; lines += 1) {
    start = start < 2 ? 0 : before.lastIndexOf('\n', start - 2) + 1
  }
  return start
}

/** Characters after the CONTEXT lines that follow the last difference. */
function windowEnd(before: string, after: string, head: number): number {
  const most = Math.min(before.length, after.length) - head
  let same = 0
  while (same + 4096 <= most && sameEnd(before, after, same)) same += 4096
  while (
    same < most &&
    before.charCodeAt(before.length - 1 - same) === after.charCodeAt(after.length - 1 - same)
  ) {
    same += 1
  }
  let end = before.indexOf('\n', before.length - same)
  for (let lines = 0; lines < CONTEXT && end !== -1; lines += 1) end = before.indexOf('\n', end + 1)
  return end === -1 ? 0 : before.length - end - 1
}

function sameEnd(before: string, after: string, same: number): boolean {
  const a = before.length - same
  const b = after.length - same
  return before.slice(a - 4096, a) === after.slice(b - 4096, b)
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
