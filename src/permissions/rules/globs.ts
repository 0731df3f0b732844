import { statSync } from 'node:fs'
import { join } from 'node:path'
import { namesIn } from '../../core/names-in.ts'
import { lookAt } from '../../core/real-path.ts'
import { compileWildcard } from '../../core/wildcard.ts'

/**
 * Expands a file pattern as bash does without options: names that begin with a dot only where the pattern has the dot,
 * `*` never across `/`, sorted. Kogu does it itself, so that every file a line will touch is judged by its name.
 * Null when the matches cannot be named for certain: too many, or a character class that depends on the language.
 */
export function expandGlob(pattern: string, limit: number): string[] | null {
  if (/\[[:.=]/.test(pattern)) return null
  const parts = pattern.split('/')
  const absolute = parts[0] === ''
  let found = [absolute ? '/' : '']
  for (const [index, part] of parts.entries()) {
    if (part === '' && index === 0) continue
    const isLast = index === parts.length - 1
    found = found.flatMap(folder => stepInto(folder, part, isLast))
    if (found.length > limit) return null
  }
  return found
}

/** The matches of one part of the pattern in one folder. */
function stepInto(folder: string, part: string, isLast: boolean): string[] {
  if (part === '') return isFolder(folder) ? [`${folder}/`] : []
  if (!hasGlob(part)) {
    const path = join(folder, withoutEscapes(part))
    return lookAt(path) === undefined ? [] : [path]
  }
  const matches = compileWildcard(part, false)
  return names(folder)
    .filter(name => matches(name) && (name.startsWith('.') ? part.startsWith('.') : true))
    .map(name => join(folder, name))
    .filter(path => isLast || isFolder(path))
}

function hasGlob(part: string): boolean {
  return /(?<!\\)(?:\\\\)*[*?[]/.test(part)
}

function withoutEscapes(part: string): string {
  return part.replaceAll(/\\(.)/gs, '$1')
}

/** What is not a folder, or not readable, holds nothing: bash finds nothing there either. */
function names(folder: string): string[] {
  return namesIn(folder === '' ? '.' : folder).sort()
}

export function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    // Gone, or a link to nothing.
    return false
  }
}
