import { lstatSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isInside } from '../../core/real-path.ts'
import type { OverlayChange } from '../../sandbox/overlay-changes.ts'
import { steeringChange } from './git-config.ts'

/** What of a repository changed, and by which git subcommands of the approved line. */
export interface GitChange {
  readonly change: OverlayChange
  /** Of the line; empty when it runs no git command that writes. */
  readonly subcommands: readonly string[]
  readonly workspace: string
  /** Where the new content lies. */
  readonly upper: string
}

// Subcommands that write git's own configuration as part of what they are for.
const WRITES_CONFIG =
  /^(config|remote|branch|checkout|switch|clone|init|submodule|push|pull|worktree|sparse-checkout)$/
// Lays out a repository from git's templates.
const LAYS_OUT = /^(init|clone|submodule)$/
const LINKS_REPOSITORIES = /^(worktree|submodule)$/
const KEEPS_A_TODO = /^(rebase|pull|am|cherry-pick|revert)$/

/**
 * Why a change inside (or of) a `.git` is not git's own doing; null when it is. Whatever can run code or lead git to
 * another folder is refused, also when the line runs git commands: the rest of the line may have written it.
 * Undefined: the path has nothing to do with git.
 */
export function gitRefusal(git: GitChange): string | null | undefined {
  const { change, subcommands } = git
  const inside = /(?:^|\/)\.git(?:\/(.*))?$/.exec(change.path)
  if (inside === null) return undefined
  const runs = (pattern: RegExp): boolean => subcommands.some(name => pattern.test(name))
  if (subcommands.length === 0) return 'it belongs to git, and the line runs no git command that changes it'
  const own = inside[1]
  if (change.entry === 'link') return 'a link can lead git to other files'
  if (own === undefined) {
    if (change.entry === 'directory') return null
    return runs(LINKS_REPOSITORIES) && isOwnLink(git) ? null : 'it leads git to another repository'
  }
  const parts = own.split('/')
  const name = parts.at(-1) ?? ''
  if (parts.some(part => part.toLowerCase() === 'hooks')) {
    const isSample = change.entry === 'directory' ? name === 'hooks' : name.endsWith('.sample')
    return isSample && change.change === 'created' && runs(LAYS_OUT) ? null : 'git runs what is in hooks'
  }
  if (name === 'commondir' || name === 'gitdir') {
    const isWorktree = /^worktrees\/[^/]+\/(commondir|gitdir)$/.test(own) && runs(/^worktree$/)
    const isOwn = name === 'gitdir' || newText(git)?.trim() === '../..' || change.change === 'deleted'
    return isWorktree && isOwn ? null : 'it leads git to another repository'
  }
  if (/(^|\/)info\/attributes$/.test(own)) return 'it can make git run programs'
  if (/(^|\/)objects\/info\/(http-)?alternates$/.test(own)) return 'it leads git to other files'
  if (/(^|\/)(rebase-merge|rebase-apply|sequencer)\//.test(own) && !runs(KEEPS_A_TODO)) {
    return 'it can make git run programs'
  }
  if (/^config(\.worktree)?$/.test(name)) return configRefusal(git, own, runs)
  return null
}

/** The `.git` file of a working tree or submodule names a place inside a repository that git made for it. */
function isOwnLink(git: GitChange): boolean {
  if (git.change.change === 'deleted') return true
  const target = /^gitdir: ([^\n]+)\n?$/.exec(newText(git) ?? '')?.[1]
  if (target === undefined) return false
  const path = resolve(dirname(join(git.workspace, git.change.path)), target)
  return isInside(path, git.workspace) && /\/\.git\/(modules|worktrees)\/./.test(path)
}

function newText({ change, upper }: GitChange): string | undefined {
  return change.after === undefined ? undefined : read(join(upper, change.path))
}

function configRefusal(
  { change, workspace, upper }: GitChange,
  own: string,
  runs: (pattern: RegExp) => boolean,
): string | null {
  if (!runs(WRITES_CONFIG)) return 'the line runs no git command that changes settings'
  if (own.endsWith('config.worktree') && !runs(/^(sparse-checkout|worktree)$/)) {
    return 'the line runs no git command that changes settings of a working tree'
  }
  const isModule = own.startsWith('modules/')
  if (isModule && !runs(/^submodule$/)) return 'the line runs no git command that changes submodules'
  if (change.change === 'deleted')
    return isModule ? null : 'the settings of a repository are not deleted by the way'
  const folder = dirname(join(workspace, change.path))
  const key = steeringChange(
    change.change === 'created' ? '' : read(join(workspace, change.path)),
    read(join(upper, change.path)),
    // A submodule's repository says where its files are.
    (name, value) => isModule && name === 'core.worktree' && isInside(resolve(folder, value), workspace),
  )
  return key === null ? null : `it sets ${key}, which can make git run programs; only a person may do that`
}

const MOST_BYTES = 1024 * 1024

/** What is too large to be a configuration is not one: its text is no valid syntax. */
function read(path: string): string {
  const { size } = lstatSync(path)
  return size > MOST_BYTES ? '\0' : readFileSync(path, 'utf8')
}
