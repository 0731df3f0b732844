import { randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  openSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { isSystemError } from '../core/errors.ts'
import { changedMeanwhile, openRegular, PERMISSION_BITS } from './entry.ts'
import { hashFile, holds, syncFile, writeAll } from './file-content.ts'
import { movedFolder, type PinnedDirectory } from './pinned-directory.ts'
import type { Owner } from './undo-record.ts'

// How a file gets new content: a temporary sibling is written, synced, and renamed over it. At every moment, and after
// a kill or a loss of power at any moment, the path holds the old content or the new one.
//
// A program that knows nothing of our locks (an editor) may write between our last look and the rename. Therefore the
// old file is given a second name first, and is looked at once more after the rename: if it is not what the caller saw, it
// goes back and the caller is told. What remains: a program that has the file open, or is just opening
// it, and writes nothing until after that look; and one that renames its own file over ours within the microseconds
// between our two system calls (closing that needs renameat2(RENAME_EXCHANGE), which Node does not have).

/** What tells whether a file is still the same. */
interface Identity {
  readonly ino: number
  readonly size: number
  readonly sha256: string
}

/** The file that the caller saw and means to replace. */
export interface Seen {
  readonly stat: Stats
  readonly bytes: Uint8Array
  readonly sha256: string
}

/** What the temporary sibling is made from. */
export interface Draft {
  readonly folder: PinnedDirectory
  /** Null: the file must not exist. */
  readonly seen: Pick<Seen, 'stat'> | null
  readonly content: Uint8Array
  /** Absent: that of the file as seen, or what the system gives to new files. */
  readonly mode?: number
  /** Absent: that of the file as seen, or our own. */
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
    } else {
      const size = content.length
      const incoming = { path: folder.at(temporary), ino, size, sha256, restore: () => undefined }
      await renameOver(incoming, { folder, name, seen, spare: [asideOf(temporary), temporary], ...after })
    }
  } catch (error) {
    removeIfThere(folder.at(temporary))
    throw error
  }
  if (!folder.isInPlace()) throw movedFolder(folder.real)
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

/** Renames a file or link to a name that is free. `link` fails when it is not, so that nothing is ever replaced. */
export function renameNew(from: string, folder: PinnedDirectory, name: string): void {
  try {
    linkSync(from, folder.at(name))
    unlinkSync(from)
  } catch (error) {
    if (isSystemError(error) && error.code === 'EEXIST') throw changedMeanwhile(join(folder.real, name))
    if (!isWithoutHardLinks(error)) throw error
    if (lstatSync(folder.at(name), { throwIfNoEntry: false }) !== undefined) {
      throw changedMeanwhile(join(folder.real, name))
    }
    renameSync(from, folder.at(name))
  }
}

/** A file on its way to a name. */
export interface Incoming extends Identity {
  readonly path: string
  /** After a conflict: puts it back to where it came from. `now` is a name that it has at the moment. */
  readonly restore: (now: string) => void
}

export interface Occupied {
  readonly folder: PinnedDirectory
  readonly name: string
  readonly seen: Seen
  /** Two free temporary names. */
  readonly spare: readonly [string, string]
  /** Between the rename and the last look: may give a program that is just opening the old file time to show it. */
  readonly settle: () => void
  /** Of the file that was replaced. */
  readonly closeSoon: (descriptor: number) => void
}

/** Renames a file over the one that was seen; if that one turns out to be another by then, it goes back. */
export async function renameOver(incoming: Incoming, to: Occupied): Promise<void> {
  const { folder, name, seen, settle } = to
  const [aside, second] = to.spare
  const path = join(folder.real, name)
  if (!giveSecondName(folder, name, aside)) {
    if (!(await isAsSeen(folder, name, identityOf(seen)))) throw changedMeanwhile(path)
    renameSync(incoming.path, folder.at(name))
    settle()
    return
  }
  try {
    if (lstatSync(folder.at(aside)).ino !== seen.stat.ino) throw changedMeanwhile(path)
    renameSync(incoming.path, folder.at(name))
    settle()
    if (await forgetIfAsSeen(folder.at(aside), to)) return
    await putBackTheirs(to, aside, second, incoming)
    incoming.restore(folder.at(second))
    throw changedMeanwhile(path)
  } catch (error) {
    removeIfThere(folder.at(aside))
    removeIfThere(folder.at(second))
    throw error
  }
}

/** The last look at the file that was replaced: it goes, unless somebody has written into it. */
async function forgetIfAsSeen(path: string, { seen, closeSoon }: Occupied): Promise<boolean> {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    if (!(await holds(descriptor, seen.bytes))) return false
    unlinkSync(path)
    return true
  } finally {
    closeSoon(descriptor)
  }
}

/**
 * What waits under `aside` is somebody's work that nobody has seen: it takes the place of ours again, which waits under
 * `second` then. And if somebody has written into ours by now, that is newer still and stays.
 */
async function putBackTheirs(
  { folder, name }: Occupied,
  aside: string,
  second: string,
  mine: Identity,
): Promise<void> {
  if (!giveSecondName(folder, name, second) || !(await isAsSeen(folder, second, mine))) return
  renameSync(folder.at(aside), folder.at(name))
  if (!(await isAsSeen(folder, second, mine))) renameSync(folder.at(second), folder.at(name))
}

function identityOf({ stat, sha256 }: Seen): Identity {
  return { ino: stat.ino, size: stat.size, sha256 }
}

async function isAsSeen(folder: PinnedDirectory, name: string, seen: Identity): Promise<boolean> {
  const file = openRegular(folder, name)
  if (file === undefined) return false
  try {
    if (file.stat.ino !== seen.ino || file.stat.size !== seen.size) return false
    return (await hashFile(file.descriptor, file.stat.size)).sha256 === seen.sha256
  } finally {
    closeSync(file.descriptor)
  }
}

function giveSecondName(folder: PinnedDirectory, name: string, aside: string): boolean {
  try {
    linkSync(folder.at(name), folder.at(aside))
    return true
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') throw changedMeanwhile(join(folder.real, name))
    if (isWithoutHardLinks(error)) return false
    throw error
  }
}

/** A file system without hard links, or a file of another user that the kernel does not let us link. */
function isWithoutHardLinks(error: unknown): boolean {
  return (
    isSystemError(error) && ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(error.code ?? '')
  )
}

/** Much cheaper than rmSync with `force`. */
function removeIfThere(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'ENOENT') throw error
  }
}
