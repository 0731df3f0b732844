import { constants, lstatSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { EntryState } from '../../core/effects.ts'
import { isSystemError } from '../../core/errors.ts'
import { indexEntriesOf } from '../../git/git-index-entries.ts'
import { sha256 } from '../files/file-content.ts'

// Every `git status`, and so every editor, writes the index anew with what it saw of the files on the disk. Of two such
// contents nobody can tell which is which but by their entries.

/** Nor a link that took the place of the file is followed, nor a pipe waited for. */
const READ_ONLY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
const MOST_BYTES = 32 * 1024 * 1024

/** What an index says, as a hash; undefined: not an index that is understood. */
export function indexDigest(bytes: Uint8Array): string | undefined {
  const entries = indexEntriesOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  return entries === undefined ? undefined : sha256(JSON.stringify(entries))
}

/** Of the file at a path, when it is an index and has this content. */
export function indexAt(path: string, { sha256: hash, size }: EntryState): string | undefined {
  if (basename(path) !== 'index' || size > MOST_BYTES) return undefined
  try {
    if (!lstatSync(path).isFile()) return undefined
    const bytes = readFileSync(path, { flag: READ_ONLY })
    return sha256(bytes) === hash ? indexDigest(bytes) : undefined
  } catch (error) {
    // Somebody took it away already: then it is compared as a whole.
    if (isSystemError(error)) return undefined
    throw error
  }
}
