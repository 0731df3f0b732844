import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
} from 'node:fs'
import { join } from 'node:path'
import { isSystemError, ToolError } from '../../core/errors.ts'

/**
 * A folder held by a descriptor, so that whatever happens to its path, entries are created, renamed and removed in the
 * folder that was checked.
 *
 * The attack: a path is checked, then one of its folders is swapped for a link to somewhere else, then the path is
 * used. Here the folder is opened, which changes nothing, and the kernel is asked where the opened folder is. If that
 * is not the path that was checked, a link or another folder was swapped in and nothing has happened yet. From
 * then on entries are named relative to the descriptor (`/proc/self/fd/N/name`), where no link can come between.
 *
 * Systems without /proc: the same checks by path, immediately before and after. That leaves a window of microseconds
 * to somebody who can already write in the scope.
 */
export interface PinnedDirectory {
  readonly real: string
  /** A path of the entry that goes through the descriptor. The entry itself may be a link: open it with O_NOFOLLOW. */
  at(name: string): string
  names(): string[]
  /** Whether the folder is still found at `real`. */
  isInPlace(): boolean
  /** Makes created, renamed and removed entries survive a loss of power, unless the folder may not be read. */
  sync(): void
  /** The same folder has the same, whatever its path. */
  identity(): string
  /** A descriptor of its own, for the caller to sync and to close; undefined: the folder may not be read. */
  openAgain(): number | undefined
  close(): void
}

/** `O_PATH` has the same value on every Linux that Node runs on; Node does not name it. */
const O_PATH = 0o10000000
export const HAS_PROC = process.platform === 'linux'
const FOLDER_FLAGS = constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_RDONLY

/** Opens a file without any effect on it: not even a FIFO or a device notices. */
export const LOOK_ONLY = HAS_PROC
  ? O_PATH | constants.O_NOFOLLOW
  : constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

export function pinDirectory(real: string): PinnedDirectory {
  return pin(real, real)
}

export function pinChild(parent: PinnedDirectory, name: string): PinnedDirectory {
  return pin(parent.at(name), join(parent.real, name))
}

/** Creates a folder in a pinned one and pins it. `created` is false when somebody else made it meanwhile. */
export function pinNewDirectory(
  parent: PinnedDirectory,
  name: string,
): { folder: PinnedDirectory; created: boolean } {
  let created = true
  try {
    mkdirSync(parent.at(name), 0o777)
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EEXIST') throw error
    created = false
  }
  return { folder: pinChild(parent, name), created }
}

/** Where an opened file or folder is now; undefined where the system cannot say. */
export function placeOf(descriptor: number): string | undefined {
  return HAS_PROC ? readlinkSync(`/proc/self/fd/${descriptor}`) : undefined
}

/** Opens for reading what a LOOK_ONLY descriptor holds, whatever has its name by now. */
export function reopenForReading(descriptor: number, path: string): number {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK
  return HAS_PROC
    ? openSync(`/proc/self/fd/${descriptor}`, flags)
    : openSync(path, flags | constants.O_NOFOLLOW)
}

/** Changes the mode of a file or folder that a LOOK_ONLY descriptor holds; by its path, a link would be followed. */
export function changeMode(descriptor: number, path: string, mode: number): void {
  chmodSync(HAS_PROC ? `/proc/self/fd/${descriptor}` : path, mode)
}

function pin(path: string, real: string): PinnedDirectory {
  const { descriptor, isReadable } = open(path, real)
  const isInPlace = (): boolean =>
    HAS_PROC
      ? placeOf(descriptor) === real
      : realpathSync.native(real) === real && lstatSync(real).isDirectory()
  if (!isInPlace()) {
    closeSync(descriptor)
    throw movedFolder(real)
  }
  return {
    real,
    at(name) {
      if (name === '' || name === '.' || name === '..' || name.includes('/') || name.includes('\0')) {
        throw new ToolError('invalid_input', `Not the name of a file: ${JSON.stringify(name)}`)
      }
      return HAS_PROC ? `/proc/self/fd/${descriptor}/${name}` : join(real, name)
    },
    names: () => readdirSync(HAS_PROC ? `/proc/self/fd/${descriptor}` : real),
    isInPlace,
    sync() {
      if (isReadable) fsyncSync(descriptor)
    },
    identity() {
      const { dev, ino } = fstatSync(descriptor)
      return `${dev} ${ino}`
    },
    openAgain() {
      if (!isReadable) return undefined
      // A descriptor's own entry in /proc is a link, and leads nowhere else.
      const flags = constants.O_RDONLY | constants.O_DIRECTORY
      return HAS_PROC ? openSync(`/proc/self/fd/${descriptor}`, flags) : openSync(real, FOLDER_FLAGS)
    },
    close: () => closeSync(descriptor),
  }
}

function open(path: string, real: string): { descriptor: number; isReadable: boolean } {
  try {
    return { descriptor: openSync(path, FOLDER_FLAGS), isReadable: true }
  } catch (error) {
    if (!isSystemError(error)) throw error
    // ENOTDIR and ELOOP: what was a folder a moment ago is a link or a file now.
    if (error.code === 'ENOTDIR' || error.code === 'ELOOP') throw movedFolder(real)
    // A folder that may be changed and not listed.
    if (error.code !== 'EACCES' || !HAS_PROC) throw error
    return { descriptor: openSync(path, FOLDER_FLAGS | O_PATH), isReadable: false }
  }
}

export function movedFolder(real: string): ToolError {
  return new ToolError('conflict', `The folder was replaced in the meantime: ${real}`, {
    hint: 'Look at the folder again before you repeat the call.',
  })
}
