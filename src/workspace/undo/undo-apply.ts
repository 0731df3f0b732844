import { accessSync, closeSync, constants, type Stats } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Effect } from '../../core/effects.ts'
import { isSystemError, ToolError, toToolError } from '../../core/errors.ts'
import { isInside } from '../../core/real-path.ts'
import { changedMeanwhile, openEvenClosed } from '../files/entry.ts'
import { hashFile, readAll, sha256 } from '../files/file-content.ts'
import { createObserver, type Observer } from '../files/observer.ts'
import type { PinnedDirectory } from '../files/pinned-directory.ts'
import {
  changesKind,
  changesOnlyMode,
  comesFromAside,
  MAX_ATOMIC,
  type PreparedStep,
} from '../files/prepared-step.ts'
import { asideOf, newTemporary } from '../files/replace-file.ts'
import { ownerOf } from '../files/tree.ts'
import { isConflict, settleRecord } from './settle-record.ts'
import { closeAgain, findClosed, openClosed } from './undo-closed.ts'
import { type PathState, planUndo, type UndoPlan, type UndoStep } from './undo-plan.ts'
import {
  asideBytes,
  type CallReference,
  type Change,
  type ChangeRecord,
  INLINE_BYTES,
  toEffect,
} from './undo-record.ts'
import { createFolderOf, runSteps } from './undo-steps.ts'
import { countLess, type UndoStore } from './undo-store.ts'

export interface UndoOptions {
  /** The undo is a call of its own, recorded like any other: it can be taken back too. */
  readonly call: CallReference
  /** Whether a real path may be changed: the write scope. */
  readonly mayChange: (real: string) => boolean
  /** Take back what can be, although the plan has conflicts. */
  readonly despiteConflicts?: boolean
}

export interface UndoResult {
  readonly effects: readonly Effect[]
  /** Paths that were read again afterwards and have the hash and mode that the plan promised. */
  readonly verified: number
}

/** Does what the plan says, all of it or nothing, and reads everything again. */
export async function applyUndo(store: UndoStore, plan: UndoPlan, options: UndoOptions): Promise<UndoResult> {
  refuse(plan, options)
  if (plan.calls.length === 0) return { effects: [], verified: 0 }
  const observer = createObserver()
  const record = store.begin(
    options.call,
    plan.calls.map(each => each.call),
  )
  const made = new Set<string>()
  try {
    const steps = await prepare(observer, plan.steps, record)
    const temporary = newTemporary()
    for (const folder of new Set(steps.map(step => dirname(step.path)))) {
      record.temporary(join(folder, temporary))
      record.temporary(join(folder, asideOf(temporary)))
    }
    for (const change of toChanges(steps, record.header.id)) record.add(change)
    const closed = findClosed(observer, steps)
    for (const { path, mode } of closed) record.opened(path, mode)
    record.seal()
    try {
      openClosed(observer, closed)
      await runSteps({ store, record, observer, steps, temporary, made })
    } finally {
      closeAgain(observer, closed)
    }
    await verify(plan.steps)
    record.commit()
    countGivenBack(store, steps)
    return { effects: record.changes.map(toEffect), verified: plan.steps.length }
  } catch (error) {
    // After a conflict, what is at the paths that were not reached is as it was, or somebody else's.
    await settleRecord(
      record,
      isConflict(error) ? record.changes.filter(({ path }) => made.has(path)) : record.changes,
    )
    if (record.changes.length > 0) await rollBack(store, options, error)
    throw isSystemError(error) ? notUndone(error) : error
  } finally {
    observer.close()
  }
}

function notUndone(error: Error): ToolError {
  const { code, message, hint } = toToolError(error)
  return new ToolError(code, `Nothing was undone. ${message}`, {
    ...(hint === undefined ? {} : { hint }),
    cause: error,
  })
}

function countGivenBack({ places }: UndoStore, steps: readonly PreparedStep[]): void {
  const given = new Map<string, number>()
  for (const step of steps) {
    const path = comesFromAside(step)?.record.path
    if (path !== undefined) given.set(path, (given.get(path) ?? 0) + asideBytes(step.then?.state.size ?? 0))
  }
  for (const [path, bytes] of given) countLess(places, path, bytes)
}

function refuse(plan: UndoPlan, { despiteConflicts, mayChange }: UndoOptions): void {
  const first = plan.conflicts[0]
  if (first !== undefined && despiteConflicts !== true) {
    const more = plan.conflicts.length === 1 ? '' : ` (and ${plan.conflicts.length - 1} more)`
    throw new ToolError('conflict', `Nothing was undone. ${first.path}: ${first.reason}${more}.`, {
      hint: 'Leave those out, or resolve them by hand first.',
    })
  }
  const outside = plan.steps.find(step => !mayChange(step.path))
  if (outside !== undefined) throw new ToolError('forbidden', `Undo may not change ${outside.path}`)
}

/** Keeps what is about to be replaced, and makes sure that everything is still what the plan saw. */
async function prepare(
  observer: Observer,
  steps: readonly UndoStep[],
  record: ChangeRecord,
): Promise<PreparedStep[]> {
  const renames = findRenames(steps)
  const origins = new Map([...renames].map(([from, to]) => [to, from]))
  const folderOf = createFolderOf(observer)
  const prepared: PreparedStep[] = []
  for (const step of steps) {
    const renameTo = renames.get(step.path)
    const renameFrom = origins.get(step.path)
    const staysAsItIs = renameTo !== undefined || changesOnlyMode(step)
    prepared.push({
      ...step,
      ...(await keepCurrent(folderOf, step, {
        record: staysAsItIs ? undefined : record,
        steps: steps.length,
      })),
      ...(renameTo === undefined ? {} : { renameTo }),
      ...(renameFrom === undefined ? {} : { renameFrom, inPlace: false }),
    })
  }
  return withoutSharedContent(prepared)
}

/** Two paths of the undo may be one file by now: what is written into it for the one would be there for the other. */
function withoutSharedContent(steps: readonly PreparedStep[]): PreparedStep[] {
  const idOf = ({ stat }: PreparedStep): string | undefined =>
    stat !== undefined && stat.nlink > 1 ? `${stat.dev}:${stat.ino}` : undefined
  const names = Map.groupBy(steps, idOf)
  return steps.map(step => {
    const id = idOf(step)
    return id !== undefined && (names.get(id) ?? []).length > 1 ? { ...step, inPlace: false } : step
  })
}

/**
 * A file with other names keeps them. And of very many files each is written in its place at once, which costs a tenth:
 * whoever reads one at that very moment may see a part of it, and after a kill the next start completes it.
 */
function isWrittenInPlace(
  step: UndoStep,
  file: { stat: Stats; path: string } | undefined,
  steps: number,
): boolean {
  if (step.then?.entry !== 'file' || changesOnlyMode(step) || comesFromAside(step) !== undefined) return false
  if (file === undefined) return step.now === undefined && steps > MAX_ATOMIC
  return (file.stat.nlink > 1 || steps > MAX_ATOMIC) && isWritable(file.path)
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch (error) {
    if (isSystemError(error)) return false
    throw error
  }
}

/** Files that were moved go back by renaming: their content may be too large to be kept. Old path → new path. */
function findRenames(steps: readonly UndoStep[]): Map<string, string> {
  const byPath = new Map(steps.map(step => [step.path, step]))
  const changedKind = steps.filter(changesKind)
  const renames = new Map<string, string>()
  for (const { path, now, then } of steps) {
    const from = then?.content?.from === 'disk' ? then.content.path : undefined
    if (from === undefined || now !== undefined || renames.has(from)) continue
    // What lies in a folder that makes place for something else is gone before anything can be renamed.
    if (changedKind.some(step => isInside(from, step.path))) continue
    const source = byPath.get(from)
    if (source?.now?.entry === 'file' && source.then === undefined) renames.set(from, path)
  }
  return renames
}

async function keepCurrent(
  folderOf: (path: string) => PinnedDirectory,
  step: UndoStep,
  { record, steps }: { record: ChangeRecord | undefined; steps: number },
): Promise<Pick<PreparedStep, 'stat' | 'kept' | 'inPlace'>> {
  const { path, now } = step
  if (now?.entry !== 'file') return { inPlace: isWrittenInPlace(step, undefined, steps) }
  const folder = folderOf(path)
  const file = openEvenClosed(folder, basename(path))
  if (file === undefined) throw changedMeanwhile(path)
  try {
    const { stat, descriptor } = file
    const inPlace = isWrittenInPlace(step, { stat, path: folder.at(basename(path)) }, steps)
    const bytes = stat.size <= INLINE_BYTES ? await readAll(descriptor, stat.size) : undefined
    const found =
      bytes === undefined
        ? await hashFile(descriptor, stat.size)
        : { sha256: sha256(bytes), size: bytes.length, read: () => bytes }
    if (found.sha256 !== now.state.sha256) throw changedMeanwhile(path)
    const goes = step.then === undefined || changesKind(step)
    const kept = goes
      ? await record?.keepDeleted(folder.at(basename(path)), { ...found, nlink: stat.nlink })
      : await keepReplaced(record, folder.at(basename(path)), { ...found, bytes, displaced: !inPlace })
    return { stat, inPlace, ...(kept === undefined ? {} : { kept }) }
  } finally {
    closeSync(file.descriptor)
  }
}

async function keepReplaced(
  record: ChangeRecord | undefined,
  path: string,
  file: { sha256: string; size: number; bytes: Uint8Array | undefined; displaced: boolean },
): Promise<'kept' | undefined> {
  const { sha256: hash, bytes } = file
  const kept = bytes === undefined ? record?.keepFile(path, file) : await record?.keepBytes(bytes, hash)
  return kept === true ? 'kept' : undefined
}

/**
 * In an order that can be taken back from its end: what goes, from the bottom; then what changes; then what comes, from
 * the top. An entry that takes the place of another kind is both.
 */
function toChanges(steps: readonly PreparedStep[], own: string): Change[] {
  const going: Change[] = []
  const changing: Change[] = []
  const coming: Change[] = []
  for (const step of steps) {
    const { path, now, then } = step
    const inPlace = step.inPlace ? { inPlace: { afterIn: recordOf(then) ?? own } } : {}
    if (now !== undefined && then !== undefined && now.entry === then.entry) {
      const target = { ...departure(step, now).target, ...arrival(path, then).target }
      changing.push({
        ...departure(step, now),
        ...arrival(path, then),
        change: 'changed',
        target,
        ...inPlace,
      })
      continue
    }
    if (now !== undefined) going.push(departure(step, now))
    if (then !== undefined) coming.push({ ...arrival(path, then), ...inPlace })
  }
  return [...going.reverse(), ...changing, ...coming]
}

/** Where the bytes of a restored file are; undefined: in the record of this undo itself. */
function recordOf(then: PathState | undefined): string | undefined {
  return then?.content?.from === 'record' ? then.content.record.header.id : undefined
}

function departure(step: PreparedStep, now: PathState): Change {
  const { path, kept, renameTo, stat } = step
  const content = renameTo !== undefined ? { movedTo: renameTo } : kept
  return {
    change: 'deleted',
    path,
    entry: now.entry,
    before: now.state,
    ...(now.target === undefined ? {} : { target: { before: now.target } }),
    ...(stat === undefined ? {} : ownerOf(stat)),
    ...(content === undefined ? {} : { content }),
    ...(now.entry === 'file' && content === undefined && !changesOnlyMode(step) ? { undoable: false } : {}),
  }
}

function arrival(path: string, then: PathState): Change {
  return {
    change: 'created',
    path,
    entry: then.entry,
    after: then.state,
    ...(then.target === undefined ? {} : { target: { after: then.target } }),
  }
}

/** The proof: what is on the disk now is what was promised, read from the disk. */
async function verify(steps: readonly UndoStep[]): Promise<void> {
  const observer = createObserver()
  const missing = new Set<string>()
  try {
    for (const { path, then } of steps) {
      const now = missing.has(dirname(path)) ? undefined : await observer.observe(path)
      if (now === undefined) missing.add(path)
      const same =
        now === undefined || then === undefined
          ? now === then
          : now.entry === then.entry &&
            now.state.sha256 === then.state.sha256 &&
            now.state.mode === then.state.mode
      if (!same) throw new ToolError('conflict', `After the undo, ${path} is not what it should be.`)
    }
  } finally {
    observer.close()
  }
}

/** Half an undo is worse than none: what was done of it is taken back. */
async function rollBack(store: UndoStore, options: UndoOptions, reason: unknown): Promise<void> {
  const call = { ...options.call, id: `${options.call.id}-rollback` }
  try {
    const plan = await planUndo(store, { calls: [options.call.id] }, { leaveOut: 'paths', isRollback: true })
    await applyUndo(store, plan, { ...options, call, despiteConflicts: true })
  } catch (cause) {
    const why = reason instanceof Error ? reason.message : String(reason)
    throw new ToolError('failed', `The undo stopped halfway (${why}) and could not be rolled back.`, {
      hint: `See what it did with: kogu changes; take it back with: kogu undo ${options.call.id}`,
      cause,
    })
  }
}
