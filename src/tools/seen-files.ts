import type { LineRange, Run } from '../core/run.ts'
import type { ToolContext } from '../core/tool.ts'

// What a run knows of files beyond receipts: parts of files that were shown, which become a receipt once they cover
// everything, and the content that was read, for saying what somebody else changed since.

/** How well the run knows a file: all of it as it is now, a part of it, as it was once, or not at all. */
export type Knowledge = 'current' | 'partial' | 'stale' | 'none'

type Place = Pick<ToolContext, 'files' | 'run'>

export function knowledgeOf(path: string, sha256: string | null, { files, run }: Place): Knowledge {
  const receipt = files.receipts.get(path)
  if (receipt !== undefined && receipt === sha256) return 'current'
  const view = run.partialViews.get(path)
  if (view !== undefined && view.sha256 === sha256) return 'partial'
  return receipt === undefined && view === undefined ? 'none' : 'stale'
}

/** More pieces of one file than this are not remembered: it has to be read again. */
const MOST_RANGES = 1000

/** Takes down which lines of a file the run was shown. One line of it is not the file. */
export function recordView(
  path: string,
  { sha256, totalLines }: { sha256: string; totalLines: number },
  shown: readonly LineRange[],
  { files, run }: Place,
): void {
  if (files.receipts.get(path) === sha256) return
  const earlier = run.partialViews.get(path)
  const lines = merge([...(earlier?.sha256 === sha256 ? earlier.lines : []), ...shown])
  const [first] = lines
  const isWhole = totalLines === 0 || (first !== undefined && first[0] === 0 && first[1] >= totalLines)
  // Deleted first: the newest come last, and the oldest are forgotten first.
  run.partialViews.delete(path)
  if (isWhole) files.receipts.set(path, sha256)
  else run.partialViews.set(path, { sha256, lines: lines.slice(0, MOST_RANGES) })
}

/** After an edit of a file that is known in part: it still is, but which lines those are is not certain any more. */
export function keepPartialView(path: string, sha256: string, { run }: Place): void {
  run.partialViews.set(path, { sha256, lines: [] })
}

function merge(ranges: readonly LineRange[]): LineRange[] {
  const merged: LineRange[] = []
  for (const [start, end] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const last = merged.at(-1)
    if (last === undefined || start > last[1]) merged.push([start, end])
    else merged[merged.length - 1] = [last[0], Math.max(last[1], end)]
  }
  return merged
}

const MOST_BYTES_OF_FILE = 256 * 1024
const MOST_BYTES = 8 * 1024 * 1024
/** What the smallest file counts as, so that there are never many. */
const LEAST_BYTES = 4096

/** Keeps what was read, within limits; null when it is too large to have been read at once. The oldest go first. */
export function rememberContent(run: Run, path: string, bytes: Uint8Array | null): void {
  run.contents.delete(path)
  if (bytes === null || bytes.length > MOST_BYTES_OF_FILE) return
  // A copy: what was given may be a small part of a large buffer.
  run.contents.set(path, bytes.slice())
  let kept = 0
  for (const content of run.contents.values()) kept += Math.max(LEAST_BYTES, content.length)
  for (const [oldest, content] of run.contents) {
    if (kept <= MOST_BYTES) return
    run.contents.delete(oldest)
    kept -= Math.max(LEAST_BYTES, content.length)
  }
}
