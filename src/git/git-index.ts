import { lstatSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isInside } from '../core/real-path.ts'
import { indexEntriesOf } from './git-index-entries.ts'
import { settingsOf } from './git-settings.ts'
import { type Repository, readBounded, repositoryAbove, repositoryAt } from './repository.ts'

/** What git tracks in a repository and the repositories inside it, by full paths. */
export interface Tracked {
  readonly files: readonly string[]
  /** Working trees: the repository's own first. */
  readonly roots: readonly string[]
}

/**
 * What git tracks in the repository at or above a folder, submodules included, read from the index without starting git.
 * Undefined: there is no repository. Null: the index is too large, or the repository not one that is understood.
 */
export function trackedFiles(folder: string): Tracked | null | undefined {
  const found = repositoryAbove(folder)
  if (found === undefined) return undefined
  const files: string[] = []
  const roots: string[] = []
  const open: Repository[] = [found]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { root, repository } = next
    roots.push(root)
    if (!isOrdinary(next)) return null
    const index = join(repository, 'index')
    const bytes = readBounded(index)
    if (bytes === undefined && lstatSync(index, { throwIfNoEntry: false }) === undefined) continue
    const entries = bytes === undefined ? undefined : indexEntriesOf(bytes)
    if (entries === undefined || roots.length > MOST_REPOSITORIES) return null
    for (const { name, mode } of entries) {
      files.push(join(root, name))
      const inner = mode === SUBMODULE ? repositoryAt(join(root, name)) : undefined
      if (inner !== undefined) open.push(inner)
    }
  }
  return { files, roots }
}

/** Whether git tracks this file, or a file in this folder. */
export function isTracked(path: string): boolean {
  return trackedFiles(dirname(path))?.files.some(file => isInside(file, path)) === true
}

const MOST_REPOSITORIES = 200
const SUBMODULE = 0o160000

/** Not one whose files lie somewhere else, nor with hashes of another length. */
function isOrdinary(found: Repository): boolean {
  if (found.foreign !== undefined) return false
  return (
    settingsOf(found)?.every(
      ({ key, value }) =>
        key !== 'extensions.objectformat' &&
        (key !== 'core.worktree' || resolve(found.repository, value) === found.root),
    ) === true
  )
}
