import { createHash, hash } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
} from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import type { Effect, EntryState } from '../../core/effects.ts'
import type { Permit } from '../../core/permit.ts'
import { isAtOrBelow } from '../../sandbox/layer/overlay-apply.ts'
import type { OverlayChange, OverlayChanges, OverlayEntry } from '../../sandbox/layer/overlay-changes.ts'
import type { OverlayTarget } from '../../sandbox/layer/overlay-commit.ts'
import { createObserver, type Observer } from '../../workspace/files/observer.ts'
import { ownerOf } from '../../workspace/files/tree.ts'
import {
  type Change,
  type ChangeRecord,
  type ContentSource,
  INLINE_BYTES,
  toEffect,
} from '../../workspace/undo/undo-record.ts'
import { gitRefusal } from './git-files.ts'
import { type LayerView, viewLayer } from './layer-view.ts'

const IN_MEMORY = 1024 * 1024
/** Nor a link that took the place of the file is followed, nor a pipe waited for. */
const READ_ONLY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Keeps in the undo store what a command is about to replace, and records the rest as its effects. */
export function recordChanges(
  record: ChangeRecord,
  permit: Permit,
  layer: OverlayChanges,
  effects: Effect[],
): OverlayTarget {
  const seen = { ...layer, view: viewLayer(layer) }
  return {
    refusal: change => refusalOf(change, permit, seen),
    async keep(changes) {
      const observer = createObserver()
      try {
        for (const change of inOrder(changes.changes)) {
          record.add(await toChange(change, changes, { observer, record }))
        }
      } finally {
        observer.close()
      }
      record.seal()
    },
    async committed({ workspace }, left) {
      const stays = (path: string): boolean => left.some(each => isAtOrBelow(join(workspace, each), path))
      const happened = record.changes.filter(each => each.change !== 'deleted' || !stays(each.path))
      const done = new Set(happened)
      for (const change of record.changes) if (!done.has(change)) record.forget(change)
      if (happened.length === 0) record.abort()
      else record.commit(happened)
      effects.push(...record.changes.map(toEffect))
    },
  }
}

/** As if it had been done by hand: what goes, from the inside out; then what comes, from the outside in. */
function inOrder(changes: readonly OverlayChange[]): OverlayChange[] {
  const deleted = changes.filter(({ change }) => change === 'deleted')
  return [...deleted.toReversed(), ...changes.filter(({ change }) => change !== 'deleted')]
}

/** As the effect record of a preview, without keeping anything. */
export async function describeChanges(changes: OverlayChanges): Promise<Effect[]> {
  const found: Effect[] = []
  const observer = createObserver()
  try {
    for (const change of changes.changes) found.push(toEffect(await toChange(change, changes, { observer })))
  } finally {
    observer.close()
  }
  return found
}

const GUARDED = 'tools run it by themselves; change it with a file tool, which asks'
const BY_NAME = ', or by git in a line of its own, named in "brings": the person is asked about it by name'

/** Why a command may not have changed this path. */
export function refusalOf(
  change: OverlayChange,
  { isProtected, isGuarded, command }: Permit,
  { workspace, upper, view }: Pick<OverlayChanges, 'workspace' | 'upper'> & { view: LayerView },
): string | null {
  const path = join(workspace, change.path)
  const kind = change.change === 'deleted' ? 'file_delete' : 'file_write'
  const denied = command?.deniesChange?.(kind, path)
  if (denied !== undefined && denied !== null) return denied
  const git = gitRefusal({
    change,
    workspace,
    upper,
    view,
    subcommands: command?.git.subcommands ?? [],
    isHidden: command?.hidden.searched.length === 0 ? undefined : command?.hidden.hides,
  })
  // A folder such as `.kogu` stays what its name says, also in the shape of a repository.
  if (git !== undefined && (git !== null || /(^|\/)\.git(\/|$)/.test(change.path))) return git
  const exists = (other: string): boolean => git === undefined && view.exists(relative(workspace, other))
  const byName = (command?.git.subcommands ?? []).length > 0 ? BY_NAME : ''
  if (isProtected(path, exists)) return `it can run code or changes what is allowed${byName}`
  return isGuarded?.(path) === true ? `${GUARDED}${byName}` : null
}

async function toChange(
  { change, path: relative, entry, before, after }: OverlayChange,
  { workspace, upper }: OverlayChanges,
  { observer, record }: { observer: Observer; record?: ChangeRecord },
): Promise<Change> {
  const path = join(workspace, relative)
  // A command in the background could swap a folder for a link, and have a file from outside kept, and put back, as one
  // from here.
  const held = (): string => observer.folder(dirname(path)).at(basename(path))
  return {
    change,
    path,
    entry,
    ...(before === undefined ? {} : await describeOld(held(), before, change, record)),
    ...(after === undefined ? {} : { after: stateOf(join(upper, relative), after) }),
    ...targetsOf(before, after),
  }
}

/** What was there, and where its content is to be had again. */
async function describeOld(
  path: string,
  entry: OverlayEntry,
  change: OverlayChange['change'],
  record: ChangeRecord | undefined,
): Promise<Pick<Change, 'before' | 'owner' | 'content' | 'undoable'>> {
  using _readable = openForOwner(path, entry)
  const before = stateOf(path, entry)
  const stat = lstatSync(path)
  const old = { before, ...ownerOf(stat) }
  if (record === undefined || before.sha256 === undefined || entry.entry !== 'file') return old
  const file = { size: before.size, sha256: before.sha256, nlink: stat.nlink }
  const content =
    change === 'deleted' ? await keepDeleted(record, path, file) : await keep(record, path, file)
  return content === undefined ? { ...old, undoable: false } : { ...old, content }
}

/** O_PATH, which Node does not name: needs no right to read, and chmod through it follows no link. */
const PATH_ONLY = 0o10000000

/** To delete a file, its owner need not be allowed to read it; to keep it, for the moment, yes. */
function openForOwner(path: string, { entry, mode, ino }: OverlayEntry): Disposable | undefined {
  if (entry !== 'file' || (mode & 0o400) !== 0) return undefined
  const descriptor = openSync(path, PATH_ONLY | constants.O_NOFOLLOW)
  const stat = fstatSync(descriptor)
  const isOurs = stat.isFile() && stat.ino === ino && stat.uid === process.getuid?.()
  if (isOurs) chmodSync(`/proc/self/fd/${descriptor}`, (stat.mode & 0o7777) | 0o400)
  return {
    [Symbol.dispose]() {
      if (isOurs) chmodSync(`/proc/self/fd/${descriptor}`, stat.mode & 0o7777)
      closeSync(descriptor)
    },
  }
}

interface OldFile {
  readonly size: number
  readonly sha256: string
  readonly nlink: number
}

function keepDeleted(record: ChangeRecord, path: string, file: OldFile): Promise<ContentSource | undefined> {
  const read = (): Uint8Array => readFileSync(path, { flag: READ_ONLY })
  return record.keepDeleted(path, file.size <= INLINE_BYTES ? { ...file, read } : file)
}

async function keep(record: ChangeRecord, path: string, file: OldFile): Promise<'kept' | undefined> {
  const kept =
    file.size <= IN_MEMORY
      ? await record.keepBytes(readFileSync(path, { flag: READ_ONLY }), file.sha256)
      : record.keepFile(path, { ...file, displaced: true })
  return kept ? 'kept' : undefined
}

function targetsOf(
  before: OverlayEntry | undefined,
  after: OverlayEntry | undefined,
): Pick<Change, 'target'> {
  if (before?.target === undefined && after?.target === undefined) return {}
  return {
    target: {
      ...(before?.target === undefined ? {} : { before: before.target }),
      ...(after?.target === undefined ? {} : { after: after.target }),
    },
  }
}

function stateOf(path: string, { entry, mode, size }: OverlayEntry): EntryState {
  if (entry === 'directory') return { mode, size: 0 }
  if (entry === 'link') {
    const target = readlinkSync(path)
    return { mode: 0o777, size: target.length, sha256: hash('sha256', target) }
  }
  return { mode, size, sha256: hashFile(path, size) }
}

function hashFile(path: string, size: number): string {
  if (size <= IN_MEMORY) return hash('sha256', readFileSync(path, { flag: READ_ONLY }))
  const digest = createHash('sha256')
  const chunk = Buffer.allocUnsafe(IN_MEMORY)
  const descriptor = openSync(path, READ_ONLY)
  try {
    for (let read = readSync(descriptor, chunk); read > 0; read = readSync(descriptor, chunk)) {
      digest.update(chunk.subarray(0, read))
    }
  } finally {
    closeSync(descriptor)
  }
  return digest.digest('hex')
}
