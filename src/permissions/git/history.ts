import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isInside, realPathOf } from '../../core/real-path.ts'
import { gitParts } from '../../git/git-folder.ts'
import { trackedFiles } from '../../git/git-index.ts'
import { isContent } from '../../git/named-object.ts'
import { storedPaths } from '../../git/object-store.ts'
import { repositoryAbove } from '../../git/repository.ts'
import type { CommandAnalysis, TreeAccess } from '../commands/types.ts'

/** What of a repository may not be read unasked. */
export interface Closed {
  /** False for most paths, and the same for every call: asked once for each path of a history. */
  readonly mayBe: (path: string) => boolean
  readonly is: (path: string) => boolean
}

/**
 * A sentence when the objects of the repository at or above a folder hold what may not be read unasked: git prints contents
 * from them, where nothing can be hidden. Every version counts that any branch, stash or reflog has, or nothing any more.
 */
export function gitHistoryProblem(
  folder: string,
  closed: Closed,
  part: TreeAccess['history'] = 'all',
): string | undefined {
  const tracked = trackedFiles(folder)
  if (tracked === undefined) return undefined
  const roots = part === 'tracked' ? [] : tracked?.roots
  const stored = roots?.map(root => ({ root, paths: pathsOf(root) }))
  if (tracked === null || stored?.some(({ paths }) => paths === null))
    return 'git could print files that cannot be checked, and reading them needs an approval.'
  const old = stored?.flatMap(({ root, paths }) => candidatesOf(root, paths ?? [], closed.mayBe)) ?? []
  const isPrinted = (path: string): boolean => part !== 'below' || isInside(path, folder)
  const all = new Set([...tracked.files.filter(closed.mayBe), ...old])
  const found = [...all].filter(path => isPrinted(path) && closed.is(path))
  return found.length === 0
    ? undefined
    : `git could print ${listed(found)}, and reading it needs an approval.`
}

/** All that a remembered answer is for: another file asks again. */
function listed(paths: readonly string[]): string {
  const named = paths.toSorted().slice(0, MOST_NAMED)
  const more = paths.length - named.length
  return more === 0 ? named.join(', ') : `${named.join(', ')} and ${more} more`
}

const MOST_NAMED = 5

function objectsAbove(folder: string): string | undefined {
  const found = repositoryAbove(folder)
  return found === undefined ? undefined : join(found.shared ?? found.repository, 'objects')
}

/** Whether the objects that git uses in a folder lie in this tree. */
export function holdsStore(tree: string, folder: string): boolean {
  const objects = objectsAbove(folder)
  return objects !== undefined && isInside(objects, realPathOf(tree))
}

function pathsOf(root: string): readonly string[] | null {
  const objects = objectsAbove(root)
  return objects === undefined ? [] : storedPaths(objects)
}

// A history has tens of thousands of paths, and stays the same for most calls.
const known = new WeakMap<readonly string[], { mayBe: Closed['mayBe']; found: string[] }>()

function candidatesOf(root: string, paths: readonly string[], mayBe: Closed['mayBe']): string[] {
  const before = known.get(paths)
  if (before?.mayBe === mayBe) return before.found
  const found = paths.map(path => join(root, path)).filter(mayBe)
  known.set(paths, { mayBe, found })
  return found
}

/**
 * A sentence when a word of a git command stands for a content: without a name, no rule could be asked about it. `matched`:
 * files that patterns of the line match, whose names become words.
 */
export function namelessObject(
  { commands, repositories }: CommandAnalysis,
  matched: readonly string[] = [],
): string | undefined {
  const words = commands
    .filter(({ program }) => program === 'git')
    .flatMap(({ argv }) => argv.slice(2).flatMap(({ text }) => text?.split(/\.{2,3}/) ?? []))
    .concat(matched.map(path => basename(path)).filter(name => /[0-9a-f]{4}$/i.test(name)))
    .map(word => word.replace(/[\^~@:{].*$/, ''))
    .filter(word => /^[^-]/.test(word))
  const places = words.length === 0 ? [] : repositories.flatMap(({ path }) => repositoryAbove(path) ?? [])
  const found = words.find(word => places.some(place => isContent(place, word)))
  return found === undefined ? undefined : `git could print ${found}, a content without a name.`
}

/** Whether a path holds contents of a repository in the place of files: objects, and what git keeps beside them. */
export function isGitContent(realPath: string): boolean {
  if (!/\/(objects|lost-found|rr-cache)(\/|$)/i.test(realPath)) return false
  const parts = gitParts(realPath.slice(1), path => existsSync(`/${path}`))
  return parts.some(({ own }) => /(^|\/)(objects|lost-found|rr-cache)(\/|$)/i.test(own))
}
