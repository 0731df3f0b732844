import { settingsOf, trackedFiles } from '../../git/git-index.ts'
import { repositoryAbove } from '../../git/repository.ts'

/**
 * Why git could start programs that the repository at or above a folder names, or null. Only settings that neither an option
 * nor the environment switches off: filters of file contents, and with `converts` those that turn files into text. What
 * a configuration includes may set them, too. Submodules count: git starts another git in each of them.
 */
export function programsOf(folder: string, converts: boolean): string | null {
  const found = repositoryAbove(folder)
  if (found === undefined) return null
  const tracked = trackedFiles(folder)
  if (tracked === null || tracked === undefined)
    return 'the repository is not one whose settings can be checked'
  const setting = converts
    ? /\[\s*(filter|include|includeif)\b|textconv/i
    : /\[\s*(filter|include|includeif)\b/i
  for (const root of tracked.roots) {
    const repository = root === found.root ? found.repository : repositoryAbove(root)?.repository
    const texts = repository === undefined ? [] : settingsOf(repository)
    const hit = texts.map(text => (text === null ? 'settings' : setting.exec(text)?.[0])).find(Boolean)
    if (hit !== undefined) return `the settings of ${root} have \`${hit.replace(/^\[\s*/, '')}\``
  }
  return null
}
