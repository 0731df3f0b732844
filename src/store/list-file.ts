import { readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { waitForLock } from '../core/lock-file.ts'
import { makeFolders } from '../core/make-folders.ts'
import { writeWhole } from '../core/write-whole.ts'

export interface ListFile<Item extends { readonly id: string }> {
  list(): readonly Item[]
  add(item: Item): Promise<void>
  /** In the place of the one with the same id; nothing when there is none. */
  replace(item: Item): Promise<void>
  remove(id: string): Promise<boolean>
}

/**
 * A short list in one file of the state folder (0600), changed under a lock and replaced as a whole. A file that cannot be
 * read counts as an empty list, and an entry that is not valid as missing.
 */
export function openListFile<Item extends { readonly id: string }>(
  path: string,
  key: string,
  isItem: (value: unknown) => value is Item,
): ListFile<Item> {
  let cached: { stamp: string; items: readonly Item[]; lookedAt: number } | undefined
  const read = (): readonly Item[] => readList(path, key).filter(isItem)
  const list = (): readonly Item[] => {
    const lookedAt = performance.now()
    if (cached !== undefined && lookedAt - cached.lookedAt < SAME_MOMENT_MS) return cached.items
    const stamp = stampOf(path)
    cached = { stamp, items: cached?.stamp === stamp ? cached.items : read(), lookedAt }
    return cached.items
  }
  const change = async (edit: (items: readonly Item[]) => readonly Item[]): Promise<void> => {
    makeFolders(dirname(path))
    const lock = await waitForLock(`${path}.lock`, 5000)
    if (lock === undefined) throw new Error(`Another process holds ${path}.lock.`)
    try {
      writeWhole(path, `${JSON.stringify({ version: 1, [key]: edit(read()) }, null, 2)}\n`)
      cached = undefined
    } finally {
      lock.release()
    }
  }
  return {
    list,
    add: item => change(items => [...items, item]),
    replace: item => change(items => items.map(each => (each.id === item.id ? item : each))),
    async remove(id) {
      const before = list().length
      await change(items => items.filter(item => item.id !== id))
      return list().length < before
    },
  }
}

/** What another process changed is seen after this time. Short calls come faster than that, one after another. */
const SAME_MOMENT_MS = 2

function readList(path: string, key: string): unknown[] {
  try {
    const content: unknown = JSON.parse(readFileSync(path, 'utf8'))
    const items = typeof content === 'object' && content !== null ? Reflect.get(content, key) : []
    return Array.isArray(items) ? items : []
  } catch {
    // Missing or damaged: nothing in it.
    return []
  }
}

function stampOf(path: string): string {
  try {
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
    return stat === undefined ? 'missing' : `${stat.mtimeNs} ${stat.size} ${stat.ino}`
  } catch {
    // A state folder that cannot be looked into holds nothing.
    return 'unreadable'
  }
}
