import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isSystemError } from '../core/errors.ts'
import { makeFolders } from '../core/make-folders.ts'
import { createSeal } from '../core/seal.ts'
import { writeWhole } from '../core/write-whole.ts'
import type { Places } from './places.ts'

// A repository may bring a `.kogu` of its own along. Kogu acts on what it finds there: it finishes what a killed process
// had begun, journals and undo records say where. So it believes only a folder that it has marked itself, with a key that
// lies outside of the workspace.

const MARK = 'owner'

/** Says that the state in the workspace is ours; before anything else is written there. */
export function markState(places: Places, workspace: string): void {
  if (isOwnState(places, workspace)) return
  makeFolders(places.state)
  writeWhole(join(places.state, MARK), createSeal(places.sealKey).add(workspace))
}

/** Puts state that somebody else wrote where nobody acts on it. Returns sentences that say so. */
export function setForeignAside(places: Places, workspace: string): string[] {
  if (isOwnState(places, workspace)) return []
  const found = believed(places).filter(folder => existsSync(folder))
  // Looked at again: another Kogu that starts at this moment marks the folder before it writes anything else.
  if (found.length === 0 || isOwnState(places, workspace)) return []
  const aside = join(places.state, `foreign-${Date.now()}`)
  mkdirSync(aside, { mode: 0o700, recursive: true })
  for (const folder of found) putAside(folder, aside)
  markState(places, workspace)
  return [`What ${places.state} held was not written by this Kogu, so it was moved to ${aside} and not used.`]
}

function putAside(folder: string, aside: string): void {
  try {
    renameSync(folder, join(aside, basename(folder)))
  } catch (error) {
    // Another Kogu that starts at this moment was faster.
    if (!isSystemError(error) || error.code !== 'ENOENT') throw error
  }
}

function believed(places: Places): string[] {
  const { overlays, undo, approvals, runs, locks, temporary, background, output } = places
  return [overlays, undo, approvals, runs, locks, temporary, background, output]
}

/** Whether this Kogu wrote it. */
function isOwnState({ state, sealKey, inWorkspace }: Places, workspace: string): boolean {
  if (!inWorkspace) return true
  try {
    return createSeal(sealKey).open(readFileSync(join(state, MARK), 'utf8')) === workspace
  } catch (error) {
    if (isSystemError(error) && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return false
    throw error
  }
}
