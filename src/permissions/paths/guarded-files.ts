import { existsSync, readdirSync } from 'node:fs'
import { isSystemError } from '../../core/errors.ts'
import { isInside } from '../../core/real-path.ts'
import { settingsOf } from '../../git/git-index.ts'
import { type Repository, repositoryAbove } from '../../git/repository.ts'
import type { CommandAnalysis, FoundCommand } from '../commands/types.ts'
import { foldPath, type PathContext } from './paths.ts'
import { RUN_BY_TOOLS } from './run-by-tools.ts'

/**
 * Whether a command must not leave a change of this file behind: a tool would run it by itself later, and a file tool
 * would have asked.
 */
export function isGuarded(realPath: string, { workspace }: PathContext): boolean {
  if (!isInside(realPath, workspace)) return false
  const path = foldPath(realPath.slice(workspace.length))
  return RUN_BY_TOOLS.test(path) && !PACKAGE.test(path)
}

// Packages bring along what their authors use, and nobody works in one.
const PACKAGE = /\/(node_modules|site-packages)\//

/**
 * Nothing but git that brings files which it knows already, and commands that only read: no program of the project runs,
 * and no variable says otherwise. Where a repository has hooks, filters or the like, nothing counts as such.
 */
export function isOnlyGit({ commands, effects, unresolved }: CommandAnalysis, line: string): boolean {
  if (unresolved || effects.includes('runs-code') || ASSIGNMENT.test(line)) return false
  return commands.every(command => command.level === 'safe' || (isPlainGit(command) && isQuiet(command)))
}

/** In every repository in which it may run: a folder below the workspace may be one of its own. */
function isQuiet({ cwds }: FoundCommand): boolean {
  return (
    cwds?.every(folder => {
      const found = repositoryAbove(folder)
      return found === undefined || (found.foreign === undefined && !runsPrograms(found))
    }) === true
  )
}

const ASSIGNMENT = /(^|[\s;&|({])[A-Za-z_]\w*\+?=/
const BRINGS_FILES = /^(checkout|switch|restore|reset|pull|fetch|merge|clone|worktree)$/
// Git takes any shortened option, so those that are known to be harmless are listed, not the others.
const HARMLESS_OPTION =
  /^(-[bBqfdvn]|--|--(quiet|ff-only|no-ff|ff|rebase|no-rebase|track|no-track|detach|force|hard|soft|mixed|keep|ours|theirs|staged|worktree|source=.*|depth=\d+|branch=.*|single-branch|all|tags|prune|no-edit|abort|create|force-create|orphan|no-local))$/

function isPlainGit({ program, argv }: FoundCommand): boolean {
  const [, subcommand = '', ...rest] = argv.map(({ text }) => text ?? '-unknown')
  if (program !== 'git' || !BRINGS_FILES.test(subcommand)) return false
  return rest.every(word => !word.startsWith('-') || HARMLESS_OPTION.test(word))
}

/** Whether git would run something of the repository's own on the way: hooks, filters, merge drivers. */
function runsPrograms({ repository, shared = repository }: Repository): boolean {
  if (settingsOf(repository).some(text => text === null || STARTS_PROGRAMS.test(text))) return true
  if (existsSync(`${shared}/config.worktree`)) return true
  try {
    return readdirSync(`${shared}/hooks`).some(name => !name.endsWith('.sample'))
  } catch (error) {
    return !isSystemError(error) || error.code !== 'ENOENT'
  }
}

const STARTS_PROGRAMS = /hookspath|fsmonitor|include|worktree\s*=|\[\s*(filter|merge|alias|credential|diff)/i
