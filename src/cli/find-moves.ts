import { basename, dirname } from 'node:path'
import { isInside } from '../core/real-path.ts'

/** One path of many that change together. */
export interface PathChange {
  readonly path: string
  readonly entry: 'file' | 'directory' | 'link'
  readonly kind: 'comes' | 'goes' | 'stays'
  /** Where a file that goes is afterwards. */
  readonly movedTo?: string
}

export interface Move {
  readonly from: string
  readonly to: string
  /** In a folder; 1 for a file. */
  readonly files: number
}

/** Files that went to another place, and folders that went there whole, with all paths that this explains. */
export function findMoves(changes: readonly PathChange[]): { moves: Move[]; explained: Set<string> } {
  const moves: Move[] = []
  const explained = new Set<string>()
  const byPath = withoutRepeated(changes)
  const pairs = [...byPath.values()].flatMap(({ path: from, movedTo: to }) =>
    to !== undefined && byPath.get(to)?.kind === 'comes' ? [{ from, to }] : [],
  )
  for (const { from, to } of foldersAround(pairs, byPath)) {
    if (explained.has(from)) continue
    const inside = [...byPath.keys()].filter(path => isInside(path, from) || isInside(path, to))
    if (!inside.every(path => hasMoved(path, { from, to }, byPath))) continue
    for (const path of inside) explained.add(path)
    moves.push({ from, to, files: inside.filter(path => byPath.get(path)?.movedTo !== undefined).length })
  }
  for (const { from, to } of pairs) {
    if (explained.has(from)) continue
    explained.add(from).add(to)
    moves.push({ from, to, files: 1 })
  }
  return { moves, explained }
}

/** What happened to a path several times is more than a move. */
function withoutRepeated(changes: readonly PathChange[]): Map<string, PathChange> {
  const groups = Map.groupBy(changes, ({ path }) => path)
  return new Map(
    [...groups].flatMap(([path, [first, ...more]]) => {
      if (first === undefined) return []
      return [[path, more.length === 0 ? first : { path, entry: first.entry, kind: 'stays' }]]
    }),
  )
}

/** Folders that may have moved with their files, the outermost first. */
function foldersAround(
  pairs: readonly { from: string; to: string }[],
  byPath: ReadonlyMap<string, PathChange>,
): { from: string; to: string }[] {
  const found = new Map<string, { from: string; to: string }>()
  for (let { from, to } of pairs) {
    while (basename(from) === basename(to)) {
      from = dirname(from)
      to = dirname(to)
      if (byPath.get(from)?.kind !== 'goes' || byPath.get(to)?.kind !== 'comes') break
      if (found.has(`${from}\0${to}`)) break
      found.set(`${from}\0${to}`, { from, to })
    }
  }
  return [...found.values()].sort((a, b) => a.from.length - b.from.length)
}

/** Whether a path at the old or new place has its counterpart at the other. */
function hasMoved(
  path: string,
  { from, to }: { from: string; to: string },
  byPath: ReadonlyMap<string, PathChange>,
): boolean {
  const isOld = isInside(path, from)
  const other = isOld ? to + path.slice(from.length) : from + path.slice(to.length)
  const [old, fresh] = [byPath.get(isOld ? path : other), byPath.get(isOld ? other : path)]
  if (old?.kind !== 'goes' || fresh?.kind !== 'comes' || old.entry !== fresh.entry) return false
  return old.entry !== 'file' || old.movedTo === fresh.path
}
