import type { Runtime } from '../runtime.ts'
import type { CallChanges, UndoConflict } from '../workspace/undo-plan.ts'
import type { Change } from '../workspace/undo-record.ts'
import { isWholeCallId, matchId } from './match-id.ts'

// What the recorded calls say about each other. They come as the runtime lists them, the newest first.

export type UndoState = 'in force' | 'partly undone' | 'undone'

/** Partly: an undo took it back but left out paths that somebody had changed since. */
export function undoStateOf(call: CallChanges, all: readonly CallChanges[]): UndoState {
  if (!call.undone) return 'in force'
  const undos = all.filter(each => !each.undone && each.undoes.includes(call.call))
  const restored = new Set(undos.flatMap(changesOf).map(change => change.path))
  return changedPaths(call).every(path => restored.has(path)) ? 'undone' : 'partly undone'
}

/** Paths that the call left different from how it found them: what it made and took away again is none. */
function changedPaths(call: CallChanges): string[] {
  const found = new Map<string, string>()
  const left = new Map<string, string>()
  for (const { path, before, after } of changesOf(call)) {
    if (!found.has(path)) found.set(path, JSON.stringify(before ?? null))
    left.set(path, JSON.stringify(after ?? null))
  }
  return [...found.keys()].filter(path => found.get(path) !== left.get(path))
}

/** The oldest first. */
function changesOf({ records }: CallChanges): Change[] {
  return records.toReversed().flatMap(record => record.changes)
}

/** The last recorded call that changed what a conflict is about; undefined: it was changed by somebody else. */
export function blockerOf(
  { call, path }: UndoConflict,
  all: readonly CallChanges[],
): CallChanges | undefined {
  const index = all.findIndex(each => each.call === call)
  const later = all.slice(0, Math.max(index, 0))
  const own = all[index] === undefined ? [] : changesOf(all[index])
  const paths = [path, ...own.flatMap(change => (change.path === path ? movedTo(change) : []))]
  return later.find(
    each =>
      undoStateOf(each, all) !== 'undone' &&
      // Taking back what came after the call only leads back to how the call left it.
      !(each.undoes.length > 0 && each.undoes.every(id => later.some(other => other.call === id))) &&
      changesOf(each).some(change => paths.some(wanted => concerns(change, wanted))),
  )
}

function movedTo({ content }: Change): string[] {
  return typeof content === 'object' && 'movedTo' in content ? [content.movedTo] : []
}

/** Also when the folder around it went. */
function concerns({ path, after }: Change, wanted: string): boolean {
  return path === wanted || (after === undefined && wanted.startsWith(`${path}/`))
}

/** The calls whose ids begin as given. */
export async function wholeCallIds(given: readonly string[], runtime: Runtime): Promise<string[]> {
  if (given.every(isWholeCallId)) return [...given]
  const ids = (await runtime.listChanges()).map(each => each.call)
  return given.map(id => matchId(id, 'call', ids))
}
