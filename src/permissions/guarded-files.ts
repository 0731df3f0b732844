import { isInside } from '../core/real-path.ts'
import type { CommandAnalysis, FoundCommand } from './commands/types.ts'
import { foldPath, type PathContext } from './paths.ts'
import { RUN_BY_TOOLS } from './run-by-tools.ts'

/**
 * Whether a command must not leave a change of this file behind: a tool would run it by itself later, and a file tool
 * would have asked. A line of nothing but git and commands that only read does what a person can see in it.
 */
export function isGuarded(realPath: string, { workspace }: PathContext, analysis: CommandAnalysis): boolean {
  if (!isInside(realPath, workspace)) return false
  const path = foldPath(realPath.slice(workspace.length))
  return RUN_BY_TOOLS.test(path) && !PACKAGE.test(path) && !isOnlyGit(analysis)
}

// Packages bring along what their authors use, and nobody works in one.
const PACKAGE = /\/(node_modules|site-packages)\//

/** Nothing but git that brings or keeps files, and commands that only read. */
export function isOnlyGit({ commands, effects, unresolved }: CommandAnalysis): boolean {
  if (unresolved || effects.includes('runs-code')) return false
  return commands.every(command => command.level === 'safe' || isPlainGit(command))
}

// They bring files of the project from what git knows, and run nothing that the line or the project names.
const CHECKS_OUT =
  /^(add|am|apply|branch|checkout|cherry-pick|clone|commit|fetch|init|merge|mv|pull|push|rebase|remote|reset|restore|revert|rm|sparse-checkout|stash|submodule|switch|tag|worktree)$/
// Options, also shortened, that name a program, a setting or where hooks are copied from.
const NAMES_A_PROGRAM = /^--(up|ex|rec|conf|te)/
const OF_SUBCOMMAND: Readonly<Record<string, RegExp>> = {
  clone: /^-\w*[cu]/,
  rebase: /^(-\w*[xi]|--int)/,
  submodule: /^foreach$/,
}

function isPlainGit({ program, argv }: FoundCommand): boolean {
  const words = argv.map(({ text }) => text ?? '')
  const [subcommand = '', ...rest] = words.slice(words[1] === '-C' ? 3 : 1)
  if (program !== 'git' || !CHECKS_OUT.test(subcommand)) return false
  const own = Object.hasOwn(OF_SUBCOMMAND, subcommand) ? OF_SUBCOMMAND[subcommand] : undefined
  return !rest.some(word => NAMES_A_PROGRAM.test(word) || own?.test(word) === true)
}
