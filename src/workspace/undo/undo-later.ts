import { type RecordPlace, readRecord, type SavedRecord } from './undo-read.ts'
import type { Change, RecordHeader } from './undo-record.ts'

// Content alone cannot tell whose work it is: a file that was written A, then B, then A again holds the third call's A.
// So a change is taken back only when what is at its path is not the work of a later call that is still in force.

export interface LaterCalls {
  /** The newest call after `record` whose work is what lies at the path of `change` now. */
  workAt(record: SavedRecord, change: Change, questions: LaterQuestions): RecordHeader | undefined
}

export interface LaterQuestions {
  /** Whether the undo at hand takes this call back, at this path too. */
  readonly isTaken: (call: string, path: string) => boolean
  /** Whether the path is as this change found it, or left it. */
  readonly isAs: (change: Change, side: 'before' | 'after') => boolean
}

/** What one call did to one path. */
interface Touch {
  readonly record: SavedRecord
  readonly first: Change
  readonly last: Change
  /** It moved a file there. */
  readonly isArrival: boolean
}

type HeaderPlace = RecordPlace & { readonly header: RecordHeader }

/** `all`: where the records are, the newest first. Those after `oldest` are read when they are first asked about. */
export function createLaterCalls(all: readonly HeaderPlace[], oldest: string): LaterCalls {
  const newestOf = new Map(all.toReversed().map(({ header }) => [header.call, header.id]))
  let touches: ReadonlyMap<string, readonly Touch[]> | undefined
  return {
    workAt(record, { path }, { isTaken, isAs }) {
      touches ??= indexTouches(all.filter(({ header }) => header.id > oldest))
      const { id, call } = record.header
      const isLater = (other: string): boolean => other !== call && (newestOf.get(other) ?? '') > id
      const undone = new Set<string>()
      for (const { record: later, first, last, isArrival } of touches.get(path) ?? []) {
        const { header, gitIndexes } = later
        if (header.id <= id) return undefined
        if (header.call === call || undone.has(header.call) || isTaken(header.call, path)) continue
        for (const each of header.undoes ?? []) undone.add(each)
        // Taking back what came after the change only leads back to how the change left it.
        if (header.undoes?.every(isLater)) continue
        // Git keeps rewriting an index without changing what it says.
        const index = gitIndexes.get(path)
        if (index !== undefined && index === record.gitIndexes.get(path)) continue
        // Otherwise somebody has taken it back by hand, or it left the path as it was.
        if (isAs(last, 'after') && (isArrival || !isAs(first, 'before'))) return header
      }
      return undefined
    },
  }
}

/** Where a change moved its file to, if it did. */
export function whereTo({ content }: Change): string | undefined {
  return typeof content === 'object' && 'movedTo' in content ? content.movedTo : undefined
}

/** By path, the newest first. */
function indexTouches(places: readonly HeaderPlace[]): Map<string, Touch[]> {
  const index = new Map<string, Map<string, Touch>>()
  for (const place of places) {
    const record = readRecord(place)
    const arrivals = new Set(record?.changes.map(whereTo))
    for (const change of record?.changes.toReversed() ?? []) {
      if (record === undefined) continue
      const atPath = index.get(change.path) ?? new Map<string, Touch>()
      const known = atPath.get(place.header.call) ?? { record, last: change }
      atPath.set(place.header.call, { ...known, first: change, isArrival: arrivals.has(change.path) })
      index.set(change.path, atPath)
    }
  }
  return new Map([...index].map(([path, atPath]) => [path, [...atPath.values()]]))
}
