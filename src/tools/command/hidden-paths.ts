import { existsSync, lstatSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { CommandPermit, HiddenFiles } from '../../core/command.ts'
import { isSystemError, ToolError } from '../../core/errors.ts'
import { namesIn } from '../../core/names-in.ts'
import type { Permit } from '../../core/permit.ts'
import { hasGitShape } from '../../git/git-folder.ts'
import { indexEntriesOf } from '../../git/git-index-entries.ts'
import { namelessFiles } from '../../git/object-store.ts'
import { readBounded } from '../../git/repository.ts'
import { treeOf } from './git-files.ts'

/** More entries than this are not looked through before a command: it would take seconds. */
const MOST_ENTRIES = 1_000_000
/** Each is a wall of its own, and building them takes longer the more there are. */
const MOST_HIDDEN = 1000

/** Files and folders that a command must not see, as they are now. Throws when they cannot all be found. */
export async function findHidden({ command }: Permit): Promise<string[]> {
  if (command === undefined) return []
  const { hidden } = command
  const found = [...hidden.places()]
  const stores: string[] = []
  for (const folder of hidden.searched) found.push(...(await listHidden(folder, hidden, stores)))
  const isUnasked = command.contained === true || (command.unasked === true && readsWithGit(command))
  if (isUnasked) for (const objects of stores) found.push(...nameless(objects, command))
  if (found.length > MOST_HIDDEN) {
    throw new ToolError('failed', `${found.length} files here may not be read, too many to hide them all.`, {
      hint: 'Use read_file and grep_search, which look at each file.',
    })
  }
  return found
}

/** Of lines that only read, others see no objects, and to look through a history before every `cat` would take seconds. */
function readsWithGit({ plan }: CommandPermit): boolean {
  const stages = plan?.steps.flatMap(step => (step.kind === 'pipeline' ? step.stages : [])) ?? []
  return stages.some(({ argv }) => argv.some(word => /(^|\/)git$/.test(word)))
}

/** Each is a wall of its own, and more of them would take longer than most commands. */
const MOST_NAMELESS = 100

/**
 * What was added once and never committed lies among git's objects without a name, where its number finds it. No rule can be
 * asked about it, so it is hidden from lines that nobody was asked about. Where it lies among other objects, or there is too
 * much of it, all objects go; not for lines that only read, which were judged by their words.
 */
function nameless(objects: string, { contained, hidden }: CommandPermit): string[] {
  const repository = dirname(objects)
  const beside = namesIn(join(repository, 'worktrees')).map(name => join(repository, 'worktrees', name))
  const named = new Set([repository, ...beside].flatMap(folder => stagedIn(folder, hidden)))
  const files = namelessFiles(objects, hash => named.has(hash))
  if (files !== null && files.length <= MOST_NAMELESS) return files
  return contained === true ? [objects] : []
}

/** Numbers of what an index holds under names that may be read. */
function stagedIn(repository: string, { hides, mayHide }: HiddenFiles): string[] {
  const bytes = readBounded(join(repository, 'index'))
  const entries = bytes === undefined ? [] : (indexEntriesOf(bytes) ?? [])
  const root = treeOf(repository)
  const isHidden = (path: string): boolean => mayHide(path) && hides(path)
  return entries
    .filter(({ name }) => !isHidden(join(root, name)))
    .map(({ identity }) => identity.slice(0, 40))
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

/** The topmost entries of a tree that are to be hidden. Links are not followed. Notes where git keeps objects. */
async function listHidden(
  root: string,
  { hides, mayHide }: HiddenFiles,
  stores: string[],
): Promise<string[]> {
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
      if (isFolder && !found.includes(path) && isStore(path)) stores.push(path)
    }
    const yields = seen
    seen += listing.entries + 1
    if (seen > MOST_ENTRIES) throw tooMany(root)
    if (Math.floor(yields / 2000) !== Math.floor(seen / 2000)) await setImmediate()
  }
  trees.set(root, after)
  return found
}

function isStore(path: string): boolean {
  const has = (name: string): boolean => existsSync(join(dirname(path), name))
  return basename(path) === 'objects' && hasGitShape(has)
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
