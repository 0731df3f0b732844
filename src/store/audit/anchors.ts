import { accessSync, constants, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolders } from '../../core/make-folders.ts'
import { namesIn } from '../../core/names-in.ts'

/**
 * How far a segment had got when it was last synced, kept in another folder than the log. A segment that is ahead of an
 * open anchor is normal (its process was killed); one that is ahead of a closed anchor, behind it, or does not contain it
 * was tampered with.
 */
export interface Anchor {
  segment: string
  seq: number
  hash: string
  /** Hash of the first line. */
  first: string
  /** A process may be writing, or was killed. Otherwise the segment was closed, and nothing may follow. */
  open: boolean
}

/** False when the folder cannot be written. The log works without anchors; verifying it then says so. */
export function writeAnchor(directory: string, anchor: Anchor): boolean {
  const path = join(directory, `${anchor.segment}.json`)
  try {
    // Only the holder of the segment's lock writes its anchor, so the name of the draft is free.
    writeFileSync(`${path}.new`, JSON.stringify(anchor), { mode: 0o600 })
    renameSync(`${path}.new`, path)
    return true
  } catch {
    return false
  }
}

/** Whether anchors can be kept there; creates the folder. */
export function ensureAnchorFolder(directory: string): boolean {
  try {
    makeFolders(directory)
    accessSync(directory, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Undefined when there is none, or what is there is no anchor. */
export function readAnchor(directory: string, segment: string): Anchor | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(join(directory, `${segment}.json`), 'utf8'))
    return isAnchor(value) && value.segment === segment ? value : undefined
  } catch {
    return undefined
  }
}

export function listAnchors(directory: string): Map<string, Anchor> {
  const anchors = new Map<string, Anchor>()
  for (const name of namesIn(directory)) {
    const anchor = name.endsWith('.json') ? readAnchor(directory, name.slice(0, -'.json'.length)) : undefined
    if (anchor !== undefined) anchors.set(anchor.segment, anchor)
  }
  return anchors
}

function isAnchor(value: unknown): value is Anchor {
  if (typeof value !== 'object' || value === null) return false
  const { segment, seq, hash, first, open } = value as Record<string, unknown>
  const strings = typeof segment === 'string' && typeof hash === 'string' && typeof first === 'string'
  return strings && Number.isSafeInteger(seq) && typeof open === 'boolean'
}
