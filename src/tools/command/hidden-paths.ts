import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { HiddenFiles } from '../../core/command.ts'
import { isSystemError, ToolError } from '../../core/errors.ts'
import { namesIn } from '../../core/names-in.ts'
import type { Permit } from '../../core/permit.ts'
import { isInside } from '../../core/real-path.ts'
import { holdsContent } from '../../git/object-store.ts'
import { repositoryAbove } from '../../git/repository.ts'

/** More entries than this are not looked through before a command: it would take seconds. */
const MOST_ENTRIES = 1_000_000
/** Each is a wall of its own, and building them takes longer the more there are. */
const MOST_HIDDEN = 1000

/** Files and folders that a command must not see, as they are now. Throws when they cannot all be found. */
export async function findHidden({ command }: Permit): Promise<string[]> {
  if (command === undefined) return []
  const { hidden } = command
  const found = [...hidden.places()]
  for (const folder of hidden.searched) found.push(...(await listHidden(folder, hidden)))
  if (command.contained === true) found.push(...nameless(found, command.cwd))
  if (found.length > MOST_HIDDEN) {
    throw new ToolError('failed', `${found.length} files here may not be read, too many to hide them all.`, {
      hint: 'Use read_file and grep_search, which look at each file.',
    })
  }
  return found
}

const MOST_COMPARED = 200
const LARGEST_COMPARED = 1024 * 1024

/**
 * A file that was added once and never committed lies among git's objects without a name, where its number finds it: the
 * objects go as a whole. What was changed since cannot be told from other contents without a name.
 */
function nameless(hidden: readonly string[], cwd: string): string[] {
  const found = repositoryAbove(cwd)
  if (found === undefined) return []
  const objects = join(found.shared ?? found.repository, 'objects')
  const files = hidden.filter(path => isInside(path, found.root) && !isInside(path, found.repository))
  if (files.length === 0 || hidden.includes(objects)) return []
  try {
    return holdsContent(objects, contentsOf(files)) ? [objects] : []
  } catch {
    // What cannot be looked through may hold anything.
    return [objects]
  }
}

function* contentsOf(paths: readonly string[]): Iterable<Uint8Array> {
  const open = [...paths]
  for (let count = 0; count < MOST_COMPARED; count += 1) {
    const path = open.pop()
    const stat = path === undefined ? undefined : readable(() => lstatSync(path, { throwIfNoEntry: false }))
    if (path === undefined || stat === undefined || basename(path) === '.kogu') continue
    if (stat.isDirectory()) open.push(...namesIn(path).map(name => join(path, name)))
    const content =
      stat.isFile() && stat.size <= LARGEST_COMPARED ? readable(() => readFileSync(path)) : undefined
    if (content !== undefined) yield content
  }
}

/** What matters of a folder, as long as its times stay the same. */
interface Listing {
  readonly stamp: string
  readonly entries: number
  readonly folders: readonly string[]
  readonly candidates: readonly { path: string; isFolder: boolean }[]
}

// A look at each folder is ten times cheaper than reading it. What may be hidden at all depends on the rules, which are
// the same as long as the function is.
const known = new WeakMap<HiddenFiles['mayHide'], Map<string, ReadonlyMap<string, Listing>>>()

/** The topmost entries of a tree that are to be hidden. Links are not followed. */
async function listHidden(root: string, { hides, mayHide }: HiddenFiles): Promise<string[]> {
  const trees = known.get(mayHide) ?? new Map<string, ReadonlyMap<string, Listing>>()
  known.set(mayHide, trees)
  const before = trees.get(root)
  const after = new Map<string, Listing>()
  const found: string[] = []
  const folders = [root]
  let seen = 0
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const listing = listFolder(folder, before?.get(folder), mayHide)
    if (listing === undefined) continue
    if (listing.stamp !== UNSETTLED) after.set(folder, listing)
    folders.push(...listing.folders)
    for (const { path, isFolder } of listing.candidates) {
      if (hides(path)) found.push(path)
      else if (isFolder) folders.push(path)
    }
    const yields = seen
    seen += listing.entries + 1
    if (seen > MOST_ENTRIES) throw tooMany(root)
    if (Math.floor(yields / 2000) !== Math.floor(seen / 2000)) await setImmediate()
  }
  trees.set(root, after)
  return found
}

/** Every entry of a tree that may ever be hidden; undefined when there is too much in it to look at. */
export async function listCandidates(
  root: string,
  mayHide: HiddenFiles['mayHide'],
): Promise<string[] | undefined> {
  const found: string[] = []
  const folders = [root]
  let seen = 0
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const listing = listFolder(folder, undefined, mayHide)
    if (listing === undefined) continue
    for (const { path, isFolder } of listing.candidates) {
      found.push(path)
      if (isFolder) folders.push(path)
    }
    folders.push(...listing.folders)
    seen += listing.entries
    if (seen > MOST_ENTRIES) return undefined
    await setImmediate()
  }
  return found
}

function tooMany(root: string): ToolError {
  return new ToolError('failed', `${root} holds too many files to check them all for secrets.`, {
    hint: 'Name a smaller folder, or use read_file and grep_search, which look at each file.',
  })
}

const UNSETTLED = ''
/** Times of files are as coarse as two seconds: within them a change need not show. */
const SETTLED_MS = 3000

function listFolder(
  folder: string,
  before: Listing | undefined,
  mayHide: HiddenFiles['mayHide'],
): Listing | undefined {
  const stat = readable(() => lstatSync(folder, { throwIfNoEntry: false, bigint: true }))
  if (stat?.isDirectory() !== true) return undefined
  // The time of the last change of any kind, which nobody can set; the other one is there for odd file systems.
  const stamp = `${stat.dev} ${stat.ino} ${stat.ctimeNs} ${stat.mtimeNs}`
  if (before?.stamp === stamp) return before
  const settled = Date.now() - Number(stat.ctimeMs) > SETTLED_MS
  const entries = readable(() => readdirSync(folder, { withFileTypes: true })) ?? []
  const folders: string[] = []
  const candidates: Listing['candidates'][number][] = []
  const start = folder === '/' ? folder : `${folder}/`
  for (const entry of entries) {
    const path = `${start}${entry.name}`
    const isFolder = entry.isDirectory()
    if (mayHide(path)) candidates.push({ path, isFolder })
    else if (isFolder) folders.push(path)
  }
  return { stamp: settled ? stamp : UNSETTLED, entries: entries.length, folders, candidates }
}

/** Undefined when it is gone by now, or not readable for us, and so not for the command. Any other problem ends the search. */
function readable<Value>(read: () => Value): Value | undefined {
  try {
    return read()
  } catch (error) {
    if (isSystemError(error) && /^(EACCES|EPERM|ENOENT|ENOTDIR)$/.test(error.code ?? '')) return undefined
    throw error
  }
}
