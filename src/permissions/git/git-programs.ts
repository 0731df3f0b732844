import { trackedFiles } from '../../git/git-index.ts'
import { dangersOf } from '../../git/git-settings.ts'
import { repositoryAbove } from '../../git/repository.ts'
import type { RepositoryAccess } from '../commands/types.ts'

/**
 * Why git could start programs that the repository at or above a folder names, or null. Of lines that only read, only
 * settings that neither an option nor the environment switches off: filters of file contents, and converters that turn
 * files into text. What a configuration includes may set them later. Submodules count: git starts another git in each.
 */
export function programsOf(folder: string, starts: RepositoryAccess['starts']): string | null {
  const found = repositoryAbove(folder)
  if (found === undefined || starts === 'nothing') return null
  const tracked = trackedFiles(folder)
  if (tracked === null || tracked === undefined)
    return 'the repository is not one whose settings can be checked'
  for (const root of tracked.roots) {
    const inner = root === found.root ? found : repositoryAbove(root)
    const dangers = inner === undefined ? [] : dangersOf(inner)
    if (dangers === null) return `the settings of ${root} cannot be read`
    const hit = dangers.find(({ name }) => COUNTS[starts].test(name))
    if (hit !== undefined) return `${root} has \`${hit.name}\``
  }
  return null
}

const COUNTS = {
  filters: /^(filter|include|includeif)\./,
  converters: /^(filter|include|includeif)\.|textconv/,
  anything: /^/,
} as const
