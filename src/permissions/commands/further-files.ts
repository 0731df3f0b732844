import { basename, dirname, resolve } from 'node:path'
import { namesIn } from '../../core/names-in.ts'
import { realPathOf } from '../../core/real-path.ts'
import { readBounded } from '../../git/repository.ts'
import { isSystemPath } from '../paths/paths.ts'

const LARGEST_READ = 512 * 1024
const MOST_FILES = 500
const MOST_WORDS = 2000

/**
 * These files and those that their text names, beside it or in the folders of the line: `npm run x` starts what the script of
 * package.json says, and a script what it sources or imports. Not again what these name: whoever lets the tests of a project
 * run knows that its code changes.
 */
export function withFurther(files: readonly string[], folders: readonly string[]): string[] {
  const found = new Set(files)
  const listed = new Map<string, Set<string>>()
  const isThere = (path: string): boolean => {
    const folder = dirname(path)
    const names = listed.get(folder) ?? new Set(namesIn(folder))
    listed.set(folder, names)
    return names.has(basename(path)) && !isSystemPath(path)
  }
  const further = [...new Set(files)].filter(isThere).flatMap(file => {
    const places = [...new Set([dirname(file), ...folders])]
    const paths = wordsIn(file).flatMap(word =>
      places.flatMap(place => spellings(word).map(name => resolve(place, name))),
    )
    return paths.filter(isThere).flatMap(realOf)
  })
  for (const path of further.slice(0, MOST_FILES)) found.add(path)
  return [...found]
}

/** What may be a path or a module: with a dot or a slash, or behind a word that loads something. */
function wordsIn(file: string): string[] {
  const bytes = readBounded(file)
  if (bytes === undefined || bytes.length > LARGEST_READ || bytes.includes(0)) return []
  const text = basename(file) === 'package.json' ? scriptsIn(bytes.toString()) : bytes.toString()
  const paths = text.match(/[\w@+~-]{0,80}[./][\w./@+~-]{0,200}/g) ?? []
  const loaded = text.matchAll(
    /\b(?:import|from|source|include|require|use|load|node|python3?|sh|bash)\b\W{1,4}(\w+)/g,
  )
  const all = new Set([...paths, ...[...loaded].map(([, name = '']) => name)])
  return [...all].filter(word => /[a-z]/i.test(word)).slice(0, MOST_WORDS)
}

/** The rest of it tells where the code lies that others use. */
function scriptsIn(text: string): string {
  return /"scripts"\s*:\s*\{[^}]*\}/.exec(text)?.[0] ?? ''
}

/** What a word may stand for as the name of a file or a module. */
export function spellings(word: string): string[] {
  const module = /[/]/.test(word) ? word : word.replaceAll('.', '/')
  const ends = ['.py', '/__main__.py', '/__init__.py', '.pm', '.class']
  return [
    word,
    ...ends.map(end => `${module}${end}`),
    ...['.js', '.mjs', '.cjs', '.ts', '.rb', '.sh', '/index.js', '/index.ts', '/__main__.py'].map(
      end => `${word}${end}`,
    ),
  ]
}

export function realOf(path: string): string[] {
  try {
    return [realPathOf(path)]
  } catch {
    // A loop of links, or too long for a path: nothing that could be started.
    return []
  }
}
