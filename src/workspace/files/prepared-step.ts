import type { Stats } from 'node:fs'
import type { UndoStep } from '../undo/undo-plan.ts'
import type { SavedRecord } from '../undo/undo-read.ts'
import type { ContentSource } from '../undo/undo-record.ts'

/** Up to this many files are each replaced at once and synced; of more, the system writes them in its own time. */
export const MAX_ATOMIC = 64

/** Step with what is needed to do it and to take it back. */
export interface PreparedStep extends UndoStep {
  /** The file that is about to be replaced or removed. */
  readonly stat?: Stats
  /** A moved file goes back by renaming it. */
  readonly renameFrom?: string
  /** It goes to this path by being renamed. */
  readonly renameTo?: string
  /** Missing when there is nothing to keep, or when it is too large. */
  readonly kept?: ContentSource
  /** Written into the file itself. */
  readonly inPlace: boolean
}

export function changesOnlyMode({ now, then }: UndoStep): boolean {
  return now?.entry === 'file' && then?.entry === 'file' && now.state.sha256 === then.state.sha256
}

/** A file, folder or link makes place for something of another kind. */
export function changesKind({ now, then }: UndoStep): boolean {
  return now !== undefined && then !== undefined && now.entry !== then.entry
}

/** The record and number under which the file that comes was set aside: it gets its name back instead of being written. */
export function comesFromAside({ now, then }: UndoStep): { record: SavedRecord; number: number } | undefined {
  if (now !== undefined || then?.content?.from !== 'record') return undefined
  const { record, change } = then.content
  return typeof change.content === 'object' && 'setAside' in change.content
    ? { record, number: change.content.setAside }
    : undefined
}
