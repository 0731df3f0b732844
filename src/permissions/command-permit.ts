import { statSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import type { CommandPlan, CommandStage, CommandStep } from '../core/command.ts'
import { realPathOf } from '../core/real-path.ts'
import type { CommandAnalysis, PlanStep, PlanWord, SafePlan } from './commands/types.ts'
import { expandGlob } from './rules/globs.ts'

/** Matches of one pattern; more are asked about (items.ts), so that a line never gets this far with more. */
const MOST_MATCHES = 10_000

/** Of `export A=b c`, the `A=b`: values that the words of the line say themselves. */
export function literalExports({ commands }: CommandAnalysis): string[] {
  const exports = commands.filter(({ program }) => program === 'export')
  return exports.flatMap(({ argv }) => argv.flatMap(({ text }) => (text?.includes('=') ? [text] : [])))
}

/**
 * Puts the names of files in the place of patterns. Null when that cannot be done for certain: a `cd` that would lead
 * elsewhere than its words say makes every later path another one than was judged.
 */
export function resolvePlan(plan: SafePlan, start: string): CommandPlan | null {
  let cwd = start
  const steps: CommandStep[] = []
  for (const step of plan.steps) {
    const resolved = resolveStep(step, cwd)
    if (resolved === null) return null
    if (resolved.kind === 'cd') cwd = resolved.directory
    steps.push(resolved)
  }
  return { steps }
}

function resolveStep(step: PlanStep, cwd: string): CommandStep | null {
  const { join, negate } = step
  if (step.kind === 'cd') {
    const directory = resolve(cwd, step.directory)
    return isPlainFolder(directory) ? { kind: 'cd', join, negate, directory } : null
  }
  const stages = step.stages.map(stage => resolveStage(stage, cwd))
  return stages.some(stage => stage === null)
    ? null
    : { kind: 'pipeline', join, negate, stages: stages.filter(stage => stage !== null) }
}

function isPlainFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory() && realPathOf(path) === path
  } catch {
    // Not there: the step would fail, and what follows would run somewhere else.
    return false
  }
}

function resolveStage({ argv, redirects }: CommandStage<PlanWord>, cwd: string): CommandStage | null {
  const words = argv.map(word => resolveWord(word, cwd))
  if (words.some(word => word === null)) return null
  const known = words.filter(word => word !== null).flat()
  return { argv: withSafeGit(known), redirects }
}

/**
 * A repository can name programs that show its files (`diff.external`, `diff.*.textconv`). Lines that run unasked must not
 * start them, and only options switch them off: settings given by the environment cannot.
 */
function withSafeGit(argv: readonly string[]): readonly string[] {
  if (argv[0] !== 'git') return argv
  let at = 1
  // `-C folder` is the only option before a safe subcommand that takes a word.
  while (argv[at]?.startsWith('-')) at += argv[at] === '-C' ? 2 : 1
  const subcommand = argv[at] ?? ''
  // The options come after the word that says what to do with a stash.
  if (subcommand === 'stash') at += 1
  if (!/^(?:diff|log|show|blame|stash)$/.test(subcommand)) return argv
  const options = subcommand === 'blame' ? ['--no-textconv'] : ['--no-ext-diff', '--no-textconv']
  return [...argv.slice(0, at + 1), ...options, ...argv.slice(at + 1)]
}

function resolveWord(word: PlanWord, cwd: string): string[] | null {
  if (typeof word === 'string') return [word]
  const absolute = word.glob.startsWith('/')
  const base = absolute ? '' : `${escapeGlob(cwd)}/`
  const found = expandGlob(`${base}${word.glob}`, MOST_MATCHES)
  if (found === null) return null
  if (found.length === 0) return [word.literal]
  return found.map(path => {
    const shown = absolute ? path : fromFolder(path, cwd)
    // A file called `-rf` must not become an option.
    return shown.startsWith('-') ? `./${shown}` : shown
  })
}

/** The same file, named from `cwd`. `../x*` leads out of it: cutting the folder off such a path would name another file. */
function fromFolder(path: string, cwd: string): string {
  const inside = cwd === '/' ? '/' : `${cwd}/`
  if (path.startsWith(inside) && path !== inside) return path.slice(inside.length)
  const way = relative(cwd, path)
  return way === '' ? path : `${way}${path.endsWith('/') ? '/' : ''}`
}

function escapeGlob(path: string): string {
  return path.replaceAll(/[\\*?[\]]/g, '\\$&')
}

/** Those that do more than read: a branch or file may be called `config`. */
export function gitSubcommands({ commands }: CommandAnalysis): string[] {
  return commands.flatMap(({ level, subcommand }) =>
    level === 'safe' || subcommand === undefined ? [] : [subcommand],
  )
}
