import {
  appendFileSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  truncateSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isSystemError, ToolError } from '../../core/errors.ts'
import { tryLock } from '../../core/lock-file.ts'
import { PERMISSION_BITS, setMode } from '../files/entry.ts'
import { sha256 } from '../files/file-content.ts'
import { createObserver, type Observer } from '../files/observer.ts'
import type { PinnedDirectory } from '../files/pinned-directory.ts'
import { isDraftName, isTemporary, overwriteBytes } from '../files/replace-file.ts'
import { putBack, removeTree } from '../files/tree.ts'
import { hasHappened } from './settle-record.ts'
import { closeAgain } from './undo-closed.ts'
import {
  asidePath,
  headersIn,
  listRecords,
  type RecordPlace,
  readKept,
  readRecord,
  recordFiles,
  type SavedRecord,
} from './undo-read.ts'
import { type Change, recordName } from './undo-record.ts'
import { ownerPath, type UndoStore } from './undo-store.ts'

// After a kill: records of processes that are gone still lie in `pending/`. Each change in them is compared with the
// disk. What happened is kept as a complete record, what did not is forgotten, temporary files go. The cost is one
// listing of two folders that are nearly always empty: the records themselves say where temporary files can be.

export interface RecoveryReport {
  /** Interrupted calls whose changes can be undone now. */
  completed: number
  /** Interrupted calls that had changed nothing. */
  dropped: number
  problems: string[]
}

/** Cleans up after processes that were killed. For the start of a process; harmless next to running ones. */
export async function recoverWorkspace(store: UndoStore, locksDirectory: string): Promise<RecoveryReport> {
  const report: RecoveryReport = { completed: 0, dropped: 0, problems: [] }
  const restored = new Set<string>()
  cleanLocks(locksDirectory)
  cleanLocks(store.places.pending)
  const names = readdirSync(store.places.pending)
  const owners = new Set(names.flatMap(name => /([0-9a-f]{12})\.(jsonl|owner)$/.exec(name)?.[1] ?? []))
  for (const owner of owners) {
    // A process holds it for as long as it lives.
    const lock = tryLock(ownerPath(store.places, owner))
    if (lock === undefined) continue
    try {
      // Looked at again: another process that starts now may have recovered them before we got the lock.
      const left = readdirSync(store.places.pending)
      for (const name of left.filter(each => each.endsWith(`${owner}.jsonl`))) {
        await recoverFile(store, join(store.places.pending, name), { report, restored })
      }
    } finally {
      lock.release()
    }
  }
  removeOrphanedFiles(store)
  attempt(report.problems, () => removeSecondNames(store, restored))
  return report
}

/** A process that was killed while it was keeping large files had no record yet. */
function removeOrphanedFiles({ places }: UndoStore): void {
  const kept = readdirSync(places.files)
  if (kept.length === 0) return
  const recorded = new Set(
    recordFiles(places)
      .flatMap(headersIn)
      .map(({ header }) => header.id),
  )
  for (const id of kept.filter(each => !recorded.has(each))) {
    const lock = tryLock(ownerPath(places, id.slice(-12)))
    if (lock === undefined) continue
    rmSync(join(places.files, id), { recursive: true, force: true })
    lock.release()
  }
}

/** A file that was set aside has two names for a moment when undo gives it its old one back. */
function removeSecondNames({ places }: UndoStore, restored: ReadonlySet<string>): void {
  if (restored.size === 0) return
  for (const id of readdirSync(places.files)) {
    // A living process may be setting the same file aside again: its name in the store will be the only one.
    const lock = tryLock(ownerPath(places, id.slice(-12)))
    if (lock === undefined) continue
    try {
      for (const name of readdirSync(join(places.files, id)).filter(each => /^\d+$/.test(each))) {
        const path = join(places.files, id, name)
        if (restored.has(identityOf(lstatSync(path)))) rmSync(path)
      }
    } finally {
      lock.release()
    }
  }
}

function identityOf({ dev, ino }: Stats): string {
  return `${dev} ${ino}`
}

interface Findings {
  readonly report: RecoveryReport
  /** Files with several names that an interrupted undo has put back. */
  readonly restored: Set<string>
}

/** Only the last record of a file can be unfinished. */
async function recoverFile(store: UndoStore, path: string, findings: Findings): Promise<void> {
  const { places } = store
  const records = headersIn(path)
  const last = records.at(-1)
  if (last !== undefined && !last.isDone) await recoverRecord(store, last, findings)
  if (sizeOf(path) === 0) {
    rmSync(path)
    return
  }
  const kept = records.map(({ header }) => sizeOf(join(places.files, header.id)))
  const bytes = kept.reduce((sum, size) => sum + size, sizeOf(path))
  renameSync(path, join(places.calls, recordName(basename(path, '.jsonl'), bytes)))
}

async function recoverRecord(store: UndoStore, place: RecordPlace, findings: Findings): Promise<void> {
  const { report } = findings
  const record = readRecord(place)
  const done = record === undefined ? [] : await reconcile(store, record, findings)
  if (record === undefined || done.length === 0) {
    truncateSync(place.path, place.start)
    if (record !== undefined)
      rmSync(join(store.places.files, record.header.id), { recursive: true, force: true })
    report.dropped += 1
    return
  }
  // The last line may have been cut short; on a line of its own this one is found.
  appendFileSync(place.path, `\n${JSON.stringify({ done })}\n`)
  report.completed += 1
}

/** The changes that happened, by their order. */
async function reconcile(
  store: UndoStore,
  record: SavedRecord,
  { report: { problems }, restored }: Findings,
): Promise<number[]> {
  const observer = createObserver()
  try {
    for (const change of record.changes) {
      if (change.inPlace !== undefined) attempt(problems, () => completeTorn(store, record, change, observer))
    }
    const waiting = record.changes.filter(change => isWaiting(record, change, observer))
    for (const each of record.temporaries) attempt(problems, () => removeTemporary(observer, each))
    attempt(problems, () => closeAgain(observer, record.opened))
    const done: number[] = []
    for (const [index, change] of record.changes.entries()) {
      if (waiting.includes(change) || !hasHappened(change, await observer.observe(change.path))) {
        forgetAside(store, record, change)
        continue
      }
      done.push(index)
      if (record.header.undoes === undefined || change.change !== 'created') continue
      attempt(problems, () => finishFolder(observer, change))
      const stat = lstatSync(change.path, { throwIfNoEntry: false })
      if (stat?.isFile() && stat.nlink > 1) restored.add(identityOf(stat))
    }
    return done
  } finally {
    observer.close()
  }
}

/** Folders get their mode last, since one may let nobody write: a killed undo has not come that far. */
function finishFolder(observer: Observer, { path, entry, after }: Change): void {
  const now = entry === 'directory' ? lookIn(observer, path) : undefined
  const isNew = now !== undefined && (now.mode & PERMISSION_BITS) === (0o777 & ~process.umask())
  if (isNew && after !== undefined) setMode(observer.folder(dirname(path)), basename(path), after.mode)
}

/**
 * The new content of a file still waits beside it under its temporary name: it had not taken its place, and whatever is
 * there now is somebody else's.
 */
function isWaiting({ changes, temporaries }: SavedRecord, change: Change, observer: Observer): boolean {
  const isWrite = change.after !== undefined && change.entry === 'file' && change.inPlace === undefined
  if (!isWrite || changes.filter(({ entry }) => entry === 'file').length > 1) return false
  const folder = dirname(change.path)
  return temporaries
    .filter(({ path }) => dirname(path) === folder && isDraftName(basename(path)))
    .some(({ path }) => {
      const draft = lookIn(observer, path)
      return draft !== undefined && draft.ino !== lookIn(observer, change.path)?.ino
    })
}

function lookIn(observer: Observer, path: string): Stats | undefined {
  try {
    return lstatSync(observer.folder(dirname(path)).at(basename(path)), { throwIfNoEntry: false })
  } catch (error) {
    if (isSystemError(error) || error instanceof ToolError) return undefined
    throw error
  }
}

/** The file still has its name, and shall have no other. */
function forgetAside({ places }: UndoStore, record: SavedRecord, { content }: Change): void {
  if (typeof content === 'object' && 'setAside' in content)
    rmSync(asidePath(places, record, content.setAside), { force: true })
}

/** One file that cannot be cleaned up must not keep the others, or the program, from starting. */
function attempt(problems: string[], work: () => void): void {
  try {
    work()
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return
    problems.push(error instanceof Error ? error.message : String(error))
  }
}

/** Only names that we make are ever touched, and only without following links. */
function removeTemporary(
  observer: Observer,
  { path, movedFrom }: { path: string; movedFrom?: string },
): void {
  const name = basename(path)
  if (!isTemporary(name)) return
  const folder = observer.folder(dirname(path))
  if (lstatSync(folder.at(name), { throwIfNoEntry: false }) === undefined) return
  if (movedFrom === undefined) removeTree(folder, name)
  else putBack(folder, name, basename(movedFrom))
}

/** A file that was being written in place, and is a mixture of old and new, becomes the new one. */
function completeTorn(store: UndoStore, record: SavedRecord, change: Change, observer: Observer): void {
  const folder = observer.folder(dirname(change.path))
  const path = folder.at(basename(change.path))
  const old = change.before?.sha256
  const next = change.after?.sha256
  if (next === undefined || !lstatSync(path).isFile()) return
  const now = readFileSync(path)
  const hash = sha256(now)
  if (hash === next) finishFile(folder, change)
  if ([old, next].includes(hash)) return
  const bytes = findNext(store, record, change, folder)
  const before = old === undefined ? Buffer.alloc(0) : readKept(store.places, record, old)
  if (!isMixture(now, before, bytes)) return
  overwriteBytes(path, bytes, true)
  setMode(folder, basename(change.path), change.after?.mode ?? 0o600)
}

/** A new file is nobody else's to read until it is whole, and gets its mode last: a killed undo has not come that far. */
function finishFile(folder: PinnedDirectory, { path, before, after }: Change): void {
  const { mode } = lstatSync(folder.at(basename(path)))
  if (before === undefined && after !== undefined && (mode & PERMISSION_BITS) === 0o600)
    setMode(folder, basename(path), after.mode)
}

/** The bytes that were to be written. */
function findNext(store: UndoStore, record: SavedRecord, change: Change, folder: PinnedDirectory): Buffer {
  const id = change.inPlace?.afterIn
  const hash = change.after?.sha256 ?? ''
  if (id !== undefined) {
    const place = listRecords(store.places).find(each => each.header.id === id)
    const other = place === undefined ? record : readRecord(place)
    return readKept(store.places, other ?? record, hash)
  }
  const siblings = record.temporaries.filter(each => dirname(each.path) === folder.real)
  for (const name of siblings.map(each => basename(each.path)).filter(isTemporary)) {
    const bytes = readIfThere(folder.at(name))
    if (bytes !== undefined && sha256(bytes) === hash) return bytes
  }
  throw new ToolError(
    'failed',
    `${change.path} was being written when Kogu was killed, and cannot be completed.`,
  )
}

/** The beginning of the new content, the rest of the old one: nothing that a person would write. */
function isMixture(now: Uint8Array, old: Uint8Array, next: Uint8Array): boolean {
  let common = 0
  while (common < now.length && common < next.length && now[common] === next[common]) common += 1
  return Buffer.compare(now.subarray(common), old.subarray(common)) === 0
}

function readIfThere(path: string): Buffer | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path) : undefined
}

function sizeOf(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return 0
  return stat.isDirectory()
    ? readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0)
    : stat.size
}

/** A lock that is being taken is in its draft for microseconds. */
const DRAFT_MS = 60_000

/** Locks of dead processes break themselves when somebody wants them; those that nobody wants would pile up. */
function cleanLocks(directory: string): void {
  // It is made with the first lock.
  if (!existsSync(directory)) return
  for (const name of readdirSync(directory)) {
    const path = join(directory, name)
    if (/^[0-9a-f]{32}$|^[0-9a-f]{12}\.owner$/.test(name)) tryLock(path)?.release()
    else if (!name.endsWith('.jsonl') && ageOf(path) > DRAFT_MS) rmSync(path, { force: true })
  }
}

function ageOf(path: string): number {
  return Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
}
