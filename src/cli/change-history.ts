import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { ToolError } from '../core/errors.ts'
import { repositoryOfObject } from '../git/git-objects.ts'
import type { Runtime } from '../runtime.ts'
import { logFolders } from '../store/places.ts'
import type { CallChanges, UndoConflict } from '../workspace/undo/undo-plan.ts'
import type { Change } from '../workspace/undo/undo-record.ts'
import { isWholeCallId, matchId } from './match-id.ts'
import { recordedIds } from './recorded-ids.ts'

export type UndoState = 'in force' | 'partly undone' | 'undone'

/** What the recorded calls say about each other. */
export interface ChangeHistory {
  /** Partly: an undo took it back but left out paths that somebody had changed since. */
  stateOf(call: CallChanges): UndoState
  /** The last recorded call that changed what a conflict is about; undefined: it was changed by somebody else. */
  blockerOf(conflict: UndoConflict): CallChanges | undefined
}

/** The calls that an undo was taking back when it was killed, if that was the last thing that happened. */
export function interruptedUndo(all: readonly CallChanges[]): string[] {
  const [last] = all
  if (last === undefined || last.undoes.length === 0 || last.records.every(each => each.isWhole)) return []
  const { stateOf } = toChangeHistory(all)
  const isLeft = (call: CallChanges): boolean => last.undoes.includes(call.call) && stateOf(call) !== 'undone'
  return all.filter(isLeft).map(each => each.call)
}

/** `all`: as the runtime lists them, the newest first. */
export function toChangeHistory(all: readonly CallChanges[]): ChangeHistory {
  const ages = new Map(all.map(({ call }, age) => [call, age]))
  const undosOf = Map.groupBy(
    all.filter(each => !each.undone).flatMap(undo => undo.undoes.map(call => ({ undo, call }))),
    ({ call }) => call,
  )
  const stateOf = (call: CallChanges): UndoState => {
    if (!call.undone) return 'in force'
    const undos = undosOf.get(call.call) ?? []
    const restored = new Set(undos.flatMap(({ undo }) => changesOf(undo)).map(change => change.path))
    return changedPaths(call).every(path => restored.has(path)) ? 'undone' : 'partly undone'
  }
  let index: Map<string, Touch[]> | undefined
  const touches = (): Map<string, Touch[]> => {
    index ??= Map.groupBy(
      all.filter(each => stateOf(each) !== 'undone').flatMap(toTouches),
      ({ change }) => change.path,
    )
    return index
  }
  return {
    stateOf,
    blockerOf({ call, path }) {
      const age = ages.get(call) ?? 0
      const isLater = (id: string): boolean => (ages.get(id) ?? age) < age
      const moved = (touches().get(path) ?? [])
        .filter(({ by }) => by.call === call)
        .flatMap(({ change }) => movedTo(change))
      const later = [path, ...moved]
        .flatMap(each => touchesOf(each, touches()))
        .map(({ by }) => by)
        .filter(by => isLater(by.call))
        // Taking back what came after the call only leads back to how the call left it.
        .filter(by => by.undoes.length === 0 || !by.undoes.every(isLater))
      return later.toSorted((a, b) => (ages.get(a.call) ?? 0) - (ages.get(b.call) ?? 0))[0]
    },
  }
}

interface Touch {
  readonly by: CallChanges
  readonly change: Change
}

function toTouches(by: CallChanges): Touch[] {
  return changesOf(by).map(change => ({ by, change }))
}

/** Of the path itself, and of the folders around it when they went. */
function touchesOf(path: string, index: ReadonlyMap<string, readonly Touch[]>): readonly Touch[] {
  const found = [...(index.get(path) ?? [])]
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    found.push(...(index.get(folder) ?? []).filter(({ change }) => change.after === undefined))
  }
  return found
}

function movedTo({ content }: Change): string[] {
  return typeof content === 'object' && 'movedTo' in content ? [content.movedTo] : []
}

/** Paths that the call left different from how it found them: what it made and took away again is none. */
function changedPaths(call: CallChanges): string[] {
  const found = new Map<string, string>()
  const left = new Map<string, string>()
  for (const { path, before, after } of changesOf(call)) {
    // Undo leaves the git objects that a call made.
    if (before === undefined && repositoryOfObject(path, existsSync) !== undefined) continue
    if (!found.has(path)) found.set(path, JSON.stringify(before ?? null))
    left.set(path, JSON.stringify(after ?? null))
  }
  return [...found.keys()].filter(path => found.get(path) !== left.get(path))
}

/** The oldest first. */
function changesOf({ records }: CallChanges): Change[] {
  return records.toReversed().flatMap(record => record.changes)
}

/** The calls whose ids begin as given. */
export async function wholeCallIds(given: readonly string[], runtime: Runtime): Promise<string[]> {
  if (given.every(isWholeCallId)) return [...given]
  const ids = (await runtime.listChanges()).map(each => each.call)
  return given.map(id => matchId(id, 'call', ids))
}

/** The run whose id begins as given: one that changed something, or at least one that the audit log knows. */
export async function wholeRunId(
  given: string,
  all: readonly CallChanges[],
  runtime: Runtime,
): Promise<string> {
  const changing = all.map(each => each.run)
  const found = matchId(given, 'run', changing)
  if (changing.includes(found)) return found
  const recorded = await recordedIds(logFolders(runtime.places), 'run')
  const known = matchId(given, 'run', recorded)
  if (recorded.has(known)) return known
  throw new ToolError('not_found', `No run '${given}' is recorded.`, {
    hint: 'List the recorded calls with their runs: kogu changes --json',
  })
}
