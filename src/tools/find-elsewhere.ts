import { type Dirent, opendirSync } from 'node:fs'
import { join, sep } from 'node:path'
import { realPathOf } from '../core/real-path.ts'
import type { ToolContext } from '../core/tool.ts'

/** A hint must not cost more than what it saves: one glob_search. */
const MOST_ENTRIES = 2000
const MOST_FOUND = 3

/** What nobody means by a file of the project. Hidden folders are left out too. */
const NOT_SEARCHED = new Set([
  'node_modules',
  'dist',
  'build',
  'target',
  'vendor',
  'venv',
  '__pycache__',
  'coverage',
])

/**
 * Files of the workspace with the name of a path that does not exist, the likeliest first: those in folders of the same
 * names. Looks at the upper folders only, in bounded time, and names nothing that may not be read.
 */
export function findElsewhere(absolute: string, { workspace, permit }: ToolContext): string[] {
  const wanted = absolute.split(sep)
  const name = wanted.at(-1) ?? ''
  const found: string[] = []
  const folders = [realPathOf(workspace)]
  let left = MOST_ENTRIES
  for (let folder = folders.shift(); folder !== undefined && left > 0; folder = folders.shift()) {
    for (const entry of entriesOf(folder, left)) {
      left -= 1
      const path = join(folder, entry.name)
      const isSearched = entry.isDirectory() && !entry.name.startsWith('.') && !NOT_SEARCHED.has(entry.name)
      if (isSearched && permit.mayRead(path)) folders.push(path)
      if (entry.name === name && entry.isFile() && permit.mayRead(path)) found.push(path)
    }
  }
  return found
    .map(path => ({ path, shared: sharedEnd(path.split(sep), wanted) }))
    .sort((a, b) => b.shared - a.shared || a.path.length - b.path.length)
    .slice(0, MOST_FOUND)
    .map(({ path }) => path)
}

function entriesOf(folder: string, most: number): Dirent[] {
  const entries: Dirent[] = []
  try {
    // Read one by one: a folder may hold a million.
    using directory = opendirSync(folder)
    for (
      let entry = directory.readSync();
      entry !== null && entries.length < most;
      entry = directory.readSync()
    )
      entries.push(entry)
  } catch {
    // Gone meanwhile, or closed to us: then nothing in it is named.
  }
  return entries
}

function sharedEnd(a: readonly string[], b: readonly string[]): number {
  let shared = 0
  while (shared < a.length && a.at(-1 - shared) === b.at(-1 - shared)) shared += 1
  return shared
}
