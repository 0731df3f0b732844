import { existsSync, lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isSystemError, ToolError } from '../../core/errors.ts'
import { isLocked, tryLock } from '../../core/lock-file.ts'
import { identityOf } from '../../core/made-here.ts'
import { lookAt } from '../../core/real-path.ts'
import { writeWhole } from '../../core/write-whole.ts'
import { isLeft } from './held-layer.ts'
import { DRAFT, GONE, removeOverlay } from './overlay.ts'
import { applyJournal, type Displaced, isAsSeen, isFolder, type Journal, toJournal } from './overlay-apply.ts'
import type { OverlayChange, OverlayChanges } from './overlay-changes.ts'
import { findObstacles } from './overlay-obstacles.ts'

/** What the owner of the workspace has to say about changes, and does with them. */
export interface OverlayTarget {
  /** Why this change may not be made (a protected path that the approval did not name), or null. */
  refusal(change: OverlayChange): string | null
  /**
   * Keeps what is about to be replaced or deleted, so that it can be undone. All of it is still there, and nothing has
   * been changed when this throws.
   */
  keep(changes: OverlayChanges): Promise<void>
  /** All changes are made, but for the deletion of what is in `left` and the folders around it. */
  committed(changes: OverlayChanges, left: readonly string[]): Promise<void>
}

/**
 * Brings what a command did on a layer into the workspace: all of it or nothing. The journal is the moment of decision:
 * a kill before it is written leaves the workspace as it was, a kill or failure after it is made good by
 * `recoverOverlays`. When this throws, `isDecided` tells which it was.
 */
export async function commitOverlay(changes: OverlayChanges, target: OverlayTarget): Promise<Displaced[]> {
  refuse(changes, target)
  refuseConflicts(changes)
  const closed = findObstacles(changes)
  await target.keep(changes)
  // Again: to read and keep large files takes seconds, in which people go on working.
  refuseLateConflicts(changes)
  const folder = dirname(changes.upper)
  const journal = toJournal(changes, closed)
  writeJournal(folder, journal)
  let displaced: Displaced[]
  try {
    displaced = await applyJournal(folder, journal)
    const left = displaced.filter(({ path, keptAs }) => path === keptAs).map(({ path }) => path)
    await target.committed(changes, left)
  } catch (error) {
    // So that whoever starts next may finish it, although we live on.
    rmSync(join(folder, 'lock'), { force: true })
    throw new ToolError('failed', "Only some of the command's changes could be applied to the workspace.", {
      hint: `Nothing is lost: the rest is in ${folder}. Fix the cause (${reasonOf(error)}) and restart Kogu to finish; then it can be undone.`,
      cause: error,
    })
  }
  removeOverlay(folder)
  return displaced
}

/**
 * Whether the changes are to be in the workspace: some of them may be there already. The layer and what was kept for
 * undo must then stay.
 */
export function isDecided({ upper }: OverlayChanges): boolean {
  return existsSync(join(dirname(upper), 'journal'))
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

export interface RecoveredOverlay {
  folder: string
  /**
   * `finished`: the command's changes are all in the workspace now. `discarded`: none are. `unfinished`: some are, the
   * others stay in `folder`; it is not tried again, so that a person can undo the call.
   */
  outcome: 'finished' | 'discarded' | 'unfinished'
  workspace: string | null
  /** Relative to the workspace. */
  displaced: readonly Displaced[]
}

/**
 * Settles what a Kogu that was killed left behind, in the folder where overlays are made. Those of a living one are
 * left alone, as are those whose question waits. Must run before the undo store settles its own pending records.
 */
export async function recoverOverlays(
  directory: string,
  waiting: () => Promise<ReadonlySet<string>> = async () => new Set(),
): Promise<RecoveredOverlay[]> {
  const recovered: RecoveredOverlay[] = []
  for (const name of existsSync(directory) ? readdirSync(directory) : []) {
    const folder = join(directory, name)
    const isWaiting = async (): Promise<boolean> =>
      !existsSync(join(folder, 'journal')) && (await waiting()).has(name)
    // A link leads to what is not ours.
    if (!isFolder(folder)) continue
    if (name.startsWith(DRAFT)) removeOldDraft(folder)
    else if (name.startsWith(GONE)) removeAbandoned(folder)
    else if (!existsSync(join(folder, GIVEN_UP)) && !(await isWaiting())) {
      const wasLeft = isLeft(folder)
      if (!takeOver(folder)) continue
      // Its call may have put the question, and left the layer to it, while we looked.
      if (await isWaiting()) {
        rmSync(join(folder, 'lock'), { force: true })
        continue
      }
      const settled = await settle(folder)
      // Nothing was interrupted: its question has ended, or was another one's.
      if (!wasLeft || settled.outcome !== 'discarded') recovered.push({ folder, ...settled })
    }
  }
  return recovered
}

function removeAbandoned(folder: string): void {
  if (!takeOver(folder)) return
  try {
    removeOverlay(folder)
  } catch {
    // Nobody needs it any more: it must not keep Kogu from starting, and the next start tries again.
  }
}

/**
 * Nothing is in it but a lock, and making one takes less than a millisecond. Without a lock only its time tells, which is
 * that of another clock when the clock was set back.
 */
function removeOldDraft(folder: string): void {
  const stat = lstatSync(folder, { throwIfNoEntry: false })
  if (stat === undefined || isLocked(join(folder, 'lock'))) return
  const isOld = Math.abs(Date.now() - stat.mtimeMs) > 60_000
  if (isOld || existsSync(join(folder, 'lock'))) rmSync(folder, { recursive: true, force: true })
}

/** False when its owner lives, or another Kogu that starts at the same moment has settled it and it is gone. */
function takeOver(folder: string): boolean {
  try {
    return tryLock(join(folder, 'lock')) !== undefined
  } catch (error) {
    if (isSystemError(error) && ['ENOENT', 'ENOTDIR'].includes(error.code ?? '')) return false
    throw error
  }
}

const GIVEN_UP = 'journal.unfinished'
const PATIENCE_MS = 5000

/** The command of a Kogu that was killed dies a moment after it, and may still be writing to its layer. */
async function removePatiently(folder: string): Promise<void> {
  for (const started = performance.now(); ; await sleep(20)) {
    try {
      removeOverlay(folder)
      return
    } catch (error) {
      if (performance.now() - started <= PATIENCE_MS) continue
      // Put aside already: the next start removes the rest.
      if (!existsSync(folder)) return
      throw error
    }
  }
}

/** One that can never be settled must not keep Kogu from starting. */
async function settle(folder: string): Promise<Omit<RecoveredOverlay, 'folder'>> {
  const unfinished = { outcome: 'unfinished', workspace: null, displaced: [] } as const
  try {
    const journal = readJournal(folder)
    const displaced = journal === undefined ? [] : await applyJournal(folder, journal)
    await removePatiently(folder)
    const outcome = journal === undefined ? 'discarded' : 'finished'
    return { outcome, workspace: journal?.workspace ?? null, displaced }
  } catch (error) {
    if (!existsSync(folder)) throw error
    writeFileSync(join(folder, GIVEN_UP), '')
    return unfinished
  }
}

function refuse({ changes }: OverlayChanges, target: OverlayTarget): void {
  const refused = new Map<string, string[]>()
  for (const change of changes) {
    const reason = target.refusal(change)
    if (reason === null) continue
    const paths = refused.get(reason)
    if (paths === undefined) refused.set(reason, [change.path])
    else paths.push(change.path)
  }
  if (refused.size === 0) return
  const grouped = [...refused].map(([reason, paths]) => `${few(paths)} (${reason})`)
  throw new ToolError(
    'forbidden',
    `The command changed paths that it may not change, so none of its changes were kept: ${grouped.join('; ')}`,
  )
}

/** A person, an editor or another call changed the same entry while the command ran. */
function refuseConflicts({ changes, startedMs }: OverlayChanges): void {
  const changed = changes.filter(({ before }) => before !== undefined && before.changedMs > startedMs)
  // The time of a folder changes with every entry in it, also with those that somebody else made and we do not touch.
  const conflicts = changed.filter(({ entry, change }) => entry !== 'directory' || change === 'deleted')
  if (conflicts.length > 0) throw changedMeanwhile(conflicts.map(change => change.path))
}

/** By size and time of the content: keeping a file may have given it a second name, which is a change as well. */
function refuseLateConflicts({ workspace, changes, dropped }: OverlayChanges): void {
  const gone = new Set(changes.flatMap(({ change, path }) => (change === 'deleted' ? [path] : [])))
  const known = new Set([...gone, ...dropped.map(({ path }) => path)])
  const conflicts = changes.flatMap(({ change, path, entry, before }) => {
    if (change === 'created' && gone.has(path)) return []
    if (entry !== 'directory') return isAsSeen(lookAt(join(workspace, path)), before) ? [] : [path]
    // What came into a folder that goes is in nobody's undo record.
    return change === 'deleted' ? pathsIn(join(workspace, path), path).filter(name => !known.has(name)) : []
  })
  if (conflicts.length > 0) throw changedMeanwhile(conflicts)
}

/** The entries of a folder by their paths; of what is no folder any more, the path itself, as it is another entry. */
function pathsIn(folder: string, path: string): string[] {
  try {
    return readdirSync(folder).map(name => join(path, name))
  } catch (error) {
    if (!isSystemError(error)) throw error
    if (error.code === 'ENOENT') return []
    if (error.code === 'ENOTDIR') return [`${path}/`]
    throw error
  }
}

function changedMeanwhile(conflicts: readonly string[]): ToolError {
  const names = few(conflicts)
  return new ToolError(
    'conflict',
    `Changed by somebody else while the command ran, so nothing was kept: ${names}`,
    {
      hint: 'Another command of the same turn may have done it. Check the current content and run the command again.',
    },
  )
}

/** A list that stays readable. */
export function few(names: readonly string[]): string {
  return names.length <= 5 ? names.join(', ') : `${names.slice(0, 5).join(', ')} and ${names.length - 5} more`
}

/** There when it is complete and on the disk: its existence is the decision. */
function writeJournal(folder: string, journal: Journal): void {
  const text = JSON.stringify({ ...journal, layer: identityOf(folder) })
  writeWhole(join(folder, 'journal'), text, { flush: true })
}

/** Undefined also for one that came with a clone: it would make us write wherever it says. */
function readJournal(folder: string): Journal | undefined {
  const path = join(folder, 'journal')
  if (lookAt(path)?.isFile() !== true) return undefined
  // What names this very folder was written by writeJournal. An older Kogu opened no folders.
  const { layer, ...journal } = JSON.parse(readFileSync(path, 'utf8')) as Omit<Journal, 'open'> & {
    layer?: string
  }
  return layer === identityOf(folder) ? { open: [], ...journal } : undefined
}
