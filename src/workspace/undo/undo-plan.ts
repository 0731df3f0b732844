import { dirname } from 'node:path'
import type { EntryState } from '../../core/effects.ts'
import { isSystemError, ToolError } from '../../core/errors.ts'
import { OURSELVES } from '../files/entry.ts'
import { createObserver } from '../files/observer.ts'
import { createPlannedDisk, type PlannedDisk } from './planned-disk.ts'
import { inUse, planSteps } from './planned-steps.ts'
import { createContentFinder } from './undo-find.ts'
import { createLaterCalls, type LaterCalls, type LaterQuestions } from './undo-later.ts'
import { takeBackInPart } from './undo-part.ts'
import { listRecords, type RecordPlace, readRecord, type SavedRecord } from './undo-read.ts'
import type { Change, Owner, RecordHeader, StorePlaces } from './undo-record.ts'
import {
  createRepositories,
  type Repositories,
  saysTheSame,
  takeLeftObjects,
  whatStaysOfRepositories,
} from './undo-repositories.ts'
import type { UndoStore } from './undo-store.ts'

// Taking back is worked out before the disk is touched: starting from what is on the disk, each change of each chosen call
// is taken back, the newest first. A change can be taken back only where the path is exactly as that change left it;
// anything else means that a person or another program worked on it since. Only when the whole plan is known is anything touched (undo-apply.ts).

/** Which calls; of one of the kinds. */
export type UndoSelection = { calls: readonly string[] } | { run: string } | { last: number }

export interface CallChanges {
  readonly call: string
  readonly run: string
  readonly tool: string
  readonly at: number
  /** The calls that this one took back; empty for all that are not an undo. */
  readonly undoes: readonly string[]
  /** A later undo took it back. */
  readonly undone: boolean
  /** The newest first. */
  readonly records: readonly SavedRecord[]
}

export interface UndoPlan {
  /** The calls that will be taken back, the newest first. */
  readonly calls: readonly CallChanges[]
  readonly steps: readonly UndoStep[]
  readonly conflicts: readonly UndoConflict[]
  /** Folders that stay because somebody put something else into them. */
  readonly staying: readonly string[]
  /** How many git objects that the calls made stay, because something may refer to them; `git gc` collects the others. */
  readonly leftObjects: number
}

/** One path gets back what it was; `now` and `then` undefined: does not exist. */
export interface UndoStep {
  readonly path: string
  readonly now: PathState | undefined
  readonly then: PathState | undefined
}

export interface UndoConflict {
  readonly path: string
  readonly call: string
  readonly reason: string
  /** The later call whose work would be lost. */
  readonly by?: { readonly call: string; readonly tool: string }
  /** The folder that has to be there first. */
  readonly missingFolder?: string
}

export interface PathState {
  readonly entry: 'file' | 'directory' | 'link'
  readonly state: EntryState
  readonly target?: string
  readonly owner?: Owner
  /** Where the content of a file is to be had. */
  readonly content?: { from: 'disk'; path: string } | { from: 'record'; record: SavedRecord; change: Change }
}

export interface PlanOptions {
  /**
   * What a conflict leaves out: the whole call (nothing is ever half taken back), or only the paths concerned.
   */
  readonly leaveOut?: 'calls' | 'paths'
  /** Takes back half an undo: a repository is half way already, so that every path of it counts. */
  readonly isRollback?: boolean
}

/** Runs of sub-agents have the id of the run that they belong to, and a part of their own. */
export function isOfRun({ run }: Pick<CallChanges, 'run'>, id: string): boolean {
  return run === id || run.startsWith(`${id}.`)
}

/** The recorded calls, the newest first. */
export function listCalls(store: UndoStore, selection?: UndoSelection): CallChanges[] {
  return chooseCalls(listRecords(store.places), selection)
}

function chooseCalls(all: ReturnType<typeof listRecords>, selection?: UndoSelection): CallChanges[] {
  const byCall = new Map<string, { header: RecordHeader; places: RecordPlace[] }>()
  for (const place of all) {
    const { header } = place
    const known = byCall.get(header.call)
    if (known === undefined) byCall.set(header.call, { header, places: [place] })
    else known.places.push(place)
  }
  const undone = findUndone([...byCall.values()].map(each => each.header))
  const chosen = [...byCall.values()].filter(({ header }) => selection === undefined || isChosen(header))
  return (selection !== undefined && 'last' in selection ? chosen.slice(0, selection.last) : chosen).map(
    toChanges,
  )

  function isChosen({ call, run, undoes }: RecordHeader): boolean {
    if (selection === undefined) return true
    if ('calls' in selection) return selection.calls.includes(call)
    if (undoes !== undefined || undone.has(call)) return false
    return 'run' in selection ? isOfRun({ run }, selection.run) : true
  }

  function toChanges({ header, places }: { header: RecordHeader; places: RecordPlace[] }): CallChanges {
    const records = places.flatMap(place => readRecord(place) ?? [])
    const { call, run, tool, at, undoes } = header
    return { call, run, tool, at, undoes: undoes ?? [], undone: undone.has(call), records }
  }
}

/** The newest first: an undo that was itself undone does not count. */
function findUndone(headers: readonly RecordHeader[]): Set<string> {
  const undone = new Set<string>()
  for (const { call, undoes } of headers) {
    if (!undone.has(call)) for (const each of undoes ?? []) undone.add(each)
  }
  return undone
}

/** What taking these calls back would do, exactly. Changes nothing. */
export async function planUndo(
  store: UndoStore,
  selection: UndoSelection,
  options: PlanOptions = {},
): Promise<UndoPlan> {
  const all = listRecords(store.places)
  const calls = chooseCalls(all, selection)
  refuseUnknown(selection, calls)
  const later = createLaterCalls(all, oldestRecord(calls))
  const observer = createObserver()
  try {
    const disk = createPlannedDisk(observer, createContentFinder(store.places, observer))
    const repositories = createRepositories()
    const conflicts: UndoConflict[] = []
    const taken: CallChanges[] = []
    const takenIds = new Set<string>()
    const leftOut = new Set<string>()
    const isTaken = (id: string, path: string): boolean => takenIds.has(id) && !leftOut.has(`${id} ${path}`)
    const work = { disk, repositories, places: store.places, later, isTaken }
    for (const call of calls) {
      let found = await takeBack(work, call)
      if (found.length > 0 && options.leaveOut === 'paths') {
        found = await takeBackInPart({
          call,
          found,
          repositoryAround: path => (options.isRollback === true ? undefined : repositories.around(path)),
          takeAgain(isLeft) {
            disk.discard()
            return takeBack(work, call, isLeft)
          },
        })
      }
      conflicts.push(...found)
      for (const { path } of found) leftOut.add(`${call.call} ${path}`)
      const whole = found.length === 0
      if (!whole && options.leaveOut !== 'paths') disk.discard()
      else {
        disk.keep()
        taken.push(call)
        takenIds.add(call.call)
      }
    }
    await takeLeftObjects(disk, repositories, () => chooseCalls(all).filter(({ undone }) => undone))
    const { stays, leftObjects } = whatStaysOfRepositories(disk, observer, repositories)
    for (const path of stays) disk.leave(path)
    disk.keepFilledFolders()
    const staying = new Set<string>()
    const steps = planSteps(disk, observer, { staying, inUse: path => conflicts.push(inUse(path, taken)) })
    return {
      calls: withoutUntouched(taken, steps, conflicts),
      steps,
      conflicts,
      staying: [...staying],
      leftObjects,
    }
  } finally {
    observer.close()
  }
}

/** A call of which conflicts leave nothing to take back is not taken back in part: it stays as it is. */
function withoutUntouched(
  calls: readonly CallChanges[],
  steps: readonly UndoStep[],
  conflicts: readonly UndoConflict[],
): CallChanges[] {
  const inConflict = new Set(conflicts.map(({ call }) => call))
  if (inConflict.size === 0) return [...calls]
  const paths = new Set(steps.map(({ path }) => path))
  return calls.filter(
    ({ call, records }) =>
      !inConflict.has(call) || records.some(({ changes }) => changes.some(({ path }) => paths.has(path))),
  )
}

/** For a workspace in which nothing was ever recorded. */
export function planNothing(selection: UndoSelection): UndoPlan {
  refuseUnknown(selection, [])
  return { calls: [], steps: [], conflicts: [], staying: [], leftObjects: 0 }
}

function oldestRecord(calls: readonly CallChanges[]): string {
  return calls.flatMap(({ records }) => records.map(({ header }) => header.id)).sort()[0] ?? ''
}

function refuseUnknown(selection: UndoSelection, calls: readonly CallChanges[]): void {
  if (!('calls' in selection)) return
  const missing = selection.calls.filter(id => !calls.some(each => each.call === id))
  if (missing.length === 0) return
  throw new ToolError('not_found', `No changes are recorded for the call ${missing.join(', ')}.`, {
    hint: 'List the recorded calls with: kogu changes',
  })
}

interface Work {
  readonly disk: PlannedDisk
  readonly repositories: Repositories
  readonly places: StorePlaces
  readonly later: LaterCalls
  readonly isTaken: LaterQuestions['isTaken']
}

/** Why a change cannot be taken back. */
type Problem = Pick<UndoConflict, 'reason' | 'by' | 'missingFolder'>

async function takeBack(
  work: Work,
  { call, records }: CallChanges,
  isLeft: (change: Change) => boolean = () => false,
): Promise<UndoConflict[]> {
  const conflicts: UndoConflict[] = []
  const blocked = new Set<string>()
  for (const record of records) {
    for (const change of record.changes.toReversed()) {
      if (blocked.has(change.path) || isLeft(change)) continue
      const problem = await takeBackOne(work, record, change).catch(asClosed)
      if (problem === undefined) continue
      blocked.add(change.path)
      conflicts.push({ path: change.path, call, ...problem })
    }
  }
  return conflicts
}

/** Only a person can decide to open what a command has closed. */
function asClosed(error: unknown): Problem {
  if (!isSystemError(error) || error.code !== 'EACCES') throw error
  return { reason: 'its folder is closed to you; open it first, with chmod u+rwx' }
}

/** Undefined when the plan has it. */
async function takeBackOne(work: Work, record: SavedRecord, change: Change): Promise<Problem | undefined> {
  const { disk, repositories, places } = work
  const current = await disk.look(change.path)
  const other = workOfOthers(work, record, change, current)
  // As it was before, but by a later call: to take that one back would then bring this one's work again.
  if (isAs(current, change, 'before')) return change.entry === 'directory' ? undefined : other
  if (!isAs(current, change, 'after') && !saysTheSame(current, { record, change, places })) {
    return mayStay(current, change, repositories)
      ? undefined
      : { reason: describeDifference(current, change) }
  }
  if (other !== undefined) return other
  if (change.undoable === false) return { reason: 'its old content was more than undo could keep' }
  if (change.before === undefined) {
    if (current === undefined || current === 'other') disk.put(change.path, undefined)
    else if (current.entry === 'directory') disk.letGo(change.path, current)
    else {
      disk.put(change.path, undefined)
      disk.moved.set(change.path, current)
    }
    return undefined
  }
  const folder = dirname(change.path)
  const parent = await disk.look(folder)
  if (parent === undefined) return { reason: 'its folder no longer exists', missingFolder: folder }
  if (parent === 'other' || parent.entry !== 'directory')
    return { reason: 'something else has taken the place of its folder' }
  const restored = await restore(disk, record, change, change.before)
  if (typeof restored === 'string') return { reason: restored }
  disk.put(change.path, restored)
  return undefined
}

function workOfOthers(
  { later, isTaken }: Work,
  record: SavedRecord,
  change: Change,
  current: PathState | 'other' | undefined,
): Problem | undefined {
  // A folder goes only when nothing is in it any more, whoever made it.
  if (change.entry === 'directory' && change.before === undefined) return undefined
  const other = later.workAt(record, change, { isTaken, isAs: (each, side) => isAs(current, each, side) })
  // An undo that left a part of the call leaves the rest of it to the next one.
  const isAgain = isAs(current, change, 'before') && other?.undoes?.includes(record.header.call) === true
  if (other === undefined || isAgain) return undefined
  const { call, tool } = other
  return { reason: `it was changed again by ${tool} ${call}`, by: { call, tool } }
}

/** Objects have the name of their content: one that is there is the right one, whoever made it. */
function mayStay(
  current: PathState | 'other' | undefined,
  change: Change,
  repositories: Repositories,
): boolean {
  const isThere = typeof current === 'object' && current.entry === change.entry
  return (
    isThere &&
    (change.before === undefined || change.after === undefined) &&
    repositories.ofObject(change.path) !== undefined
  )
}

/** What setuid and setgid granted, they granted as another user, to whom only root can give the file back. */
function withoutGrants(state: EntryState, owner: Owner | undefined): EntryState {
  const isLost = owner !== undefined && OURSELVES.uid !== 0 && owner.uid !== OURSELVES.uid
  return isLost ? { ...state, mode: state.mode & 0o1777 } : state
}

async function restore(
  disk: PlannedDisk,
  record: SavedRecord,
  change: Change,
  before: EntryState,
): Promise<PathState | string> {
  const { entry } = change
  const state = withoutGrants(before, change.owner)
  const owner = change.owner === undefined ? {} : { owner: change.owner }
  if (entry === 'directory') return { entry, state, ...owner }
  if (entry === 'link') return { entry, state, target: change.target?.before ?? '', ...owner }
  const current = await disk.look(change.path)
  if (current !== undefined && current !== 'other' && current.state.sha256 === state.sha256) {
    // Only the mode was changed: the content is where it is.
    return { ...current, state, ...owner }
  }
  if (typeof change.content !== 'object' || !('movedTo' in change.content)) {
    const found = await disk.find(record, change)
    return typeof found === 'string'
      ? found
      : { entry, state, content: { from: 'record', ...found }, ...owner }
  }
  const path = change.content.movedTo
  const moved = [await disk.look(path), disk.moved.get(path)].find(
    each => each !== undefined && each !== 'other' && each.state.sha256 === state.sha256,
  )
  if (moved === undefined || moved === 'other') {
    return `it was moved to ${path}, which was changed since`
  }
  return { entry, state, ...(moved.content === undefined ? {} : { content: moved.content }), ...owner }
}

function isAs(current: PathState | 'other' | undefined, change: Change, side: 'before' | 'after'): boolean {
  const state = change[side]
  if (current === undefined || state === undefined) return current === state
  if (current === 'other' || current.entry !== change.entry) return false
  // A new folder's mode is the system's choice, and a folder has no content of its own.
  if (current.entry === 'directory' && change.change !== 'changed') return true
  return current.state.sha256 === state.sha256 && current.state.mode === state.mode
}

function describeDifference(current: PathState | 'other' | undefined, change: Change): string {
  if (current === undefined) return 'it was removed since'
  if (change.after === undefined) return 'something new is in its place'
  if (current === 'other' || current.entry !== change.entry) return 'it was replaced by something else since'
  return current.state.sha256 === change.after.sha256
    ? 'its mode was changed since'
    : 'its content was changed since'
}
