import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isSystemError } from '../../core/errors.ts'
import { tryLock } from '../../core/lock-file.ts'
import { identityOf } from '../../core/made-here.ts'
import { writeWhole } from '../../core/write-whole.ts'
import type { OverlayChanges } from './overlay-changes.ts'

// A layer whose question waits. What the command did stays in the folder of the layer, with a note of all that is needed
// to go on: whoever gets the answer, in whatever process, brings it over or throws it away. A layer that no question
// speaks of any more is thrown away by the next start.

const NOTE = 'held.json'

/** `more` is what the caller wants back. */
export interface HeldLayer {
  readonly changes: OverlayChanges
  readonly more: unknown
}

export function holdLayer({ changes, more }: HeldLayer): void {
  const folder = dirname(changes.upper)
  const note = { changes, more, bytes: bytesOf(changes), layer: identityOf(folder) }
  writeWhole(join(folder, NOTE), JSON.stringify(note))
}

/** From now on any process may take it. */
export function leaveLayer({ upper }: OverlayChanges): void {
  rmSync(join(dirname(upper), 'lock'), { force: true })
}

/** Its command had ended, and whoever ran it let go of it. */
export function isLeft(folder: string): boolean {
  return existsSync(join(folder, NOTE)) && !existsSync(join(folder, 'lock'))
}

/** Undefined when it is gone, or another process is at it. */
export function takeLayer(directory: string, name: string): HeldLayer | undefined {
  const folder = join(directory, name)
  try {
    if (!existsSync(join(folder, NOTE)) || tryLock(join(folder, 'lock')) === undefined) return undefined
    const note = JSON.parse(readFileSync(join(folder, NOTE), 'utf8')) as HeldLayer & { layer?: string }
    // What names this very folder was written by holdLayer; others came with a clone.
    return note.layer === identityOf(folder) ? note : undefined
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Its command is over. */
export function isHeld(directory: string, name: string): boolean {
  return existsSync(join(directory, name, NOTE))
}

/** What all layers that wait take on the disk. */
export function heldBytes(directory: string): number {
  const names = existsSync(directory) ? readdirSync(directory) : []
  return names.reduce((sum, name) => sum + noted(join(directory, name, NOTE)), 0)
}

export function bytesOf({ changes }: OverlayChanges): number {
  return changes.reduce((sum, { after }) => sum + (after?.size ?? 0), 0)
}

function noted(path: string): number {
  try {
    const { bytes } = JSON.parse(readFileSync(path, 'utf8')) as { bytes?: number }
    return bytes ?? 0
  } catch {
    // It does not wait, or has just been taken.
    return 0
  }
}
