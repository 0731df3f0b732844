import { compileGlob, matchesPath } from '../../core/glob.ts'

/** Which files a search looks into. */
export interface FileChoice {
  /** For ripgrep, so that other files are not opened; undefined: all. */
  readonly names: readonly string[] | undefined
  readonly excluded: readonly string[]
  accepts(path: string): boolean
}

/**
 * ripgrep's own --glob would bring back files that .gitignore leaves out, so globs that select are applied here; ripgrep
 * gets their last components as a file type, which does not.
 */
export function chooseFiles(
  glob: string | readonly string[] | undefined,
  /** The folder that is searched, under any of its names. */
  folders: readonly string[],
): FileChoice {
  const globs = (typeof glob === 'string' ? [glob] : (glob ?? []))
    .flatMap(splitList)
    .map(each => belowFolder(each, folders))
  const selecting = globs.filter(each => !each.startsWith('!'))
  const excluded = globs.filter(each => each.startsWith('!')).map(each => each.slice(1))
  if (selecting.length === 0) return { names: undefined, excluded, accepts: () => true }
  const patterns = selecting.map(each =>
    compileGlob(each.includes('/') ? each.replace(/^\.?\//, '') : `**/${each}`, each),
  )
  const names = selecting.map(each => each.split('/').at(-1) ?? '')
  return {
    names: names.every(isPlainName) ? names : undefined,
    excluded,
    accepts: path => patterns.some(pattern => matchesPath(pattern, path)),
  }
}

/** Whether ripgrep reads a name as we do. */
function isPlainName(name: string): boolean {
  return (/^[^:{}()!+@\\]+$/.test(name) || /^\*\.\{[\w,.-]+\}$/.test(name)) && !name.includes('**')
}

/**
 * "*.ts,*.js" and "*.ts *.js" are lists. A name may hold a comma or a space itself: the whole stays in a list by commas,
 * and a list by spaces is one only when each part has a wildcard.
 */
function splitList(glob: string): string[] {
  const words = glob.trim().split(/\s+/)
  if (words.length > 1 && words.every(word => /[*?]/.test(word))) return words.flatMap(splitList)
  const parts = splitOutside(glob, ',')
  if (parts.length === 1) return [glob]
  const mayBeName = parts.every(part => part !== '' && !part.startsWith('!'))
  return mayBeName ? [glob, ...parts] : parts.filter(part => part !== '')
}

/** Splits where no brace, bracket or parenthesis is open. */
function splitOutside(text: string, separator: string): string[] {
  const parts = ['']
  let depth = 0
  for (const character of text) {
    if ('{[('.includes(character)) depth += 1
    else if ('}])'.includes(character)) depth -= 1
    if (character === separator && depth === 0) parts.push('')
    else parts[parts.length - 1] += character
  }
  return parts.map(part => part.trim())
}

/** An absolute glob below the folder is one over the paths below it. A slash in front otherwise means the folder itself. */
function belowFolder(glob: string, folders: readonly string[]): string {
  const sign = glob.startsWith('!') ? '!' : ''
  const path = glob.slice(sign.length)
  const folder = folders.find(each => each !== '/' && path.startsWith(`${each}/`))
  return folder === undefined ? glob : `${sign}${path.slice(folder.length)}`
}
