import type { Effect } from './effects.ts'

/** What a command did on its layer, before anything of it is in the workspace. */
export interface ProposedChanges {
  /** The name of the layer. */
  readonly layer: string
  /** The workspace. */
  readonly root: string
  /** Over every path with its new state: the changes that are judged are the ones that are kept. */
  readonly digest: string
  /** Entry by entry, by real paths. */
  readonly effects: readonly Effect[]
  /** New symlinks that lead out of the workspace, or to what tools run by themselves: `name -> target`. */
  readonly leavingLinks: readonly string[]
  /** One sentence: files, lines, deletions. */
  readonly summary: string
  /** Files with their lines, deletions apart, and the difference itself; of `unreadable` ones only size and digest. */
  preview(unreadable: ReadonlySet<string>): string
  /** `look`: only to know what would be decided. `settled`: a setting of the person keeps what just the mode asks about. */
  readonly ask?: 'look' | 'settled'
}

/** What was decided about them. */
export type KeptChanges =
  /** `paths`: only these and what is below them. */
  | { readonly keep: true; readonly paths?: readonly string[] | undefined }
  | { readonly keep: false; readonly reason: string; readonly byMode?: boolean }
