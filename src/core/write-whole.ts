import { randomBytes } from 'node:crypto'
import { renameSync, rmSync, writeFileSync } from 'node:fs'

export interface WriteOptions {
  /** Defaults to readable for the user alone. */
  readonly mode?: number
  /** Returns when the content is on the disk. */
  readonly flush?: boolean
}

/**
 * Replaces a file, or makes it: whoever reads it sees the old content or the new one, never a part. The draft has a name
 * that nobody can guess, and is not written through a link that a repository put there.
 */
export function writeWhole(
  path: string,
  content: string | Uint8Array,
  { mode = 0o600, flush = false }: WriteOptions = {},
): void {
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  try {
    writeFileSync(draft, content, { flag: 'wx', mode, flush })
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}
