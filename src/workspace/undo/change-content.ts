import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { summarizeDiff } from '../../core/unified-diff.ts'
import type { SavedRecord } from './undo-read.ts'
import type { Change } from './undo-record.ts'

// What a changed file held before and after, for everybody who shows the difference.

const LARGEST_SHOWN = 256 * 1024

/** What a file holds, or why that cannot be shown. */
export type Content = Uint8Array | { readonly missing: string }

export const EMPTY: Content = new Uint8Array()
export const TOO_LARGE: Content = { missing: 'too large' }
export const NOT_KEPT: Content = { missing: 'the old content is no longer kept' }

export interface ContentSources {
  readKept(record: SavedRecord, change: Change): Uint8Array
  /** Finds what a file held before it was changed again. */
  readonly contentWith: (sha256: string) => Uint8Array | undefined
}

export function isTooLarge(size: number): boolean {
  return size > LARGEST_SHOWN
}

export function contentBefore(record: SavedRecord, change: Change, sources: ContentSources): Content {
  const { before, undoable } = change
  if (before === undefined) return EMPTY
  if (undoable === false) return { missing: 'the old content was more than undo could keep' }
  if (isTooLarge(before.size)) return TOO_LARGE
  return (
    tryRead(() => sources.readKept(record, change)) ?? sources.contentWith(before.sha256 ?? '') ?? NOT_KEPT
  )
}

/** The content after the change: the file still has it, or whatever changed the file again has kept it. */
export function contentAfter({ path, after }: Change, { contentWith }: ContentSources): Content {
  if (after === undefined) return EMPTY
  if (isTooLarge(after.size)) return TOO_LARGE
  // One that has another size now may be too large to be read.
  const now = tryRead(() => (statSync(path).size === after.size ? readFileSync(path) : undefined))
  if (now !== undefined && hash('sha256', now) === after.sha256) return now
  return (
    contentWith(after.sha256 ?? '') ?? { missing: 'the file was changed later, and this content is not kept' }
  )
}

export function tryRead(read: () => Uint8Array | undefined): Uint8Array | undefined {
  try {
    return read()
  } catch {
    // A diff that cannot be shown must not keep the list from being shown.
    return undefined
  }
}

/** The difference as text, with its secrets; or why there is none. */
export function diffContents(
  path: string,
  before: Content,
  after: Content,
): { readonly diff: string } | { readonly missing: string } {
  if (!(before instanceof Uint8Array)) return before
  if (!(after instanceof Uint8Array)) return after
  const problem = notText(before) ?? notText(after)
  if (problem !== undefined) return { missing: problem }
  const decoder = new TextDecoder()
  const { diff } = summarizeDiff(decoder.decode(before), decoder.decode(after), path)
  return diff === null ? { missing: 'too much was changed' } : { diff }
}

function notText(bytes: Uint8Array): string | undefined {
  if (isUtf8(bytes) && !bytes.includes(0)) return undefined
  const [first, second] = bytes
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
  if (isUtf16) return 'UTF-16, not UTF-8'
  return bytes.includes(0) ? 'binary' : 'not UTF-8'
}
