import type { KeyPath } from './positions.ts'
import type { Table } from './read-source.ts'

export function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}

/** Own properties only: a key called `toString` is not there unless somebody wrote it. */
export function valueAt(data: unknown, path: KeyPath): unknown {
  let value = data
  for (const part of path) {
    if (Array.isArray(value)) value = value[Number(part)]
    else if (isTable(value) && Object.hasOwn(value, part)) value = value[part]
    else return undefined
  }
  return value
}

/** A copy without some keys; lists keep their other elements. Copied once, however many keys a hostile file has. */
export function withoutPaths(data: Table, paths: readonly KeyPath[]): Table {
  const copy = copyTable(data)
  for (const path of paths) {
    const parent = valueAt(copy, path.slice(0, -1))
    const key = path.at(-1)
    if (isTable(parent) && key !== undefined) delete parent[key]
  }
  return copy
}

function copyTable(data: Table): Table {
  const copy = emptyTable()
  for (const key of Object.keys(data)) copy[key] = copyValue(data[key])
  return copy
}

function copyValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyValue)
  return isTable(value) ? copyTable(value) : value
}

/** A table without inherited properties, with the entries of another. */
export function emptyTable(entries: Table = {}): Table {
  const table: Table = Object.create(null)
  return Object.assign(table, entries)
}

/** Sets a value in place, making the tables on the way. */
export function setPath(data: Table, path: readonly string[], value: unknown): void {
  let table = data
  for (const part of path.slice(0, -1)) {
    const next = Object.hasOwn(table, part) ? table[part] : undefined
    const child: Table = isTable(next) ? next : emptyTable()
    table[part] = child
    table = child
  }
  const last = path.at(-1)
  if (last !== undefined) table[last] = value
}

/** Every value that is not a table, with its path. A list is one value; so is an empty table. */
export function leaves(data: Table, path: readonly string[] = []): { path: string[]; value: unknown }[] {
  return Object.keys(data).flatMap(key => {
    const value = data[key]
    const here = [...path, key]
    if (isTable(value) && Object.keys(value).length > 0) return leaves(value, here)
    return value === undefined ? [] : [{ path: here, value }]
  })
}

/** `providers.*.api_key` is the pattern of that key; `*` stands for one part. */
export function isPatternOf(pattern: string, path: readonly string[]): boolean {
  return pattern.split('.').length === path.length && isPatternAbove(pattern, path)
}

/** The same for the key and everything below it. */
export function isPatternAbove(pattern: string, path: readonly string[]): boolean {
  const parts = pattern.split('.')
  return parts.length <= path.length && parts.every((part, index) => part === '*' || part === path[index])
}
