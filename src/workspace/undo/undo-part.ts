import { whereTo } from './undo-later.ts'
import type { CallChanges, UndoConflict } from './undo-plan.ts'
import type { Change } from './undo-record.ts'

// A call of which some paths are in conflict is taken back in part. What belongs together then goes or stays together.

export interface Part {
  readonly call: CallChanges
  /** What is in conflict. */
  readonly found: readonly UndoConflict[]
  /** The repository around a path, when half of it must not be taken back. */
  readonly repositoryAround: (path: string) => string | undefined
  /** Takes the call back once more, from the start, without these changes. */
  readonly takeAgain: (isLeft: (change: Change) => boolean) => Promise<UndoConflict[]>
}

export async function takeBackInPart(part: Part): Promise<UndoConflict[]> {
  const { call, found, repositoryAround, takeAgain } = part
  const torn = new Set(found.flatMap(({ path }) => repositoryAround(path) ?? []))
  const isTorn = (path: string): boolean => torn.has(repositoryAround(path) ?? '')
  const inTorn = found.filter(({ path }) => isTorn(path))
  const stranded = strandedBy(call, found)
  let rest = found.filter(({ path }) => !isTorn(path))
  for (let isNew = torn.size + stranded.size > 0; isNew; ) {
    rest = await takeAgain(({ path }) => isTorn(path) || stranded.has(path))
    const before = stranded.size
    for (const path of strandedBy(call, rest)) stranded.add(path)
    isNew = stranded.size > before
  }
  return [
    ...inTorn.map(each => ({ ...each, reason: `${each.reason}, so its whole repository stays as it is` })),
    ...rest,
  ]
}

/** Where files are that were moved and cannot go back: there they stay, or they would be nowhere. */
function strandedBy({ records }: CallChanges, conflicts: readonly UndoConflict[]): Set<string> {
  const paths = new Set(conflicts.map(({ path }) => path))
  const stranded = new Set<string>()
  for (const change of records.flatMap(({ changes }) => changes)) {
    const to = whereTo(change)
    if (to !== undefined && paths.has(change.path)) stranded.add(to)
  }
  return stranded
}
