import type { ShownLine } from './match-stream.ts'
import { MOST_BYTES } from './page-limit.ts'

/** Context lines around matches. */
export interface Around {
  readonly before: number
  readonly after: number
}

export interface MatchPage {
  readonly lines: readonly ShownLine[]
  /** Matches among them. */
  readonly shown: number
  /** Context lines that had no room. */
  readonly leftOut: number
}

/**
 * The matches from `skip` on, as many as there is room for, each with its context. A page that has nothing yet gets a
 * match in any case, with less context if need be: otherwise paging would not move on.
 */
export function matchPage(
  lines: readonly ShownLine[],
  skip: number,
  room: { matches: number; bytes: number },
  around: Around,
): MatchPage {
  const chosen = lines.filter(line => line.isMatch).slice(skip, skip + room.matches)
  const page: ShownLine[] = []
  let bytes = 0
  let shown = 0
  for (const block of blocksOf(lines, chosen, around)) {
    const size = block.reduce((sum, line) => sum + bytesOf(line), 0)
    if (bytes + size > room.bytes) {
      if (shown > 0 || room.bytes < MOST_BYTES) break
      const nearest = nearestLines(block, room.bytes)
      return { lines: nearest, shown: 1, leftOut: block.length - nearest.length }
    }
    page.push(...block)
    bytes += size
    shown += 1
  }
  return { lines: page, shown, leftOut: 0 }
}

/** For each chosen match its line and the context lines that no earlier one has. */
function blocksOf(
  lines: readonly ShownLine[],
  chosen: readonly ShownLine[],
  { before, after }: Around,
): ShownLine[][] {
  const blocks: ShownLine[][] = []
  let early: ShownLine[] = []
  for (const line of lines) {
    const last = chosen[blocks.length - 1]
    const next = chosen[blocks.length]
    if (line === next) {
      blocks.push([...early, line])
      early = []
    } else if (line.isMatch) {
      // On another page.
    } else if (last !== undefined && line.line <= last.end + after) {
      blocks.at(-1)?.push(line)
    } else if (next !== undefined && line.line >= next.line - before) {
      early.push(line)
    }
  }
  return blocks
}

/** The match of a block with the lines nearest to it. */
function nearestLines(block: readonly ShownLine[], room: number): ShownLine[] {
  const match = block.find(line => line.isMatch)?.line ?? 0
  const byDistance = block.toSorted((a, b) => Math.abs(a.line - match) - Math.abs(b.line - match))
  const near = new Set<ShownLine>()
  let bytes = 0
  for (const line of byDistance) {
    bytes += bytesOf(line)
    if (bytes > room) break
    near.add(line)
  }
  return block.filter(line => near.has(line))
}

/** With room for the number before each line and the line end behind it. */
function bytesOf({ line, text }: ShownLine): number {
  const rows = text.split('\n').length
  return Buffer.byteLength(text) + rows * (String(line).length + 2)
}
