import type { Approval } from '../../api/types.ts'

/** As many as an answer can name. */
const MOST_CHOSEN = 1_000

export interface ChangedEntries {
  /** What can be kept or left one by one. */
  readonly files: readonly string[]
  /** What others of them are in. */
  readonly folders: readonly string[]
}

/**
 * A command has already run on a layer of its own: what it changed can be kept file by file. Not taken from the difference, in
 * which nothing is said of what was deleted, linked or no text.
 */
export function changedEntries({ subject, access }: Pick<Approval, 'subject' | 'access'>): ChangedEntries {
  if (subject.kind !== 'changes') return { files: [], folders: [] }
  const below = `${subject.root}/`
  const paths = access.flatMap(each =>
    'path' in each && each.path.startsWith(below) ? [each.path.slice(below.length)] : [],
  )
  if (paths.length > MOST_CHOSEN) return { files: [], folders: [] }
  const inside = new Set(paths.flatMap(foldersOf))
  return {
    files: paths.filter(path => !inside.has(path)),
    folders: paths.filter(path => inside.has(path)),
  }
}

/** What an answer names. A folder stands for all that is in it, so it is named only when all of that is kept. */
export function keptPaths({ files, folders }: ChangedEntries, left: ReadonlySet<string>): string[] {
  const broken = new Set([...left].flatMap(foldersOf))
  return [...folders.filter(folder => !broken.has(folder)), ...files.filter(file => !left.has(file))]
}

function foldersOf(path: string): string[] {
  const names = path.split('/').slice(0, -1)
  return names.map((_, index) => names.slice(0, index + 1).join('/'))
}
