import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isSystemError, ToolError } from '../core/errors.ts'
import type { OverlayChanges } from './overlay-changes.ts'

/** What is left to do. Every step may be repeated. Paths are relative to the workspace. */
export interface Journal {
  workspace: string
  /** Topmost entries that go, with all that is in them. */
  remove: string[]
  folders: { path: string; mode: number }[]
  /** Files and links that are moved from the upper directory to the same place in the workspace. */
  move: { path: string; mode: number }[]
  /** Only the time is new. */
  touch: { path: string; modifiedMs: number }[]
}

export function toJournal({ workspace, changes, touched }: OverlayChanges): Journal {
  const deletedFolders = new Set<string>()
  const remove: string[] = []
  for (const { change, path, entry } of changes) {
    if (change !== 'deleted') continue
    if (!deletedFolders.has(dirname(path))) remove.push(path)
    if (entry === 'directory') deletedFolders.add(path)
  }
  const present = changes.flatMap(({ path, entry, after }) =>
    after === undefined ? [] : [{ path, entry, mode: after.mode }],
  )
  return {
    workspace,
    remove,
    folders: present.filter(({ entry }) => entry === 'directory').map(({ path, mode }) => ({ path, mode })),
    move: present.filter(({ entry }) => entry !== 'directory').map(({ path, mode }) => ({ path, mode })),
    touch: [...touched],
  }
}

const STEPS_AT_A_TIME = 200

/** Does what the journal says, from wherever an earlier attempt was stopped. */
export async function applyJournal(folder: string, journal: Journal): Promise<void> {
  using places = openPlaces(journal.workspace)
  const upper = join(folder, 'upper')
  // Once entries have been moved in, removing again would take away what just came.
  const removed = join(folder, 'removed')
  if (!existsSync(removed)) {
    await each(journal.remove, path => rmSync(places.at(path), { recursive: true, force: true }))
    writeFileSync(removed, '')
  }
  await each(journal.folders, ({ path }) => makeFolder(places.at(path)))
  await each(journal.move, ({ path, mode }) => moveIn(join(upper, path), places.at(path), mode))
  await each(journal.touch, ({ path, modifiedMs }) =>
    utimesSync(places.at(path), new Date(), new Date(modifiedMs)),
  )
  // Last, and children first: a folder may be one that nobody may write to.
  await each(journal.folders.toReversed(), ({ path, mode }) => chmodSync(places.at(path), mode))
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EEXIST') throw error
  }
}

function moveIn(from: string, to: string, mode: number): void {
  const stat = lstatSync(from, { throwIfNoEntry: false })
  // Moved already, before a kill.
  if (stat === undefined) return
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

function openFolder(path: string): number {
  return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
}
