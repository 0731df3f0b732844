import { closeSync, linkSync, lstatSync, renameSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Effect } from '../../core/effects.ts'
import { isSystemError, ToolError } from '../../core/errors.ts'
import { isInside, type Resolved } from '../../core/real-path.ts'
import { isConflict, settleRecord } from '../undo/settle-record.ts'
import { type Change, type ChangeRecord, toEffect } from '../undo/undo-record.ts'
import { changedMeanwhile, openRegular, PERMISSION_BITS } from './entry.ts'
import { readAll, sha256 } from './file-content.ts'
import { NewFolders } from './new-folders.ts'
import { type PinnedDirectory, pinDirectory } from './pinned-directory.ts'
import { deletion } from './remove-entry.ts'
import { renameNew, renameOver, type Seen } from './rename-over.ts'
import { asideOf, newTemporary } from './replace-file.ts'
import { type CallScope, isDeclared, locateEntry, requireChangeable } from './scope.ts'
import { isUnchanged, ownerOf, surveyTree, type TreeEntry } from './tree.ts'
import { createFolders } from './update-file.ts'

export interface MoveOptions {
  readonly overwrite?: boolean
}

/** One end of a move. */
interface End {
  readonly folder: PinnedDirectory
  readonly name: string
  readonly real: string
}

/** Files.move: see there. Missing folders on the way to the new place are created. */
export async function moveEntry(
  scope: CallScope,
  from: string,
  to: string,
  options: MoveOptions,
): Promise<Effect[]> {
  const locate = (): { source: Resolved; target: Resolved } => ({
    source: locateEntry(scope, from, ['file_delete', 'file_write']),
    target: locateEntry(scope, to, ['file_write']),
  })
  const first = locate()
  return scope.locks.hold([first.source.real, first.target.real], async () => {
    const { source, target } = locate()
    refuseImpossible(source, target)
    const folder = pinDirectory(dirname(source.real))
    const base = pinDirectory(target.missing.length === 0 ? dirname(target.real) : target.existing)
    const folders = new NewFolders(base, target.missing.slice(0, -1))
    try {
      const end = { folder, name: basename(source.real), real: source.real }
      return await moveBetween(scope, end, {
        folders,
        real: target.real,
        overwrite: options.overwrite === true,
      })
    } finally {
      folders.close()
      base.close()
      folder.close()
    }
  })
}

function refuseImpossible(source: Resolved, target: Resolved): void {
  if (source.missing.length > 0) throw new ToolError('not_found', `No such file or folder: ${source.real}`)
  if (source.real === target.real) {
    throw new ToolError('invalid_input', `Source and destination are the same: ${source.real}`)
  }
  if (isInside(target.real, source.real)) {
    throw new ToolError('invalid_input', `A folder cannot be moved into itself: ${source.real}`)
  }
}

type Replaced = Seen & { readonly bytes: Uint8Array }

interface Destination {
  readonly folders: NewFolders
  readonly real: string
  readonly overwrite: boolean
}

async function moveBetween(scope: CallScope, source: End, destination: Destination): Promise<Effect[]> {
  const { folders, real } = destination
  const survey = await surveyTree(source.folder, source.name, {
    check: (path, names) => requireMovable(scope, path, join(real, ...names)),
  })
  scope.assertOpen()
  const record = scope.undo.begin(scope.call)
  try {
    const target = { folder: createFolders(scope, record, folders), name: basename(real), real }
    const replaced = await readReplaced(target, survey, destination.overwrite)
    await describeMove(record, survey, target, replaced)
    const temporary = newTemporary()
    for (const name of [temporary, asideOf(temporary)]) record.temporary(join(target.folder.real, name))
    record.seal()
    const spare = [asideOf(temporary), temporary] as const
    await rename(source, target, { survey, replaced, spare, closeSoon: scope.undo.closeSoon })
    record.commit(folders.withoutForeign(record.changes))
    for (const each of [target.folder, source.folder, ...folders.parents()]) scope.undo.syncSoon(each)
  } catch (error) {
    folders.takeBack()
    await settleRecord(
      record,
      isConflict(error) ? folders.ownFolders(record.changes) : folders.withoutForeign(record.changes),
    )
    throw error
  } finally {
    scope.effects.push(...record.changes.map(toEffect))
  }
  moveReceipts(scope, survey, real)
  return record.changes.map(toEffect)
}

/** Both names are checked for every entry: a folder must not carry a file to or from a protected name. */
function requireMovable(scope: CallScope, path: string, newPath: string): void {
  requireChangeable(scope.permit, path)
  requireChangeable(scope.permit, newPath)
  // Under another name, a rule that hides this file would not find it any more.
  if (scope.permit.mayRead(path) || isDeclared(scope, path, path, ['file_read'])) return
  throw new ToolError('denied', `This call may not read ${path}, so it may not rename it either.`)
}

async function readReplaced(
  target: End,
  survey: readonly TreeEntry[],
  overwrite: boolean,
): Promise<Replaced | undefined> {
  const stat = lstatSync(target.folder.at(target.name), { throwIfNoEntry: false })
  if (stat === undefined) return undefined
  if (!overwrite) {
    throw new ToolError('conflict', `The destination already exists: ${target.real}`, {
      hint: 'Choose another name, or ask for it to be overwritten.',
    })
  }
  if (!stat.isFile() || survey[0]?.entry === 'directory') {
    throw new ToolError('conflict', `Only a file can overwrite a file: ${target.real}`, {
      hint: stat.isDirectory()
        ? 'To move something into a folder, pass its full path there.'
        : 'Remove it first.',
    })
  }
  const file = openRegular(target.folder, target.name)
  if (file === undefined) return undefined
  try {
    const bytes = await readAll(file.descriptor, file.stat.size)
    return { stat: file.stat, bytes, sha256: sha256(bytes) }
  } finally {
    closeSync(file.descriptor)
  }
}

async function describeMove(
  record: ChangeRecord,
  survey: readonly TreeEntry[],
  target: End,
  replaced: Replaced | undefined,
): Promise<void> {
  const old = replaced === undefined ? undefined : await describeReplaced(record, target.real, replaced)
  if (old !== undefined && survey[0]?.entry !== old.entry) record.add(old)
  for (const each of survey) {
    const arrival: Change = {
      change: 'created',
      path: join(target.real, ...each.names),
      entry: each.entry,
      after: each.state,
      ...(each.target === undefined ? {} : { target: { after: each.target } }),
    }
    record.add(old?.entry === each.entry ? { ...old, ...arrival, change: 'changed' } : arrival)
  }
  for (const each of survey.toReversed()) {
    const content = { movedTo: join(target.real, ...each.names) }
    record.add(deletion(each.entry === 'file' ? { ...each, content } : each))
  }
}

async function describeReplaced(record: ChangeRecord, path: string, replaced: Replaced): Promise<Change> {
  const { stat, bytes, sha256: hash } = replaced
  const kept = await record.keepBytes(bytes, hash)
  return {
    change: 'deleted',
    path,
    entry: 'file',
    before: { mode: stat.mode & PERMISSION_BITS, size: bytes.length, sha256: hash },
    ...ownerOf(stat),
    ...(kept ? { content: 'kept' } : { undoable: false }),
  }
}

interface Rename {
  readonly survey: readonly TreeEntry[]
  readonly replaced: Seen | undefined
  readonly spare: readonly [string, string]
  readonly closeSoon: (descriptor: number) => void
}

async function rename(source: End, target: End, options: Rename): Promise<void> {
  const { survey, replaced, spare, closeSoon } = options
  const from = source.folder.at(source.name)
  const to = target.folder.at(target.name)
  const isFolder = survey[0]?.entry === 'directory'
  try {
    if (replaced !== undefined) {
      const sha256 = survey[0]?.state.sha256 ?? ''
      const { ino, size } = lstatSync(from)
      const restore = (now: string): void => linkSync(now, from)
      const incoming = { path: from, ino, size, sha256, restore }
      const settle = (): boolean => {
        target.folder.sync()
        return true
      }
      await renameOver(incoming, { ...target, seen: replaced, spare, settle, closeSoon })
      return
    }
    if (isFolder) renameSync(from, to)
    else renameNew(from, target.folder, target.name)
  } catch (error) {
    throw isSystemError(error) ? explain(error, source, target) : error
  }
  if (isUnchanged(target.folder, target.name, survey)) return
  if (isFolder) renameSync(to, from)
  else renameNew(to, source.folder, source.name)
  throw changedMeanwhile(source.real)
}

function explain(error: NodeJS.ErrnoException, source: End, target: End): Error {
  if (error.code === 'EXDEV') {
    return new ToolError('failed', `${source.real} and ${target.real} are on different file systems.`, {
      hint: 'Write the file at the destination, then delete the source.',
      cause: error,
    })
  }
  const taken = ['ENOTEMPTY', 'EEXIST', 'ENOTDIR', 'EISDIR'].includes(error.code ?? '')
  return taken ? changedMeanwhile(target.real) : error
}

function moveReceipts(scope: CallScope, survey: readonly TreeEntry[], real: string): void {
  for (const { path, names } of survey) {
    const hash = scope.receipts.get(path)
    if (hash === undefined) continue
    scope.receipts.delete(path)
    scope.receipts.set(join(real, ...names), hash)
  }
}
