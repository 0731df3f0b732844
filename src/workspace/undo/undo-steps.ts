import {
  closeSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs'
import { basename, dirname } from 'node:path'
import { isSystemError } from '../../core/errors.ts'
import { isInside } from '../../core/real-path.ts'
import { changedMeanwhile, openRegular, PERMISSION_BITS, setMode } from '../files/entry.ts'
import { sha256 } from '../files/file-content.ts'
import type { Observer } from '../files/observer.ts'
import type { PinnedDirectory } from '../files/pinned-directory.ts'
import {
  changesKind,
  changesOnlyMode,
  comesFromAside,
  MAX_ATOMIC,
  type PreparedStep,
} from '../files/prepared-step.ts'
import { renameNew } from '../files/rename-over.ts'
import { overwriteBytes, prepareReplacement } from '../files/replace-file.ts'
import type { PathState } from './undo-plan.ts'
import { asidePath, createKeptReader, readRecord, type SavedRecord } from './undo-read.ts'
import type { ChangeRecord } from './undo-record.ts'
import type { UndoStore } from './undo-store.ts'

// The order in which the paths get back what they were: what stands in the way goes first, then folders from the top,
// moved files, other files and links, then what is left to go, from the bottom; modes of folders last, because a folder
// may be one that lets nobody write.

interface Work {
  readonly store: UndoStore
  /** Sealed: it holds the contents that were replaced, which other paths may need. */
  readonly record: ChangeRecord
  readonly observer: Observer
  readonly steps: readonly PreparedStep[]
  readonly temporary: string
}

export async function runSteps(work: Work): Promise<void> {
  const { steps, observer } = work
  const changedKind = steps.filter(changesKind)
  const inTheWay = (step: PreparedStep): boolean => changedKind.some(({ path }) => isInside(step.path, path))
  const going = steps.filter(step => step.now !== undefined && (step.then === undefined || changesKind(step)))
  const coming = steps.filter(step => step.then !== undefined)
  takeAway(observer, going.filter(inTheWay))
  for (const { path, now, then } of coming) {
    if (then?.entry === 'directory' && now?.entry !== 'directory') mkdirSync(at(observer, path))
  }
  for (const step of coming.filter(each => each.renameFrom !== undefined)) renameBack(observer, step)
  await putContents(work, coming)
  takeAway(
    observer,
    going.filter(step => !inTheWay(step)),
  )
  for (const { path, then } of coming.toReversed()) {
    if (then?.entry === 'directory') finishFolder(observer, path, then)
  }
  if (steps.length <= MAX_ATOMIC) syncFolders(observer, steps)
}

/**
 * The folder a path lies in. That it is in its place is made sure once for all that follow each other in it: were it
 * moved away meanwhile, the last look at every path would tell. Nothing else may use the observer in between.
 */
export function createFolderOf(observer: Observer): (path: string) => PinnedDirectory {
  let last: PinnedDirectory | undefined
  return path => {
    if (last?.real !== dirname(path)) last = observer.folder(dirname(path))
    return last
  }
}

function at(observer: Observer, path: string): string {
  return observer.folder(dirname(path)).at(basename(path))
}

function finishFolder(observer: Observer, path: string, { state, owner }: PathState): void {
  // Only root may give a folder away; anybody else restores it as their own.
  if (owner !== undefined && process.geteuid?.() === 0) lchownSync(at(observer, path), owner.uid, owner.gid)
  setMode(observer.folder(dirname(path)), basename(path), state.mode)
}

/** The deepest first. */
function takeAway(observer: Observer, steps: readonly PreparedStep[]): void {
  const folderOf = createFolderOf(observer)
  for (const { path, now, stat, renameTo } of steps.toReversed()) {
    if (renameTo !== undefined) continue
    const entry = folderOf(path).at(basename(path))
    if (now?.entry === 'directory') {
      rmdirSync(entry)
      continue
    }
    if (stat !== undefined && !isSameFile(entry, stat)) throw changedMeanwhile(path)
    if (now?.entry === 'link' && readlinkSync(entry) !== now.target) throw changedMeanwhile(path)
    unlinkSync(entry)
  }
}

function renameBack(observer: Observer, { path, renameFrom, then }: PreparedStep): void {
  if (renameFrom === undefined || then === undefined) return
  renameNew(at(observer, renameFrom), observer.folder(dirname(path)), basename(path))
  setMode(observer.folder(dirname(path)), basename(path), then.state.mode)
}

async function putContents(work: Work, steps: readonly PreparedStep[]): Promise<void> {
  const reader = createKeptReader(work.store.places)
  // What was on the disk under another path is in the new record by now.
  let own: SavedRecord | undefined
  const paths = new Set(work.steps.map(({ path }) => path))
  const contents: Contents = ({ content, state }) => {
    if (content?.from === 'disk' && !paths.has(content.path))
      return readStaying(work.observer, content.path, state.sha256)
    own ??= content?.from === 'disk' ? readBack(work.record) : undefined
    const record = content?.from === 'record' ? content.record : own
    if (record === undefined || state.sha256 === undefined)
      throw new Error('A file to be restored has no content.')
    return reader.read(record, state.sha256)
  }
  try {
    const folderOf = createFolderOf(work.observer)
    for (const step of steps) {
      if (step.then?.entry === 'directory') continue
      await putContent(work, { ...step, folder: folderOf(step.path) }, contents)
    }
  } finally {
    reader.close()
  }
}

/** A file that stays, because it has the bytes that it had before something with the same bytes was moved over it. */
function readStaying(observer: Observer, path: string, hash: string | undefined): Uint8Array {
  const file = openRegular(observer.folder(dirname(path)), basename(path))
  if (file === undefined) throw changedMeanwhile(path)
  try {
    const bytes = readFileSync(file.descriptor)
    if (sha256(bytes) !== hash) throw changedMeanwhile(path)
    return bytes
  } finally {
    closeSync(file.descriptor)
  }
}

function readBack({ place }: Work['record']): SavedRecord | undefined {
  return place === undefined ? undefined : readRecord(place)
}

async function putContent(
  { store, temporary, steps }: Work,
  step: PreparedStep & { folder: PinnedDirectory },
  contents: Contents,
): Promise<void> {
  const { path, folder, now, then, stat, renameFrom } = step
  if (then === undefined || renameFrom !== undefined) return
  const name = basename(path)
  // What makes place for another kind has been taken away already.
  if (stat !== undefined && !changesKind(step) && !isSameFile(folder.at(name), stat))
    throw changedMeanwhile(path)
  if (changesOnlyMode(step)) {
    setMode(folder, name, then.state.mode)
    return
  }
  if (step.inPlace && now !== undefined) {
    overwriteBytes(folder.at(name), contents(then), steps.length <= MAX_ATOMIC)
    if (then.state.mode !== now.state.mode) setMode(folder, name, then.state.mode)
    return
  }
  if (giveNameBack(store, folder, step)) return
  if (then.entry === 'link') symlinkSync(then.target ?? '', folder.at(temporary))
  else {
    await prepareReplacement({
      folder,
      seen: now?.entry === 'file' && stat !== undefined ? { stat } : null,
      content: contents(then),
      mode: then.state.mode,
      temporary: step.inPlace ? name : temporary,
      sync: steps.length <= MAX_ATOMIC,
      ...(then.owner === undefined ? {} : { owner: then.owner }),
    })
    if (step.inPlace) return
  }
  try {
    if (now?.entry !== then.entry) renameNew(folder.at(temporary), folder, name)
    else renameSync(folder.at(temporary), folder.at(name))
  } catch (error) {
    unlinkSync(folder.at(temporary))
    throw error
  }
}

/** False: its content has to be written. */
function giveNameBack(store: UndoStore, folder: PinnedDirectory, step: PreparedStep): boolean {
  const aside = comesFromAside(step)
  if (aside === undefined || step.then === undefined) return false
  const name = basename(step.path)
  try {
    renameNew(asidePath(store.places, aside.record, aside.number), folder, name)
  } catch (error) {
    // The store is on another file system by now; or two paths have the same content, and the other one came first.
    if (isSystemError(error) && (error.code === 'EXDEV' || error.code === 'ENOENT')) return false
    throw error
  }
  const { mode } = step.then.state
  if ((lstatSync(folder.at(name)).mode & PERMISSION_BITS) !== mode) setMode(folder, name, mode)
  return true
}

/** Between keeping it and replacing it, somebody else may have changed a file. */
function isSameFile(path: string, stat: NonNullable<PreparedStep['stat']>): boolean {
  const now = lstatSync(path, { throwIfNoEntry: false })
  return now?.ino === stat.ino && now.size === stat.size && now.mtimeMs === stat.mtimeMs
}

type Contents = (then: PathState) => Uint8Array

function syncFolders(observer: Observer, steps: readonly PreparedStep[]): void {
  const gone = new Set(steps.filter(step => step.then?.entry !== 'directory').map(step => step.path))
  for (const path of new Set(steps.map(step => dirname(step.path)))) {
    if (!gone.has(path)) observer.folder(path).sync()
  }
}
