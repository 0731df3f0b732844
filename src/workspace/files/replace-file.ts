import { randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  openSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { isSystemError } from '../../core/errors.ts'
import type { Owner } from '../undo/undo-record.ts'
import { changedMeanwhile, PERMISSION_BITS } from './entry.ts'
import { syncFile, writeAll } from './file-content.ts'
import { movedFolder, type PinnedDirectory } from './pinned-directory.ts'
import {
  identityOf,
  isAsSeen,
  type Occupied,
  removeIfThere,
  renameNew,
  renameOver,
  type Seen,
} from './rename-over.ts'

// How a file gets new content: a temporary sibling is written, synced, and renamed over it. At every moment, and after
// a kill or a loss of power at any moment, the path holds the old content or the new one.

/** What the temporary sibling is made from. */
export interface Draft {
  readonly folder: PinnedDirectory
  /** Null when the file must not exist. */
  readonly seen: Pick<Seen, 'stat'> | null
  readonly content: Uint8Array
  /** Defaults to that of the file as seen, or to what the system gives to new files. */
  readonly mode?: number
  /** Defaults to that of the file as seen, or to our own. */
  readonly owner?: Owner
  /** From newTemporary(); recorded before it is created, so that the next start can remove it after a kill. */
  readonly temporary: string
  /** False for one of very many. */
  readonly sync: boolean
}

export interface Replacement extends Draft {
  readonly name: string
  readonly seen: Seen | null
  /** Of `content`. */
  readonly sha256: string
}

const PREFIX = '.kogu-tmp-'

/** Nobody can guess it: what has this name is ours. */
export function newTemporary(): string {
  return PREFIX + randomUUID().replaceAll('-', '').slice(0, 16)
}

export function isTemporary(name: string): boolean {
  return /^\.kogu-tmp-[0-9a-f]{16}(-old|-gone)?$/.test(name)
}

/** Of a file that is to take the place of another. */
export function isDraftName(name: string): boolean {
  return isTemporary(name) && !/-(old|gone)$/.test(name)
}

/**
 * Removes second names of a file that a killed process left beside it; returns how many there were. Only for whoever
 * holds the lock of the file: then no living process has such a name.
 */
export function removeOrphans(folder: PinnedDirectory, ino: number): number {
  const orphans = folder.names().filter(name => isTemporary(name) && lstatSync(folder.at(name)).ino === ino)
  for (const name of orphans) unlinkSync(folder.at(name))
  return orphans.length
}

/** Where the old file waits for the last look. */
export function asideOf(temporary: string): string {
  return `${temporary}-old`
}

/** What a removed tree is called once it is certain that it goes. */
export function goneNameOf(temporary: string): string {
  return `${temporary}-gone`
}

/** The temporary sibling that a file is replaced by. */
export interface Prepared {
  readonly ino: number
  readonly mode: number
}

/** First step: the temporary sibling, complete and synced. Nothing is visible yet. */
export async function prepareReplacement(draft: Draft): Promise<Prepared> {
  const { folder, content, seen, temporary, sync } = draft
  const mode = draft.mode ?? (seen === null ? undefined : seen.stat.mode & PERMISSION_BITS)
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  // Nobody else may read it before it has its final mode: the old file may have been private.
  const descriptor = openSync(folder.at(temporary), flags, mode === undefined ? 0o666 : 0o600)
  try {
    await writeAll(descriptor, content)
    const made = fstatSync(descriptor)
    const owner = draft.owner ?? seen?.stat ?? made
    const kept = isOwnedBy(made, owner) || giveTo(descriptor, owner)
    // setuid and setgid were granted to the old owner's file; under another owner they would grant something else.
    const wanted = kept || mode === undefined ? mode : mode & 0o1777
    if (wanted !== undefined) fchmodSync(descriptor, wanted)
    if (sync) await syncFile(descriptor, content.length)
    return { ino: made.ino, mode: wanted ?? made.mode & PERMISSION_BITS }
  } catch (error) {
    discardReplacement(draft)
    throw error
  } finally {
    closeSync(descriptor)
  }
}

/** Instead of the second step. */
export function discardReplacement({ folder, temporary }: Draft): void {
  removeIfThere(folder.at(temporary))
}

/** Second step: the new content takes its place, at once or not at all. */
export async function putReplacement(
  replacement: Replacement,
  { ino }: Prepared,
  after: Pick<Occupied, 'settle' | 'closeSoon'>,
): Promise<void> {
  const { folder, name, temporary, seen, sha256, content } = replacement
  try {
    if (seen === null) {
      renameNew(folder.at(temporary), folder, name)
      if (folder.isInPlace()) return
      if (lstatSync(folder.at(name), { throwIfNoEntry: false })?.ino === ino) unlinkSync(folder.at(name))
      throw movedFolder(folder.real)
    }
    const size = content.length
    const incoming = { path: folder.at(temporary), ino, size, sha256, restore: () => undefined }
    await renameOver(incoming, { folder, name, seen, spare: [asideOf(temporary), temporary], ...after })
  } catch (error) {
    removeIfThere(folder.at(temporary))
    throw error
  }
}

/**
 * Second step for a file that has other names (hard links) which shall see the change too: the new content is copied
 * into the file itself. Not atomic: a kill in the middle leaves a mixture, which the next start completes from the
 * temporary sibling.
 */
export async function copyIntoPlace(
  { folder, name, content, temporary }: Replacement,
  seen: Seen,
): Promise<void> {
  try {
    if (!(await isAsSeen(folder, name, identityOf(seen)))) throw changedMeanwhile(join(folder.real, name))
    overwriteBytes(folder.at(name), content, true)
  } finally {
    removeIfThere(folder.at(temporary))
  }
}

/** Into the file as it is: no new inode, no moment without it, but readers may see a mixture. */
export function overwriteBytes(path: string, bytes: Uint8Array, sync: boolean): void {
  const descriptor = openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    for (let done = 0; done < bytes.length; )
      done += writeSync(descriptor, bytes, done, bytes.length - done, done)
    if (fstatSync(descriptor).size > bytes.length) ftruncateSync(descriptor, bytes.length)
    if (sync) fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function isOwnedBy(file: Owner, { uid, gid }: Owner): boolean {
  return file.uid === uid && file.gid === gid
}

function giveTo(descriptor: number, { uid, gid }: Owner): boolean {
  try {
    fchownSync(descriptor, uid, gid)
    return true
  } catch (error) {
    // Only root may give files away. The content is still the user's to change, under the user's own name.
    if (isSystemError(error) && error.code === 'EPERM') return false
    throw error
  }
}
