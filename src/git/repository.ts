import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isInside, lookAt, realPathOf } from '../core/real-path.ts'
import { hasGitShape } from './git-folder.ts'

/** Where git reads when it works in a folder. All paths are real. */
export interface Repository {
  /** The top of the working tree. */
  readonly root: string
  /** Where its own files lie. */
  readonly repository: string
  /** Of a working tree beside the main one: the repository that it belongs to. */
  readonly shared?: string
  /**
   * Set when git would read files of another repository, which nobody gave this working tree: why. A `.git` that leads
   * elsewhere makes `git log -p` print somebody else's history.
   */
  readonly foreign?: string
}

/** The nearest repository at or above a folder, links followed as git does. */
export function repositoryAbove(folder: string): Repository | undefined {
  for (let root = realPathOf(folder); ; root = dirname(root)) {
    const found = repositoryAt(root) ?? shapedRepository(root)
    if (found !== undefined) return found
    if (dirname(root) === root) return undefined
  }
}

/** Git takes a folder for a repository by what lies in it, with the settings and hooks that come with a clone. */
function shapedRepository(root: string): Repository | undefined {
  try {
    if (!hasGitShape(name => lookAt(join(root, name)) !== undefined)) return undefined
  } catch {
    // Not for us to look into, and so not for git.
    return undefined
  }
  return { root, repository: root, foreign: `'${root}' has the layout of a git repository` }
}

/** The repository whose working tree begins at this real folder. */
export function repositoryAt(root: string): Repository | undefined {
  const path = join(root, '.git')
  try {
    const stat = lstatSync(path)
    if (stat.isSymbolicLink()) return { root, repository: realPathOf(path), foreign: `'${path}' is a link` }
    if (stat.isDirectory()) return { root, repository: path, ...foreignObjects(path) }
    const target = /^gitdir: (.+)$/m.exec(readBounded(path)?.toString() ?? '')?.[1]
    return target === undefined ? undefined : linkedRepository(root, resolve(root, target))
  } catch {
    // Not there, or not readable, and so not for git.
    return undefined
  }
}

/** `.git` is a file: of a submodule, or of a working tree beside the main one. */
function linkedRepository(root: string, target: string): Repository {
  const repository = realPathOf(target)
  const named = readBounded(join(repository, 'commondir'))?.toString().trim()
  const shared = named === undefined ? undefined : realPathOf(resolve(repository, named))
  const found = { root, repository, ...(shared === undefined ? {} : { shared }) }
  if (shared !== undefined && dirname(repository) !== join(shared, 'worktrees')) {
    return { ...found, foreign: `'${repository}' belongs to '${shared}', which does not list it` }
  }
  if (!knowsRoot(repository, root)) {
    return { ...found, foreign: `'${repository}' does not belong to this working tree` }
  }
  return { ...found, ...foreignObjects(shared ?? repository) }
}

/** Git writes down on both sides which working tree belongs to a repository; only one side lies in the workspace. */
function knowsRoot(repository: string, root: string): boolean {
  const back = readBounded(join(repository, 'gitdir'))?.toString().trim()
  if (back !== undefined) return realPathOf(dirname(resolve(repository, back))) === root
  const settings = readBounded(join(repository, 'config'))?.toString() ?? ''
  const worktree = /^\s*worktree\s*=\s*"?([^"\n]*?)"?\s*$/im.exec(settings)?.[1]
  return worktree !== undefined && realPathOf(resolve(repository, worktree)) === root
}

function foreignObjects(repository: string): { foreign?: string } {
  const objects = join(repository, 'objects')
  if (!isInside(realPathOf(objects), repository)) return { foreign: `'${objects}' is a link` }
  const borrows = lstatSync(join(objects, 'info/alternates'), { throwIfNoEntry: false }) !== undefined
  return borrows ? { foreign: `'${repository}' borrows objects of other repositories` } : {}
}

const MOST_BYTES = 32 * 1024 * 1024

/** Undefined when it is not there, not a file, or far too large. */
export function readBounded(path: string): Buffer | undefined {
  let file: number
  try {
    // A pipe in its place would be waited for.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch {
    // Nothing was ever added.
    return undefined
  }
  try {
    const stat = fstatSync(file)
    if (!stat.isFile() || stat.size > MOST_BYTES) return undefined
    const bytes = Buffer.alloc(stat.size)
    return bytes.subarray(0, readSync(file, bytes))
  } finally {
    closeSync(file)
  }
}
