import { isSystemError, ToolError } from '../../core/errors.ts'
import type { Observer } from '../files/observer.ts'
import { asidePath, listRecords, readKept, readRecord, type SavedRecord } from './undo-read.ts'
import type { Change, StorePlaces } from './undo-record.ts'

/** A record that has the old content of a file, and the change in it that says where. */
interface ContentPlace {
  readonly record: SavedRecord
  readonly change: Change
}

/** Where the content of `change.before` is now, or why it is nowhere. */
export type ContentFinder = (record: SavedRecord, change: Change) => Promise<ContentPlace | string>

/**
 * What was set aside is the file itself. An undo has given it its old name back, so that a record whose undo was undone
 * finds it in a later one, that of whatever took the name away again. And a program that had the file open, or gave it
 * another name in time, may have changed it: it is read before it is promised.
 */
export function createContentFinder(places: StorePlaces, observer: Observer): ContentFinder {
  let later: Map<string, ContentPlace[]> | undefined
  const isThere = async ({ record, change }: ContentPlace): Promise<boolean> => {
    const { content, before } = change
    if (content === 'kept') return true
    if (content === undefined || !('setAside' in content)) return false
    return (await hashAt(observer, asidePath(places, record, content.setAside))) === before?.sha256
  }
  return async (record, change) => {
    const own = { record, change }
    if (typeof change.content !== 'object' || !('setAside' in change.content)) return own
    if (await isThere(own)) return own
    later ??= indexByHash(places)
    const alike = (later.get(change.before?.sha256 ?? '') ?? []).filter(
      each => each.record.header.id > record.header.id,
    )
    for (const each of alike) if (each.change.path === change.path && (await isThere(each))) return each
    for (const each of alike) {
      // What was set aside for another path stays there: this one gets a copy.
      if (await isThere(each)) return { record: each.record, change: { ...each.change, content: 'kept' } }
    }
    const path = asidePath(places, record, change.content.setAside)
    return (await hashAt(observer, path)) === undefined
      ? 'its old content is no longer kept'
      : `a program changed it after it was deleted; as it is now, it is kept in ${path}`
  }
}

/** Finds contents by their hash, whichever record kept them. The records are read when the first is asked for. */
export function createContentIndex(places: StorePlaces): (sha256: string) => Uint8Array | undefined {
  let index: Map<string, ContentPlace[]> | undefined
  return sha256 => {
    index ??= indexByHash(places)
    for (const { record, change } of index.get(sha256) ?? []) {
      if (change.content === undefined) continue
      const bytes = tryRead(places, record, sha256)
      if (bytes !== undefined) return bytes
    }
    return undefined
  }
}

function tryRead(places: StorePlaces, record: SavedRecord, sha256: string): Uint8Array | undefined {
  try {
    return readKept(places, record, sha256)
  } catch (error) {
    // Not there any more, or damaged: another record may have it.
    if (error instanceof ToolError || isSystemError(error)) return undefined
    throw error
  }
}

async function hashAt(observer: Observer, path: string): Promise<string | undefined> {
  try {
    const found = await observer.observe(path)
    return found?.entry === 'file' ? found.state.sha256 : undefined
  } catch (error) {
    // Somebody took the right to read it away: one file that cannot be restored must not keep the others from it.
    if (isSystemError(error) && error.code === 'EACCES') return undefined
    throw error
  }
}

function indexByHash(places: StorePlaces): Map<string, ContentPlace[]> {
  const found = new Map<string, ContentPlace[]>()
  for (const record of listRecords(places).flatMap(place => readRecord(place) ?? [])) {
    for (const change of record.changes) {
      if (change.before?.sha256 === undefined) continue
      const same = found.get(change.before.sha256) ?? []
      same.push({ record, change })
      found.set(change.before.sha256, same)
    }
  }
  return found
}
