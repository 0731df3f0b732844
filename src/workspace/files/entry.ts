import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, type Stats } from 'node:fs'
import type { EntryState } from '../../core/effects.ts'
import { isSystemError, ToolError } from '../../core/errors.ts'
import { hashFile, sha256 } from './file-content.ts'
import { changeMode, LOOK_ONLY, type PinnedDirectory } from './pinned-directory.ts'

/** What a path is now, as far as it matters for comparing and restoring. */
export type Observed =
  | { entry: 'file' | 'directory'; state: EntryState }
  | { entry: 'link'; state: EntryState; target: string }
  | { entry: 'other' }

export const PERMISSION_BITS = 0o7777
/** As whom this process acts; asking the system each time takes as long as reading a file. */
export const OURSELVES = { uid: process.geteuid?.(), gid: process.getegid?.() } as const
const OWNER_READS = 0o400

/** Looks at an entry of a pinned folder without following it; undefined when there is none. */
export async function observe(folder: PinnedDirectory, name: string): Promise<Observed | undefined> {
  const stat = lstatSync(folder.at(name), { throwIfNoEntry: false })
  if (stat === undefined) return undefined
  if (stat.isDirectory()) return { entry: 'directory', state: { mode: stat.mode & PERMISSION_BITS, size: 0 } }
  if (stat.isSymbolicLink()) return observeLink(folder.at(name))
  if (!stat.isFile()) return { entry: 'other' }
  const file = openEvenClosed(folder, name, stat)
  if (file === undefined) return undefined
  try {
    const content = await hashFile(file.descriptor, file.stat.size)
    return { entry: 'file', state: { mode: file.stat.mode & PERMISSION_BITS, ...content } }
  } finally {
    closeSync(file.descriptor)
  }
}

export function observeLink(path: string): { entry: 'link'; state: EntryState; target: string } {
  const target = readlinkSync(path)
  return { entry: 'link', target, state: { mode: 0o777, size: target.length, sha256: sha256(target) } }
}

/**
 * Opens a regular file of a pinned folder for reading; undefined when there is no such entry. Looked at before it is
 * opened, because opening a device acts on it; and after, because it may have been swapped in between.
 */
export function openRegular(
  folder: PinnedDirectory,
  name: string,
  found: Stats | undefined = lstatSync(folder.at(name), { throwIfNoEntry: false }),
): { descriptor: number; stat: Stats } | undefined {
  if (found === undefined) return undefined
  refuseIrregular(found, `${folder.real}/${name}`)
  const descriptor = openForReading(folder.at(name))
  if (descriptor === undefined) return undefined
  try {
    const stat = fstatSync(descriptor)
    refuseIrregular(stat, `${folder.real}/${name}`)
    return { descriptor, stat }
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

/**
 * For comparing and keeping, never for showing: a file of ours that not even we may read is opened for the moment that
 * takes, so that a call which closed it can be taken back.
 */
export function openEvenClosed(
  folder: PinnedDirectory,
  name: string,
  found: Stats | undefined = lstatSync(folder.at(name), { throwIfNoEntry: false }),
): { descriptor: number; stat: Stats } | undefined {
  try {
    return openRegular(folder, name, found)
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EACCES') throw error
    const look = openSync(folder.at(name), LOOK_ONLY)
    try {
      const stat = fstatSync(look)
      if (!stat.isFile() || stat.uid !== OURSELVES.uid) throw error
      return openClosed(folder, name, { look, stat })
    } finally {
      closeSync(look)
    }
  }
}

function openClosed(
  folder: PinnedDirectory,
  name: string,
  { look, stat }: { look: number; stat: Stats },
): { descriptor: number; stat: Stats } | undefined {
  const mode = stat.mode & PERMISSION_BITS
  changeMode(look, folder.at(name), mode | OWNER_READS)
  try {
    const file = openRegular(folder, name)
    if (file === undefined || file.stat.ino === stat.ino) return file && { ...file, stat }
    closeSync(file.descriptor)
    throw changedMeanwhile(`${folder.real}/${name}`)
  } finally {
    changeMode(look, folder.at(name), mode)
  }
}

function openForReading(path: string): number | undefined {
  try {
    // Not even a pipe that took the place of the file makes this wait.
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Gives an entry of a pinned folder another mode, never through a link. */
export function setMode(folder: PinnedDirectory, name: string, mode: number): void {
  const look = openSync(folder.at(name), LOOK_ONLY)
  try {
    if (fstatSync(look).isSymbolicLink()) throw changedMeanwhile(`${folder.real}/${name}`)
    changeMode(look, folder.at(name), mode)
  } finally {
    closeSync(look)
  }
}

/** Only regular files are read and written: a FIFO would hang, a device would act. */
export function refuseIrregular(stat: Stats, path: string): void {
  if (stat.isFile()) return
  if (stat.isSymbolicLink()) throw changedMeanwhile(path)
  const kind = stat.isDirectory()
    ? 'a folder'
    : stat.isFIFO()
      ? 'a named pipe'
      : stat.isSocket()
        ? 'a socket'
        : 'a device'
  throw new ToolError('invalid_input', `This is ${kind}, not a regular file: ${path}`)
}

export function sameState(a: EntryState | undefined, b: EntryState | undefined): boolean {
  return a?.mode === b?.mode && a?.sha256 === b?.sha256
}

export function changedMeanwhile(path: string): ToolError {
  return new ToolError('conflict', `The file was changed by someone else at the same time: ${path}`, {
    hint: 'This call changed nothing. Read the file again, then repeat the change.',
  })
}
