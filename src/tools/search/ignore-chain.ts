import { lstatSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { type IgnoreRules, parseIgnoreRules } from './ignore-rules.ts'

/** The rules that hold in a folder: those of its own file first, then those of the folders above. */
export interface IgnoreChain {
  readonly rules: IgnoreRules
  /** Path from the folder of these rules to where the walk began, with a slash at the end, or ''. */
  readonly toStart: string
  /** Path from where the walk began to the folder of these rules, with a slash at the end, or ''. */
  readonly fromStart: string
  readonly above: IgnoreChain | null
}

const LARGEST_FILE = 1024 * 1024

/** What `.gitignore` files above a folder and the repository's own list say, as git would read them. */
export function ignoreChainAbove(start: string): IgnoreChain | null {
  const root = repositoryRoot(start)
  // Outside a repository only the files from here on count: a stray one in a parent folder is not about this search.
  if (root === undefined) return null
  const folders: string[] = []
  for (let folder = dirname(start); start !== root; folder = dirname(folder)) {
    folders.unshift(folder)
    if (folder === root) break
  }
  const add = (chain: IgnoreChain | null, file: string, folder: string): IgnoreChain | null => {
    const rules = readRules(file)
    const toStart = relative(folder, start)
    return rules === null
      ? chain
      : { rules, toStart: toStart === '' ? '' : `${toStart}/`, fromStart: '', above: chain }
  }
  const own = add(null, join(root, '.git', 'info', 'exclude'), root)
  return folders.reduce((chain, folder) => add(chain, join(folder, '.gitignore'), folder), own)
}

/** The chain of a folder below the start, with the rules of its own file. */
export function ignoreChainOf(
  file: string,
  fromStart: string,
  above: IgnoreChain | null,
): IgnoreChain | null {
  const rules = readRules(file)
  return rules === null ? above : { rules, toStart: '', fromStart, above }
}

/** Whether an entry is ignored; `folder` is its folder as in `fromStart`. */
export function isIgnored(
  chain: IgnoreChain | null,
  folder: string,
  name: string,
  isFolder: boolean,
): boolean {
  for (let level = chain; level !== null; level = level.above) {
    const { fromStart, toStart, rules } = level
    const isTop = toStart === '' && fromStart.length === folder.length
    const path = (): string => toStart + folder.slice(fromStart.length) + name
    const verdict = rules.verdict({ name, isFolder, isTop, path })
    if (verdict !== undefined) return verdict
  }
  return false
}

/** The nearest folder upwards that is a git work tree. */
export function repositoryRoot(start: string): string | undefined {
  for (let folder = start; ; folder = dirname(folder)) {
    if (statSync(join(folder, '.git'), { throwIfNoEntry: false }) !== undefined) return folder
    if (dirname(folder) === folder) return undefined
  }
}

function readRules(file: string): IgnoreRules | null {
  // A link, pipe or huge file is not an ignore file: it would be followed out of the tree, or wait for ever.
  const stat = lstatSync(file, { throwIfNoEntry: false })
  if (stat === undefined || !stat.isFile() || stat.size > LARGEST_FILE) return null
  try {
    return parseIgnoreRules(readFileSync(file, 'utf8'))
  } catch {
    // Not readable: git warns and goes on too.
    return null
  }
}
