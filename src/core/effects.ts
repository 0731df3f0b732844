import type { Permit } from './permit.ts'

/** What one call changed, entry by entry. Written to the audit log and to the undo store. */
export interface Effect {
  change: 'created' | 'changed' | 'deleted'
  /** Absolute real path. */
  path: string
  entry: 'file' | 'directory' | 'link'
  before?: EntryState
  after?: EntryState
  /** The old content was too large to keep: this change cannot be undone. */
  undoable?: false
}

export interface EntryState {
  /** Permission bits. */
  mode: number
  size: number
  /** Content hash of a file; of a link, the hash of its target. Absent for folders. */
  sha256?: string
}

/**
 * Effects as a caller is told them. Of what it may not read it learns neither size nor hash: a short secret can be
 * guessed from its hash.
 */
export function toldEffects(
  effects: readonly Effect[],
  permit: Pick<Permit, 'mayRead'> | undefined,
): readonly Effect[] {
  return effects.map(effect => {
    if (effect.entry === 'directory' || permit?.mayRead(effect.path)) return effect
    const { before: _, after: __, ...told } = effect
    return told
  })
}
