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
import { removeSeen, renameNew } from '../files/rename-over.ts'
import { overwriteBytes, prepareReplacement, putReplacement } from '../files/replace-file.ts'
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
  /** Gets the paths that are as they shall be. */
  readonly made: Set<string>
}

export async function runSteps(work: Work): Promise<void> {
  const { steps, observer, made } = work
  const changedKind = steps.filter(changesKind)
  const inTheWay = (step: PreparedStep): boolean => changedKind.some(({ path }) => isInside(step.path, path))
  const going = steps.filter(step => step.now !== undefined && (step.then === undefined || changesKind(step)))
  const coming = steps.filter(step => step.then !== undefined)
  takeAway(work, going.filter(inTheWay))
  for (const { path, now, then } of coming) {
    if (then?.entry !== 'directory') continue
    if (now?.entry !== 'directory') mkdirSync(at(observer, path))
    made.add(path)
  }
  for (const step of coming) {
    if (step.renameFrom === undefined) continue
    renameBack(observer, step)
    made.add(step.path).add(step.renameFrom)
  }
  await putContents(work, coming)
  takeAway(
    work,
    going.filter(step => !inTheWay(step)),
  )
  for (const { path, then } of coming.toReversed()) {
    if (then?.entry === 'directory') finishFolder(observer, path, then)
  }
  if (isAtomic(work)) syncFolders(observer, steps)
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
function takeAway({ observer, temporary, made }: Work, steps: readonly PreparedStep[]): void {
  const folderOf = createFolderOf(observer)
  for (const { path, now, stat, renameTo } of steps.toReversed()) {
    if (renameTo !== undefined) continue
    const folder = folderOf(path)
    const isSeen = (entry: string): boolean =>
      stat === undefined ? isLinkTo(entry, now?.target) : isSameFile(entry, stat)
    if (now?.entry === 'directory') rmdirSync(folder.at(basename(path)))
    else removeSeen(folder, basename(path), { temporary, isSeen })
    made.add(path)
  }
}

function isLinkTo(path: string, target: string | undefined): boolean {
  return (
    lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true && readlinkSync(path) === target
  )
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
      work.made.add(step.path)
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
  work: Work,
  step: PreparedStep & { folder: PinnedDirectory },
  contents: Contents,
): Promise<void> {
  const { path, folder, now, then, stat, renameFrom } = step
  if (then === undefined || renameFrom !== undefined) return
  const name = basename(path)
  const bytes = needsContent(step) ? contents(then) : undefined
  // What makes place for another kind has been taken away already.
  if (stat !== undefined && !changesKind(step) && !isSameFile(folder.at(name), stat))
    throw changedMeanwhile(path)
  if (changesOnlyMode(step)) {
    setMode(folder, name, then.state.mode)
    return
  }
  if (step.inPlace && now !== undefined && bytes !== undefined) {
    overwriteBytes(folder.at(name), bytes, isAtomic(work))
    if (then.state.mode !== now.state.mode) setMode(folder, name, then.state.mode)
    return
  }
  if (giveNameBack(work.store, folder, step)) return
  if (then.entry === 'link') putLink(work, step)
  else await putFile(work, step, bytes ?? contents(then))
}

function isAtomic({ steps }: Work): boolean {
  return steps.length <= MAX_ATOMIC
}

/** A link, a change of mode or a file that waits in the store is put there without any. */
function needsContent(step: PreparedStep): boolean {
  return step.then?.entry === 'file' && !changesOnlyMode(step) && comesFromAside(step) === undefined
}

function putLink(
  { temporary }: Work,
  { path, folder, now, then }: PreparedStep & { folder: PinnedDirectory },
): void {
  const name = basename(path)
  symlinkSync(then?.target ?? '', folder.at(temporary))
  try {
    if (now?.entry !== 'link') renameNew(folder.at(temporary), folder, name)
    else if (isLinkTo(folder.at(name), now.target)) renameSync(folder.at(temporary), folder.at(name))
    else throw changedMeanwhile(path)
  } catch (error) {
    unlinkSync(folder.at(temporary))
    throw error
  }
}

/** What was written just now may be being written still. */
const JUST_NOW_MS = 1000

/** As an edit is made: with a last look at what was replaced, after it was. */
async function putFile(
  work: Work,
  { path, folder, now, then, stat, inPlace }: PreparedStep & { folder: PinnedDirectory },
  content: Uint8Array,
): Promise<void> {
  const { store, temporary } = work
  const name = basename(path)
  const hash = now?.state.sha256
  const seen = now?.entry === 'file' && then?.entry === 'file' && stat !== undefined ? { stat } : null
  const draft = {
    folder,
    seen,
    content,
    temporary: inPlace ? name : temporary,
    sync: isAtomic(work),
    ...(then === undefined ? {} : { mode: then.state.mode }),
    ...(then?.owner === undefined ? {} : { owner: then.owner }),
  }
  const made = await prepareReplacement(draft)
  if (inPlace) return
  const replaced = seen === null || hash === undefined ? null : { ...seen, sha256: hash }
  await putReplacement({ ...draft, name, seen: replaced, sha256: sha256(content) }, made, {
    settle() {
      if (seen === null || Date.now() - seen.stat.mtimeMs > JUST_NOW_MS) return false
      folder.sync()
      return true
    },
    closeSoon: store.closeSoon,
  })
}

/** False when its content has to be written. */
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
