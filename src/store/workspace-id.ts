import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isSystemError } from '../core/errors.ts'
import { waitForLock } from '../core/lock-file.ts'
import { makeFolders } from '../core/make-folders.ts'
import { createSeal } from '../core/seal.ts'
import { writeWhole } from '../core/write-whole.ts'
import type { Places } from './places.ts'

const PATIENCE_MS = 5_000

/**
 * The id of a workspace, made when it is first needed and kept with its state. Sealed: a copy of the folder, or a clone
 * that brings the id of another workspace along, is a workspace of its own and gets none of the other's runs.
 */
export async function workspaceId(places: Places): Promise<string> {
  const known = readWorkspaceId(places)
  if (known !== undefined) return known
  makeFolders(places.state)
  makeFolders(places.locks)
  const lock = await waitForLock(join(places.locks, 'workspace-id.lock'), PATIENCE_MS)
  try {
    // Another Kogu was faster.
    return readWorkspaceId(places) ?? writeId(places)
  } finally {
    lock?.release()
  }
}

/** Undefined when there is none yet, or when it is not this folder's own. */
export function readWorkspaceId(places: Places): string | undefined {
  try {
    return createSeal(places.sealKey).open(readFileSync(fileIn(places), 'utf8'))
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return undefined
    throw error
  }
}

function writeId(places: Places): string {
  const id = randomUUID()
  writeWhole(fileIn(places), createSeal(places.sealKey).add(id))
  return id
}

function fileIn({ state }: Places): string {
  return join(state, 'workspace-id')
}
