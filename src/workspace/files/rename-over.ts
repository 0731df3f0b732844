import { randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  linkSync,
  lstatSync,
  openSync,
  renameSync,
  type Stats,
  unlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { isSystemError, ToolError } from '../../core/errors.ts'
import { changedMeanwhile, OURSELVES, openRegular } from './entry.ts'
import { hashFile, holds } from './file-content.ts'
import { movedFolder, type PinnedDirectory } from './pinned-directory.ts'

// How a file takes a name without destroying anything that nobody saw.
//
// A program that knows nothing of our locks (an editor) may write between our last look and the rename. Therefore the
// old file is given a second name first, and is looked at once more after the rename: if it is not what the caller saw, it
// goes back and the caller is told. What remains: a program that has the file open, or is just opening it, and writes
// nothing until after that look; and one that renames its own file into place within the microseconds between our last
// look at the name and the rename (closing that needs renameat2(RENAME_EXCHANGE), which Node does not have).

/** What tells whether a file is still the same. */
export interface Identity {
  readonly ino: number
  readonly size: number
  readonly sha256: string
}

/** The file that the caller saw and means to replace. */
export interface Seen {
  readonly stat: Stats
  readonly sha256: string
  /** Where they are at hand: comparing them costs less than a hash. */
  readonly bytes?: Uint8Array
}

/** Renames a file or link to a name that is free. `link` fails when it is not, so that nothing is ever replaced. */
export function renameNew(from: string, folder: PinnedDirectory, name: string): void {
  try {
    linkSync(from, folder.at(name))
  } catch (error) {
    if (isSystemError(error) && error.code === 'EEXIST') throw changedMeanwhile(join(folder.real, name))
    if (!isWithoutHardLinks(error)) throw error
    if (lstatSync(folder.at(name), { throwIfNoEntry: false }) !== undefined) {
      throw changedMeanwhile(join(folder.real, name))
    }
    renameSync(from, folder.at(name))
    return
  }
  try {
    unlinkSync(from)
  } catch (error) {
    // Its old folder is closed for writing: a file must not be left with both names.
    removeIfThere(folder.at(name))
    throw error
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
  /**
   * After the rename: may wait, to give a program that is just writing the old file time to show it. False: there is no
   * need to look again.
   */
  readonly settle: () => boolean
  /** Of the file that was replaced. */
  readonly closeSoon: (descriptor: number) => void
}

/** Renames a file over the one that was seen; if that one turns out to be another by then, it goes back. */
export async function renameOver(incoming: Incoming, to: Occupied): Promise<void> {
  const { folder, name, seen } = to
  const [aside] = to.spare
  const path = join(folder.real, name)
  if (!giveSecondName(to, aside)) {
    if (!(await isAsSeen(folder, name, identityOf(seen)))) throw changedMeanwhile(path)
    renameSync(incoming.path, folder.at(name))
    if (!folder.isInPlace()) throw movedFolder(folder.real)
    return
  }
  // Of the name as well: the file may have lost it to another while it got its second one.
  const isThere = isSameEntry(lstatSync(folder.at(aside)), seen.stat)
  if (!isThere || lstatSync(folder.at(name), { throwIfNoEntry: false })?.ino !== seen.stat.ino) {
    removeIfThere(folder.at(aside))
    throw changedMeanwhile(path)
  }
  try {
    renameSync(incoming.path, folder.at(name))
  } catch (error) {
    removeIfThere(folder.at(aside))
    throw error
  }
  const isSettled = await isStillAsSeen(to, aside)
  if (isSettled && folder.isInPlace()) {
    unlinkSync(folder.at(aside))
    return
  }
  await takeBack(incoming, to)
  throw isSettled ? movedFolder(folder.real) : changedMeanwhile(path)
}

/**
 * Removes a file or link that the caller saw, by way of a temporary name: what takes the place between the last look and
 * the removal is not touched, and what turns out to be something else goes back.
 */
export function removeSeen(
  folder: PinnedDirectory,
  name: string,
  { temporary, isSeen }: { temporary: string; isSeen: (path: string) => boolean },
): void {
  const path = join(folder.real, name)
  if (!isSeen(folder.at(name))) throw changedMeanwhile(path)
  renameSync(folder.at(name), folder.at(temporary))
  if (isSeen(folder.at(temporary))) {
    unlinkSync(folder.at(temporary))
    return
  }
  if (lstatSync(folder.at(name), { throwIfNoEntry: false }) !== undefined) {
    throw bothChanged(path, keepBeside(folder, temporary, name))
  }
  renameNew(folder.at(temporary), folder, name)
  throw changedMeanwhile(path)
}

/** Not only by its number, which the next file gets when this one is deleted. */
function isSameEntry(now: Stats, then: Stats): boolean {
  // Where the system does not know when a file was born, Node gives another time.
  const isBornThen = now.birthtimeMs === then.birthtimeMs || now.birthtimeMs === now.ctimeMs
  return now.ino === then.ino && now.mode === then.mode && isBornThen
}

/** The last look at the file that was replaced: nobody may have written into it. What cannot be looked at is not it. */
async function isStillAsSeen({ folder, seen, settle, closeSoon }: Occupied, aside: string): Promise<boolean> {
  try {
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
    const descriptor = openSync(folder.at(aside), flags)
    try {
      return (await isContent(descriptor, seen)) && (!settle() || (await isContent(descriptor, seen)))
    } finally {
      // With its last name gone, the file goes with the descriptor.
      closeSoon(descriptor)
    }
  } catch (error) {
    if (!isSystemError(error)) throw error
    return error.code === 'EACCES' && hasItsTime(lstatSync(folder.at(aside)), seen.stat)
  }
}

/** For a file that its owner may not read: whoever wrote into it changed its time or its size. */
function hasItsTime(now: Stats, then: Stats): boolean {
  return now.mtimeMs === then.mtimeMs && now.size === then.size && now.mode === then.mode
}

async function isContent(descriptor: number, { bytes, stat, sha256 }: Seen): Promise<boolean> {
  if (bytes !== undefined) return holds(descriptor, bytes)
  return (await hashFile(descriptor, stat.size)).sha256 === sha256
}

/**
 * What waits under `aside` is somebody's work that nobody has seen: it takes the place of ours again. And if somebody has
 * written into ours by now, that stays, and theirs gets a name beside it.
 */
async function takeBack(incoming: Incoming, to: Occupied): Promise<void> {
  const { folder, name } = to
  const [aside, second] = to.spare
  const isOurs = async (): Promise<boolean> => isAsSeen(folder, second, incoming)
  if (lstatSync(folder.at(name), { throwIfNoEntry: false }) === undefined) {
    renameNew(folder.at(aside), folder, name)
    return
  }
  if (!giveSecondName(to, second) || !(await isOurs())) {
    removeIfThere(folder.at(second))
    throw bothChanged(join(folder.real, name), keepBeside(folder, aside, name))
  }
  renameSync(folder.at(aside), folder.at(name))
  if (await isOurs()) {
    incoming.restore(folder.at(second))
    removeIfThere(folder.at(second))
    return
  }
  throw bothChanged(join(folder.real, name), keepBeside(folder, second, name))
}

function keepBeside(folder: PinnedDirectory, waiting: string, name: string): string {
  const kept = `${name}.displaced-${randomUUID().slice(0, 8)}`
  renameSync(folder.at(waiting), folder.at(kept))
  return join(folder.real, kept)
}

function bothChanged(path: string, kept: string): ToolError {
  return new ToolError(
    'conflict',
    `Others changed the file at the same time, before and after this call: ${path}`,
    {
      hint: `What one of them wrote is in ${kept}. Look at both, then repeat the change.`,
    },
  )
}

export function identityOf({ stat, sha256 }: Seen): Identity {
  return { ino: stat.ino, size: stat.size, sha256 }
}

export async function isAsSeen(folder: PinnedDirectory, name: string, seen: Identity): Promise<boolean> {
  const stat = lstatSync(folder.at(name), { throwIfNoEntry: false })
  const file = stat?.isFile() === true ? openRegular(folder, name, stat) : undefined
  if (file === undefined) return false
  try {
    if (file.stat.ino !== seen.ino || file.stat.size !== seen.size) return false
    return (await hashFile(file.descriptor, file.stat.size)).sha256 === seen.sha256
  } finally {
    closeSync(file.descriptor)
  }
}

function giveSecondName({ folder, name, seen }: Occupied, aside: string): boolean {
  // In a shared folder nobody but its owner could take that name away again.
  if (!mayRemove(seen.stat)) return false
  try {
    linkSync(folder.at(name), folder.at(aside))
    return true
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') throw changedMeanwhile(join(folder.real, name))
    if (isWithoutHardLinks(error)) return false
    throw error
  }
}

function mayRemove({ uid }: Stats): boolean {
  const own = OURSELVES.uid
  return own === undefined || own === 0 || own === uid
}

/** A file system without hard links, or a file of another user that the kernel does not let us link. */
function isWithoutHardLinks(error: unknown): boolean {
  return (
    isSystemError(error) && ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(error.code ?? '')
  )
}

/** Much cheaper than rmSync with `force`. */
export function removeIfThere(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'ENOENT') throw error
  }
}
