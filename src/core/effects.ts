/** What one call changed, entry by entry. Written to the audit log and to the undo store, shown by `kogu changes`. */
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
