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
  renameSync,
  rmSync,
  type Stats,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isSystemError, ToolError } from '../core/errors.ts'
import { makeReadable } from './overlay.ts'
import type { OverlayChanges, OverlayEntry } from './overlay-changes.ts'
import type { ClosedFolder } from './overlay-obstacles.ts'

/** What is left to do. Every step may be repeated. Paths are relative to the workspace. */
export interface Journal {
  workspace: string
  /** Folders that are made writable for the time being, and their modes. */
  open: readonly ClosedFolder[]
  /** Topmost entries that go, with all that is in them. */
  remove: string[]
  folders: { path: string; mode: number }[]
  /** Files and links that are moved from the upper directory to the same place in the workspace. */
  move: { path: string; mode: number; before?: Seen }[]
  /** Only the time is new. */
  touch: { path: string; modifiedMs: number }[]
}

/** What tells that a file or link is still the one that the command saw. */
export type Seen = Pick<OverlayEntry, 'ino' | 'size' | 'modifiedMs'>

export function isAsSeen(stat: Stats | undefined, seen: Seen | undefined): boolean {
  if (stat === undefined || seen === undefined) return stat === seen
  return stat.ino === seen.ino && stat.size === seen.size && stat.mtimeMs === seen.modifiedMs
}

export function toJournal(
  { workspace, changes, touched }: OverlayChanges,
  open: readonly ClosedFolder[],
): Journal {
  const deletedFolders = new Set<string>()
  const remove: string[] = []
  for (const { change, path, entry } of changes) {
    if (change !== 'deleted') continue
    if (!deletedFolders.has(dirname(path))) remove.push(path)
    if (entry === 'directory') deletedFolders.add(path)
  }
  const present = changes.flatMap(({ path, entry, before, after }) =>
    after === undefined ? [] : [{ path, entry, mode: after.mode, before }],
  )
  return {
    workspace,
    open,
    remove,
    folders: present.filter(({ entry }) => entry === 'directory').map(({ path, mode }) => ({ path, mode })),
    move: present.filter(({ entry }) => entry !== 'directory').map(toMove),
    touch: [...touched],
  }
}

function toMove(step: { path: string; mode: number; before: Seen | undefined }): Journal['move'][number] {
  const { path, mode, before } = step
  if (before === undefined) return { path, mode }
  const { ino, size, modifiedMs } = before
  return { path, mode, before: { ino, size, modifiedMs } }
}

const STEPS_AT_A_TIME = 200

/** Somebody wrote there while changes were brought over: what they wrote is at `keptAs` now. */
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
  // Once entries have been moved in, removing again would take away what just came.
  const removed = join(folder, 'removed')
  if (!existsSync(removed)) {
    await each(journal.remove, path => rmSync(places.at(path), { recursive: true, force: true }))
    writeFileSync(removed, '')
  }
  await each(journal.folders, ({ path }) => makeFolder(places.at(path)))
  await each(journal.move, step => {
    const from = join(upper, step.path)
    // Moved already, before a kill.
    if (lstatSync(from, { throwIfNoEntry: false }) === undefined) return
    displaced.push(...makeWay(places, step))
    moveIn(from, places.at(step.path), step.mode)
  })
  await each(journal.touch, ({ path, modifiedMs }) => setTime(places.at(path), modifiedMs))
  // Last, and children first: a folder may be one that nobody may write to.
  const modes = new Map([...journal.open, ...journal.folders].map(({ path, mode }) => [path, mode]))
  const deepestFirst = [...modes].sort(([a], [b]) => (a < b ? 1 : -1))
  await each(deepestFirst, ([path, mode]) => setFolderMode(places, path, mode))
  return displaced
}

/** Nobody's work is ever replaced unseen: what is not as the command found it gets another name first. */
function makeWay(places: Places, { path, before }: Journal['move'][number]): Displaced[] {
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

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EEXIST' || !lstatSync(path).isDirectory()) throw error
  }
}

function moveIn(from: string, to: string, mode: number): void {
  const stat = lstatSync(from)
  // A program that runs with its owner's rights is for a person to make, not for a command.
  if (stat.isFile() && (stat.mode & 0o7777) !== mode) chmodSync(from, mode)
  try {
    renameSync(from, to)
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EXDEV' || !stat.isFile()) throw error
    const draft = `${to}.kogu-${process.pid}`
    copyFileSync(from, draft)
    utimesSync(draft, stat.atime, stat.mtime)
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
