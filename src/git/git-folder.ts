/** A folder that git takes for a repository, and what of it a path is; `own` is empty for the folder itself. */
export interface GitPart {
  /** Empty for the folder that paths are relative to. */
  readonly folder: string
  readonly own: string
  /** Called `.git`; otherwise a repository by what lies in it. */
  readonly named: boolean
}

/** What git reads, now or in a later command, to find out which program to run or where else to look. */
export const GIT_STEERING: readonly string[] = [
  'config',
  'config.worktree',
  'hooks',
  'commondir',
  'gitdir',
  'info',
  'objects',
  'modules',
  'worktrees',
  'remotes',
  'branches',
  'rebase-merge',
  'rebase-apply',
  'sequencer',
]
const OWN = new Set([...GIT_STEERING, 'head', 'refs'])
// One look that most paths do not pass: a command may change a hundred thousand of them. Other letters may fold to these.
const WORTH_A_LOOK = new RegExp(
  `(^|/)(\\.git|${[...OWN].join('|').replaceAll('.', '\\.')})[. ]*(/|$)|[^ -~]`,
  'i',
)

/**
 * The repositories that a relative path belongs to, from the outside in. Git needs no `.git`: a folder in which HEAD,
 * objects and refs lie beside each other is a repository for whoever works in it, with its settings and its hooks. The
 * path itself counts as existing, so that the last missing piece is found too; `exists` tells of the others.
 */
export function gitParts(
  path: string,
  exists: (path: string) => boolean,
  fold: (name: string) => string = name => name.toLowerCase(),
): GitPart[] {
  if (!WORTH_A_LOOK.test(path)) return []
  const names = path.split('/')
  const found: GitPart[] = []
  for (const [index, name] of names.entries()) {
    const folded = fold(name)
    if (folded === '.git') {
      const folder = names.slice(0, index + 1).join('/')
      found.push({ folder, own: names.slice(index + 1).join('/'), named: true })
    }
    if (!OWN.has(folded)) continue
    const folder = names.slice(0, index).join('/')
    if (found.some(part => part.folder === folder || isWorktreeOf(part, folder))) continue
    const has = (each: string): boolean => fold(each) === folded || exists(inFolder(folder, each))
    if (hasGitShape(has)) found.push({ folder, own: names.slice(index).join('/'), named: false })
  }
  return found
}

/** By names alone: git follows links here, and takes some things for folders that are none. */
export function hasGitShape(has: (name: string) => boolean): boolean {
  return has('HEAD') && (has('commondir') || (has('objects') && has('refs')))
}

export function inFolder(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`
}

/** Looks like a repository of its own, and takes its settings and hooks from the one around it. */
function isWorktreeOf({ folder }: GitPart, other: string): boolean {
  const name = other.startsWith(`${folder}/worktrees/`) ? other.slice(`${folder}/worktrees/`.length) : ''
  return name !== '' && !name.includes('/')
}
