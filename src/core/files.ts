import type { Effect } from './effects.ts'

/**
 * The only way tools touch the file system. Paths may be relative to the call's folder. Reads go where the permission
 * engine allows; changes only inside the write scope, on the real path, recorded so that they can be undone.
 */
export interface Files {
  /** Absolute form of a path as the tool got it; links are not resolved. */
  resolve(path: string): string
  /** Opens an existing regular file. The caller closes it. */
  open(path: string): Promise<OpenFile>
  list(path: string): Promise<DirectoryEntry[]>
  /**
   * The one way to create, replace or edit a file: `change` gets the current bytes (null: no such file) under a lock
   * that other Kogu processes respect, and returns the new ones. Atomic; keeps mode and owner, and writes through links.
   * What `change` throws ends the call with nothing changed; equal bytes change nothing and are not recorded.
   */
  update(path: string, change: FileChange, options?: UpdateOptions): Promise<Effect>
  remove(path: string): Promise<Effect[]>
  move(from: string, to: string, options?: { overwrite?: boolean }): Promise<Effect[]>
  /** What this run last saw of each file as a whole: its content hash by real path. */
  readonly receipts: Receipts
}

export interface OpenFile {
  /** Real path of what was opened. */
  readonly path: string
  readonly size: number
  readonly mode: number
  read(position: number, length: number): Promise<Uint8Array>
  close(): void
}

export interface DirectoryEntry {
  name: string
  kind: 'file' | 'directory' | 'link' | 'other'
  size: number
  modifiedMs: number
}

export type FileChange = (before: Uint8Array | null, current: CurrentFile) => Uint8Array

/** The file that `change` is about to replace, or the place where it will be. */
export interface CurrentFile {
  /** Real path: the key of its receipt. */
  readonly path: string
  readonly mode: number | null
  /** Hash of `before`. */
  readonly sha256: string | null
}

export interface UpdateOptions {
  /** Create missing parent folders (recorded as effects too). */
  createDirectories?: boolean
}

export interface Receipts {
  get(realPath: string): string | undefined
  set(realPath: string, sha256: string): void
  delete(realPath: string): void
  entries(): Iterable<[string, string]>
}

/** File access of one call. */
export interface CallFiles {
  readonly files: Files
  /** Grows while the call runs. */
  readonly effects: readonly Effect[]
  /** Completes the undo record. */
  close(): Promise<void>
}
