import { relative } from 'node:path'
import { toLine } from '../core/visible.ts'

/** A path as it is written where the person stands. */
export function shownPath(path: string, cwd: string): string {
  return toLine(relative(cwd, path) || '.', 4096)
}

/** The same as a word of a command line that can be copied. */
export function shownWord(path: string, cwd: string): string {
  const shown = shownPath(path, cwd)
  if (/^[\w./][\w./@%+=:,-]*$/.test(shown)) return shown
  return `'${(shown.startsWith('-') ? `./${shown}` : shown).replaceAll("'", "'\\''")}'`
}
