import { dirname } from 'node:path'
import { isInside } from '../../core/real-path.ts'
import { dangersOf, type GitDanger } from '../../git/git-settings.ts'
import { repositoryAbove } from '../../git/repository.ts'
import type { CommandAnalysis, FoundCommand } from '../commands/types.ts'
import { analyzePath, foldPath, type PathContext, type PathFacts, SENSITIVE_TO_WRITE } from './paths.ts'
import { RUN_BY_TOOLS } from './run-by-tools.ts'

/**
 * Whether a command must not leave a change of this file behind: a tool would run it by itself later, and a file tool
 * would have asked.
 */
export function isGuarded(realPath: string, context: PathContext): boolean {
  const { workspace } = context
  if (!isInside(realPath, workspace)) return false
  const path = foldPath(realPath.slice(workspace.length))
  if (RUN_BY_TOOLS.test(path) && !PACKAGE.test(path)) return true
  return dangersAround(dirname(realPath), context).some(({ paths }) =>
    paths.some(named => isInside(path, foldPath(named.slice(workspace.length)))),
  )
}

/** How careful to be with a change: settings of git can make any file one that the person's next git command runs. */
export function analyzeChange(realPath: string, context: PathContext): PathFacts {
  const facts = analyzePath(realPath, context)
  if (facts.sensitivity >= SENSITIVE_TO_WRITE || !isInside(realPath, context.workspace)) return facts
  const path = foldPath(realPath)
  const danger = dangersAround(dirname(realPath), context).find(({ paths }) =>
    // A folder that is moved here may bring the file along.
    paths.map(foldPath).some(named => isInside(path, named) || isInside(named, path)),
  )
  return danger === undefined
    ? facts
    : { sensitivity: SENSITIVE_TO_WRITE, why: `git runs or reads it by itself (${danger.name})` }
}

// A context belongs to one call, and a command may change a hundred thousand files of a few folders.
const known = new WeakMap<PathContext, Map<string, readonly GitDanger[]>>()

/** What the repository of a folder and that of the workspace make dangerous. */
function dangersAround(folder: string, context: PathContext): readonly GitDanger[] {
  const ofFolders = known.get(context) ?? new Map<string, readonly GitDanger[]>()
  known.set(context, ofFolders)
  const before = ofFolders.get(folder)
  if (before !== undefined) return before
  const found = repositoryAbove(folder)
  const outer = found?.root === context.workspace ? undefined : repositoryAbove(context.workspace)
  const repositories = [found, outer?.root === found?.root ? undefined : outer]
  const dangers = repositories.flatMap(each =>
    each === undefined ? [] : (dangersOf(each, context.home) ?? dangersOf(each) ?? []),
  )
  ofFolders.set(folder, dangers)
  return dangers
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
      return found === undefined || (found.foreign === undefined && dangersOf(found)?.length === 0)
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
