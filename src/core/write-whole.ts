import { randomBytes } from 'node:crypto'
import { linkSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { isSystemError } from './errors.ts'

export interface WriteOptions {
  /** Defaults to readable for the user alone. */
  readonly mode?: number
  /** Returns when the content is on the disk. */
  readonly flush?: boolean
}

/** Replaces a file, or makes it: whoever reads it sees the old content or the new one, never a part. */
export function writeWhole(path: string, content: string | Uint8Array, options: WriteOptions = {}): void {
  const draft = writeDraft(path, content, options)
  try {
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

/** The same for a new file; false when there is one. Of several processes that make it at once, one does. */
export function makeWhole(path: string, content: string | Uint8Array, options: WriteOptions = {}): boolean {
  const draft = writeDraft(path, content, options)
  try {
    linkSync(draft, path)
    return true
  } catch (error) {
    if (isSystemError(error) && error.code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

/** It has a name that nobody can guess, and is not written through a link that a repository put there. */
function writeDraft(
  path: string,
  content: string | Uint8Array,
  { mode = 0o600, flush = false }: WriteOptions,
): string {
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  try {
    writeFileSync(draft, content, { flag: 'wx', mode, flush })
    return draft
  } catch (error) {
    // A full disk: nobody else would remove it.
    rmSync(draft, { force: true })
    throw error
  }
}
