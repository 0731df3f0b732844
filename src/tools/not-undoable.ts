import type { Stats } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { type Access, NOT_UNDOABLE } from '../core/access.ts'
import type { Effect } from '../core/effects.ts'
import { absolutePath, lookAt } from '../core/real-path.ts'
import type { AccessContext, UndoLimits } from '../core/tool.ts'
import { DEFAULT_BUDGET_BYTES, DEFAULT_LARGE_FILE_BYTES } from '../workspace/undo/undo-store.ts'

/** Entries of a folder that are looked at before a question; with more, it is not known what would be lost. */
const MOST_ENTRIES = 20_000
/** So many without a pause take about a millisecond. */
const AT_ONCE = 200

/** For a call that replaces the content of a file of this size. */
export function replacingAccess(absolute: string, size: number, context: AccessContext): Access[] {
  const { fileBytes } = limitsOf(context)
  return size <= fileBytes ? [] : [lost(tooLarge(absolute, size, fileBytes))]
}

/** For a call that takes a file away: of a link only the link goes. */
export function removingFileAccess(path: string, context: AccessContext): Access[] {
  const absolute = absolutePath(path, context.cwd)
  const stat = statOf(absolute)
  return stat?.isFile() === true ? replacingAccess(absolute, stat.size, context) : []
}

/** The same for a folder with all that is in it. Others get their turn while a large one is looked at. */
export async function removingAccess(
  path: string,
  context: AccessContext,
  mostEntries = MOST_ENTRIES,
): Promise<Access[]> {
  const absolute = absolutePath(path, context.cwd)
  if (statOf(absolute)?.isDirectory() !== true) return removingFileAccess(path, context)
  const problem = await problemBelow(absolute, limitsOf(context), mostEntries)
  return problem === undefined ? [] : [lost(problem)]
}

/** What a result says of changes whose old content was not kept. */
export function undoNote(effects: readonly Effect[]): string {
  return effects.some(effect => effect.undoable === false) ? '. This cannot be undone.' : ''
}

/** What stands against undoing the removal of a folder, as a sentence. What cannot be listed cannot be removed either. */
async function problemBelow(
  folder: string,
  limits: UndoLimits,
  mostEntries: number,
): Promise<string | undefined> {
  let entries = 0
  let bytes = 0
  const open = [folder]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const name of await readdir(next).catch(() => [])) {
      entries += 1
      if (entries % AT_ONCE === 0) await setImmediate()
      if (entries > mostEntries) {
        return `${folder} has more than ${mostEntries.toLocaleString('en')} entries, too many to see beforehand whether all of them can be kept for undo.`
      }
      const path = join(next, name)
      const stat = statOf(path)
      if (stat?.isDirectory() === true) open.push(path)
      if (stat?.isFile() !== true) continue
      if (stat.size > limits.fileBytes) return tooLarge(path, stat.size, limits.fileBytes)
      bytes += stat.size
    }
  }
  if (bytes <= limits.totalBytes) return undefined
  return `${folder} holds ${inMegabytes(bytes)}; undo keeps at most ${inMegabytes(limits.totalBytes)}, so this may not be undone as a whole.`
}

function limitsOf({ undoLimits }: AccessContext): UndoLimits {
  return undoLimits ?? { fileBytes: DEFAULT_LARGE_FILE_BYTES, totalBytes: DEFAULT_BUDGET_BYTES }
}

function tooLarge(path: string, size: number, most: number): string {
  return `${path} has ${inMegabytes(size)}; files above ${inMegabytes(most)} are not kept, so this cannot be undone.`
}

function inMegabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 ** 2).toLocaleString('en')} MB`
}

function lost(details: string): Access {
  return { kind: 'custom', name: NOT_UNDOABLE, details }
}

function statOf(path: string): Stats | undefined {
  try {
    return lookAt(path)
  } catch {
    // Not reachable: the call itself will say so, and change nothing.
    return undefined
  }
}
