import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isSystemError, ToolError } from '../../core/errors.ts'
import { makeReadable } from './overlay.ts'
import type { OverlayChanges, OverlayEntry } from './overlay-changes.ts'
import type { ClosedFolder } from './overlay-obstacles.ts'

/** What is left to do. Every step may be repeated. Paths are relative to the workspace. */
export interface Journal {
  workspace: string
  /** Folders that are made writable for the time being, and their modes. */
  open: readonly ClosedFolder[]
  /** Every entry that goes, children before their folder. */
  gone: Gone[]
  folders: { path: string; mode: number }[]
  /** Files and links that are moved from the upper directory to the same place in the workspace. */
  move: { path: string; mode: number; before?: Seen }[]
  /** Only the time is new. */
  touch: { path: string; modifiedMs: number }[]
}

/** What tells that a file or link is still the one that the command saw. */
export type Seen = Pick<OverlayEntry, 'ino' | 'size' | 'modifiedMs'>

/** Without `seen`: a folder, which goes when nothing is left in it. */
interface Gone {
  path: string
  seen?: Seen
}

export function isAsSeen(stat: Stats | undefined, seen: Seen | undefined): boolean {
  if (stat === undefined || seen === undefined) return stat === seen
  return stat.ino === seen.ino && stat.size === seen.size && stat.mtimeMs === seen.modifiedMs
}

export function toJournal(
  { workspace, changes, touched, dropped }: OverlayChanges,
  open: readonly ClosedFolder[],
): Journal {
  const deleted = changes.filter(({ change }) => change === 'deleted').toReversed()
  const present = changes.flatMap(({ path, entry, before, after }) =>
    after === undefined ? [] : [{ path, entry, mode: after.mode, before }],
  )
  return {
    workspace,
    open,
    gone: [
      ...dropped.flatMap(({ path, goes }) => (goes === undefined ? [] : [{ path, seen: goes }])),
      ...deleted.map(({ path, entry, before }) =>
        entry === 'directory' || before === undefined ? { path } : { path, seen: toSeen(before) },
      ),
    ],
    folders: present.filter(({ entry }) => entry === 'directory').map(({ path, mode }) => ({ path, mode })),
    move: present.filter(({ entry }) => entry !== 'directory').map(toMove),
    touch: [...touched],
  }
}

function toMove(step: { path: string; mode: number; before: Seen | undefined }): Journal['move'][number] {
  const { path, mode, before } = step
  return before === undefined ? { path, mode } : { path, mode, before: toSeen(before) }
}

function toSeen({ ino, size, modifiedMs }: Seen): Seen {
  return { ino, size, modifiedMs }
}

const STEPS_AT_A_TIME = 200

/**
 * Somebody wrote there while changes were brought over: what they wrote is at `keptAs` now. The same as `path` when the
 * entry was to go and stayed.
 */
export interface Displaced {
  readonly path: string
  readonly keptAs: string
}

/** Does what the journal says, from wherever an earlier attempt was stopped. */
export async function applyJournal(folder: string, journal: Journal): Promise<Displaced[]> {
  const displaced: Displaced[] = []
  using places = openPlaces(journal.workspace)
  const upper = join(folder, 'upper')
  // The journal has the modes: here they would only be in the way of moving entries out.
  makeReadable(upper)
  await each(journal.open, ({ path, mode }) => setFolderMode(places, path, mode | 0o700))
  const left = await removeOnce(folder, places, journal.gone)
  await each(journal.folders, ({ path }) => {
    if (isFolder(places.at(path))) return
    displaced.push(...makeWay(places, { path }))
    mkdirSync(places.at(path), { mode: 0o700 })
  })
  await each(journal.move, step => {
    const from = join(upper, step.path)
    // Moved already, before a kill.
    if (lstatSync(from, { throwIfNoEntry: false }) === undefined) return
    moveIn(from, places.at(step.path), step.mode, () => displaced.push(...makeWay(places, step)))
  })
  await each(journal.touch, ({ path, modifiedMs }) => setTime(places.at(path), modifiedMs))
  // Last, and children first: a folder may be one that nobody may write to.
  const modes = new Map([...journal.open, ...journal.folders].map(({ path, mode }) => [path, mode]))
  const deepestFirst = [...modes].sort(([a], [b]) => (a < b ? 1 : -1))
  await each(deepestFirst, ([path, mode]) => setFolderMode(places, path, mode))
  const isMoved = (path: string): boolean => displaced.some(each => isAtOrBelow(path, each.path))
  const stayed = left.filter(path => !isMoved(path)).map(path => ({ path, keptAs: path }))
  return [...stayed, ...displaced]
}

export function isAtOrBelow(path: string, other: string): boolean {
  return path === other || path.startsWith(`${other}/`)
}

/**
 * Removes nothing but what the command saw and undo has: what a person made or saved since stays, with its folders, and
 * is returned. Only once: when entries have been moved in, it would take away what just came.
 */
async function removeOnce(folder: string, places: Places, gone: readonly Gone[]): Promise<string[]> {
  const removed = join(folder, 'removed')
  // Written below, in a folder that no tool and no command may write to.
  if (existsSync(removed)) return JSON.parse(readFileSync(removed, 'utf8')) as string[]
  const left: string[] = []
  const staying = new Set<string>()
  await each(gone, ({ path, seen }) => {
    const stays = seen === undefined ? leftOfFolder(places, path) : leftOfEntry(places, path, seen)
    if (stays.length === 0) return
    left.push(...stays.filter(each => !staying.has(each)))
    for (const each of [path, ...stays]) staying.add(each)
  })
  const draft = `${removed}.draft`
  writeFileSync(draft, JSON.stringify(left))
  renameSync(draft, removed)
  return left
}

/** Removes a file or link that is as the command saw it. */
function leftOfEntry(places: Places, path: string, seen: Seen): string[] {
  try {
    const place = places.at(path)
    const stat = lstatSync(place, { throwIfNoEntry: false })
    if (stat === undefined) return []
    if (!isAsSeen(stat, seen)) return [path]
    unlinkSync(place)
    return []
  } catch (error) {
    // Its folder went, or something else took the folder's place, which is found when the folder's turn comes.
    if (isSystemError(error) && ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(error.code ?? '')) return []
    throw error
  }
}

/** Removes a folder when it is empty; otherwise returns what is in it. */
function leftOfFolder(places: Places, path: string): string[] {
  try {
    const place = places.at(path)
    try {
      rmdirSync(place)
      return []
    } catch (error) {
      if (!isSystemError(error)) throw error
      if (error.code === 'ENOTDIR') return [path]
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
      return readdirSync(place).map(name => join(path, name))
    }
  } catch (error) {
    if (isSystemError(error) && ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(error.code ?? '')) return []
    throw error
  }
}

/** Nobody's work is ever replaced unseen: what is not as the command found it gets another name first. */
function makeWay(places: Places, { path, before }: { path: string; before?: Seen }): Displaced[] {
  const stat = lstatSync(places.at(path), { throwIfNoEntry: false })
  if (stat === undefined || isAsSeen(stat, before)) return []
  const keptAs = `${path}.kogu-kept-${randomUUID().slice(0, 8)}`
  renameSync(places.at(path), places.at(keptAs))
  return [{ path, keptAs }]
}

/** What is no folder any more, because it was deleted or replaced, has no need of it. */
function setFolderMode(places: Places, path: string, mode: number): void {
  try {
    const descriptor = path === '.' ? places.root : openFolder(places.at(path))
    try {
      // By its descriptor, because chmod follows links.
      chmodSync(`/proc/self/fd/${descriptor}`, mode)
    } finally {
      if (descriptor !== places.root) closeSync(descriptor)
    }
  } catch (error) {
    if (!isSystemError(error) || !['ENOENT', 'ENOTDIR', 'ELOOP'].includes(error.code ?? '')) throw error
  }
}

/** A time is not worth to stop for: the file may be somebody else's, or gone. */
function setTime(path: string, modifiedMs: number): void {
  try {
    lutimesSync(path, Date.now() / 1000, modifiedMs / 1000)
  } catch (error) {
    if (!isSystemError(error)) throw error
  }
}

/** Itself, not what a link leads to. */
export function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/**
 * `lastLook` comes right before the rename, with nothing between them: a file that an editor renames into place after it
 * would be lost. To close that for good needs renameat2(RENAME_EXCHANGE), which Node does not have.
 */
function moveIn(from: string, to: string, mode: number, lastLook: () => void): void {
  const stat = lstatSync(from)
  // A program that runs with its owner's rights is for a person to make, not for a command.
  if (stat.isFile() && (stat.mode & 0o7777) !== mode) chmodSync(from, mode)
  try {
    lastLook()
    renameSync(from, to)
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EXDEV' || !stat.isFile()) throw error
    const draft = `${to}.kogu-${process.pid}`
    copyFileSync(from, draft)
    utimesSync(draft, stat.atime, stat.mtime)
    lastLook()
    renameSync(draft, to)
    rmSync(from)
  }
}

/** Lets others have their turn: ten thousand files are a third of a second. */
async function each<T>(items: readonly T[], step: (item: T) => void): Promise<void> {
  for (const [index, item] of items.entries()) {
    step(item)
    if (index % STEPS_AT_A_TIME === STEPS_AT_A_TIME - 1) await new Promise(setImmediate)
  }
}

type Places = ReturnType<typeof openPlaces>

/**
 * Paths beneath the workspace that no link can lead elsewhere: each folder on the way is opened without following
 * links, and the entry is named through the open folder. A command in the background could otherwise swap a folder for
 * a link to the outside while its neighbour's changes are brought over.
 */
function openPlaces(workspace: string) {
  const open = { folder: '', descriptor: openFolder(workspace) }
  const root = open.descriptor
  const leave = (): void => {
    if (open.descriptor !== root) closeSync(open.descriptor)
  }
  const enter = (folder: string): void => {
    leave()
    open.folder = ''
    open.descriptor = root
    for (const name of folder === '.' ? [] : folder.split('/')) {
      const next = openFolder(`/proc/self/fd/${open.descriptor}/${name}`)
      leave()
      open.descriptor = next
    }
    open.folder = folder
  }
  return {
    root,
    at(path: string): string {
      const folder = dirname(path)
      if (path.split('/').includes('..') || path.startsWith('/')) {
        throw new ToolError('failed', `The journal names a path outside the workspace: ${path}`)
      }
      if (folder !== open.folder) enter(folder)
      return `/proc/self/fd/${open.descriptor}/${basename(path)}`
    },
    [Symbol.dispose]() {
      leave()
      closeSync(root)
    },
  }
}

/** O_PATH, which Node does not name: to go through a folder one need not be allowed to list it. */
const PATH_ONLY = 0o10000000

function openFolder(path: string): number {
  return openSync(path, PATH_ONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
}
