import { existsSync, lstatSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { isInside } from '../../core/real-path.ts'
import { readGitConfig, settingForPerson } from '../../git/git-config.ts'
import { GIT_STEERING, type GitPart, gitParts, hasGitShape, inFolder } from '../../git/git-folder.ts'
import { type IndexEntry, indexEntriesOf } from '../../git/git-index-entries.ts'
import type { OverlayChange } from '../../sandbox/layer/overlay-changes.ts'
import type { LayerView } from './layer-view.ts'

/** What of a repository changed, and by which git subcommands of the approved line. */
export interface GitChange {
  readonly change: OverlayChange
  /** Of the line; empty when it runs no git command that writes. */
  readonly subcommands: readonly string[]
  readonly workspace: string
  /** Where the new content lies. */
  readonly upper: string
  readonly view: LayerView
  /** What the command could not see; undefined when nothing of the workspace was hidden from it. */
  readonly isHidden?: ((realPath: string) => boolean) | undefined
}

// Subcommands that write git's own configuration as part of what they are for.
const WRITES_CONFIG =
  /^(config|remote|branch|checkout|switch|clone|init|submodule|push|pull|worktree|sparse-checkout)$/
// Lays out a repository from git's templates.
const LAYS_OUT = /^(init|clone|submodule)$/
const LINKS_REPOSITORIES = /^(worktree|submodule|clone)$/
const MAKES_MODULES = /^(submodule|clone)$/
const KEEPS_A_TODO = /^(rebase|pull|am|cherry-pick|revert)$/

const FOR_GIT =
  'it belongs to git, and no git command of this line changes it. To remove a nested repository, delete its whole folder; to move one, clone it to the new place'

/**
 * Why a change inside (or of) a repository is not git's own doing; null when it is. Whatever can run code or lead git to
 * another folder is refused, also when the line runs git commands: the rest of the line may have written it.
 * Undefined: the path has nothing to do with git.
 */
export function gitRefusal(git: GitChange): string | null | undefined {
  const parts = gitParts(git.change.path, git.view.exists)
  if (parts.length === 0) return undefined
  if (goesAsAWhole(git, parts)) return null
  if (git.subcommands.length === 0) return FOR_GIT
  if (git.change.entry === 'link') return 'a link can lead git to other files'
  for (const part of parts) {
    const refusal = grownRefusal(git, part) ?? partRefusal(git, part, parts)
    if (refusal !== null) return refusal
  }
  return null
}

/**
 * A repository other than the workspace's own, of which nothing stays. Not when git would then find another one around
 * it by its shape, whose settings and hooks were dead files so far.
 */
function goesAsAWhole({ change, view }: GitChange, [outermost]: readonly GitPart[]): boolean {
  if (change.change !== 'deleted' || outermost === undefined || !outermost.named) return false
  const names = outermost.folder.split('/')
  if (names.length === 1 || view.exists(outermost.folder)) return false
  return names.every((_, index) => {
    const around = names.slice(0, index).join('/')
    return !hasGitShape(name => view.exists(inFolder(around, name)))
  })
}

/** Settings and hooks could be laid down first, as ordinary files, and then a repository around them. */
function grownRefusal({ view }: GitChange, { folder, named }: GitPart): string | null {
  if (named || hasGitShape(name => view.existed(inFolder(folder, name)))) return null
  const left = GIT_STEERING.find(name => view.stays(inFolder(folder, name)))
  return left === undefined ? null : `it makes a repository around '${left}', which was there before`
}

function partRefusal(git: GitChange, { folder, own }: GitPart, all: readonly GitPart[]): string | null {
  const { change } = git
  const runs = (pattern: RegExp): boolean => git.subcommands.some(name => pattern.test(name))
  if (own === '') {
    if (change.entry === 'directory') return null
    return runs(LINKS_REPOSITORIES) && isOwnLink(git) ? null : 'it leads git to another repository'
  }
  const names = own.split('/')
  const name = names.at(-1) ?? ''
  // A repository of a submodule is judged by itself.
  if (names[0] === 'modules' && all.some(each => each.folder.startsWith(`${folder}/modules/`))) return null
  if (/^(worktrees\/[^/]+\/)?index$|^refs\/stash$/.test(own)) {
    const taken = takesHidden(git, folder, own)
    if (taken !== null) return taken
  }
  // The names of branches are free; a repository among them is found by its shape.
  const reference = /^(worktrees\/[^/]+\/|modules\/.+\/)?(logs\/)?(?=refs(\/|$))/.exec(own)
  const before = reference === null ? names : reference[0].split('/')
  if (before.some(each => each.toLowerCase() === 'hooks')) {
    const isSample = change.entry === 'directory' ? name === 'hooks' : name.endsWith('.sample')
    return isSample && change.change === 'created' && runs(LAYS_OUT) ? null : 'git runs what is in hooks'
  }
  if (reference !== null || change.entry === 'directory') return null
  if (name === 'commondir' || name === 'gitdir') {
    const isWorktree = /^worktrees\/[^/]+\/(commondir|gitdir)$/.test(own) && runs(/^worktree$/)
    const isOwn = name === 'gitdir' || newText(git)?.trim() === '../..' || change.change === 'deleted'
    return isWorktree && isOwn ? null : 'it leads git to another repository'
  }
  if (/(^|\/)info\/attributes$/i.test(own)) return 'it can make git run programs'
  if (/(^|\/)objects\/info\/(http-)?alternates$/i.test(own)) return 'it leads git to other files'
  if (/(^|\/)(remotes|branches)\//i.test(own)) return 'it leads git to another repository'
  if (/(^|\/)(rebase-merge|rebase-apply|sequencer)\//i.test(own)) return todoRefusal(git, name, runs)
  if (/^config(\.worktree)?$/i.test(name)) return configRefusal(git, folder, runs)
  return null
}

const HIDDEN = 'a rule hides it from commands. Add other files by name, without -a, -A or a folder'

/**
 * Git takes a file that it cannot see for deleted or emptied: neither the index nor a stash is to say so. The index of a
 * working tree beside the main one, or of a submodule, lies elsewhere than its files.
 */
function takesHidden(
  { change, workspace, upper, isHidden }: GitChange,
  folder: string,
  own: string,
): string | null {
  if (isHidden === undefined) return null
  const isStash = own === 'refs/stash'
  const path = isStash ? join(folder, 'index') : change.path
  const root = treeOf(join(workspace, dirname(path)))
  const before = entriesAt(join(workspace, path))
  const after = isStash ? before : change.after === undefined ? [] : entriesAt(join(upper, path))
  if (before === undefined || after === undefined) return `the index cannot be read, and ${HIDDEN}`
  const kept = new Map(after.map(({ name, identity }) => [name, identity]))
  const taken = before.find(({ name, identity }) => {
    if (!isStash && kept.get(name) === identity) return false
    const file = join(root, name)
    return existsSync(file) && isHidden(file)
  })
  if (taken === undefined) return null
  return `git would record '${taken.name}' as ${isStash ? 'changed' : 'deleted or changed'}, but ${HIDDEN}`
}

/** Undefined: not an index that is understood. */
function entriesAt(path: string): IndexEntry[] | undefined {
  return existsSync(path) ? indexEntriesOf(readFileSync(path)) : []
}

/** The top of the working tree of a repository, as its own files say. */
export function treeOf(repository: string): string {
  const text = (name: string): string =>
    existsSync(join(repository, name)) ? read(join(repository, name)) : ''
  const link = text('gitdir').trim()
  if (link !== '') return dirname(resolve(repository, link))
  const [tree] = readGitConfig(text('config'))?.get('core.worktree') ?? []
  return tree === undefined ? dirname(repository) : resolve(repository, tree)
}

/** The `.git` file of a working tree or submodule names a place inside a repository that git made for it. */
function isOwnLink(git: GitChange): boolean {
  if (git.change.change === 'deleted') return true
  const target = /^gitdir: ([^\n]+)\n?$/.exec(newText(git) ?? '')?.[1]
  if (target === undefined) return false
  const path = resolve(dirname(join(git.workspace, git.change.path)), target)
  if (!isInside(path, git.workspace)) return false
  const place = relative(git.workspace, path)
  const isMade = gitParts(place, git.view.exists).some(({ own }) => /^(modules|worktrees)\/./.test(own))
  return isMade && !leadsThroughLink(git, place)
}

/** A link to a folder outside of the workspace would lead to a repository that nobody looked at. */
function leadsThroughLink({ workspace, upper }: GitChange, place: string): boolean {
  const names = place.split('/')
  return names.some((_, index) => {
    const path = names.slice(0, index + 1).join('/')
    return [upper, workspace].some(root =>
      lstatSync(join(root, path), { throwIfNoEntry: false })?.isSymbolicLink(),
    )
  })
}

// As git reads a list of what is left to do; `exec` hands the rest of the line to a shell.
const EXEC = /^[ \t]*(exec|x)([ \t\r]|$)/

// Those that git has itself; any other name is a program, and may be a path to one.
const STRATEGY = /^"?(ort|recursive|resolve|octopus|ours|subtree)?"?$/

/** In the settings of an interrupted cherry-pick, as git writes them and as it would read them. */
function strategiesIn(text: string): string[] {
  return [...text.matchAll(/strategy\s*(?:=\s*([^\n]*))?$/gim)].map(([, value = '']) => value)
}

/** What an interrupted rebase goes on with when the person says `git rebase --continue`. */
function todoRefusal(git: GitChange, name: string, runs: (pattern: RegExp) => boolean): string | null {
  if (!runs(KEEPS_A_TODO)) return 'it can make git run programs'
  const { change, workspace } = git
  if (change.after === undefined || !/^(git-rebase-todo|todo|done|strategy$|opts$)/.test(name)) return null
  const text = newText(git) ?? ''
  if (text === UNREADABLE) return 'it is too large to be checked'
  const strategies = name === 'strategy' ? [text] : name === 'opts' ? strategiesIn(text) : []
  if (!strategies.every(each => STRATEGY.test(each.trim()))) return 'git runs a program by this name later'
  const old = change.before === undefined ? '' : read(join(workspace, change.path))
  const known = new Set(old.split('\n'))
  const added = text.split('\n').some(line => EXEC.test(line) && !known.has(line))
  return added
    ? "it has 'exec' lines, which git would run later; only a person may leave a rebase with them"
    : null
}

function newText({ change, upper }: GitChange): string | undefined {
  return change.after === undefined ? undefined : read(join(upper, change.path))
}

function configRefusal(
  { change, workspace, upper }: GitChange,
  repository: string,
  runs: (pattern: RegExp) => boolean,
): string | null {
  if (!runs(WRITES_CONFIG)) return 'the line runs no git command that changes settings'
  if (/config\.worktree$/i.test(change.path) && !runs(/^(sparse-checkout|worktree)$/)) {
    return 'the line runs no git command that changes settings of a working tree'
  }
  const isModule = /(^|\/)\.git\/modules\/./.test(repository)
  if (isModule && !runs(MAKES_MODULES)) return 'the line runs no git command that changes submodules'
  if (change.change === 'deleted')
    return isModule ? null : 'the settings of a repository are not deleted along with other files'
  const folder = dirname(join(workspace, change.path))
  const key = settingForPerson(
    change.change === 'created' ? '' : read(join(workspace, change.path)),
    read(join(upper, change.path)),
    // A submodule's repository says where its files are.
    (name, value) => isModule && name === 'core.worktree' && isInside(resolve(folder, value), workspace),
  )
  return key === null ? null : `it sets ${key}; a person may do that outside of Kogu, with git config`
}

const MOST_BYTES = 1024 * 1024
const UNREADABLE = '\0'

/** What is too large to be a configuration is not one: its text is no valid syntax. */
function read(path: string): string {
  const { size } = lstatSync(path)
  return size > MOST_BYTES ? UNREADABLE : readFileSync(path, 'utf8')
}
