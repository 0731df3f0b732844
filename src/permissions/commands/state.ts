/**
 * What one analysis carries along. `Report` collects what was found and is shared by the whole line; `Scope` is what a
 * shell process knows at a point (directory, variables) and is copied for subshells.
 */
import { posix } from 'node:path'
import type { Access } from '../../core/access.ts'
import type { EffectName } from '../effect-names.ts'
import type { Arg } from './args.ts'
import { rawForbidden } from './guard.ts'
import type {
  CommandAnalysis,
  CommandContext,
  GlobAccess,
  Level,
  PlanStep,
  PlanWord,
  RepositoryAccess,
  TreeAccess,
} from './types.ts'
import { LEVEL_SCORES } from './types.ts'

/** What the analysis will say, as far as it is known, with each thing once. */
export interface Report extends Pick<CommandAnalysis, 'line' | 'commands' | 'reasons' | Facts> {
  context: CommandContext
  access: Map<string, Access>
  globs: Map<string, GlobAccess>
  trees: Map<string, TreeAccess>
  repositories: Map<string, RepositoryAccess>
  effects: Set<EffectName>
  /** Names of functions that the line defines, and who calls whom, for fork bombs. */
  calls: { from: string; to: string; forked: boolean }[]
  functions: Set<string>
  /** What `alias` calls something else. */
  aliases: Map<string, string>
  steps: number
  /** The ways back into the walker, so that wrappers need not import it. */
  walkText: (text: string, scope: Scope) => void
  judge: (args: Arg[], scope: Scope) => PlanWord[] | null
}

type Facts = 'unresolved' | 'unread' | 'startsUnknown' | 'interactiveProgram'

/** Values that a variable may have at this point; `exact` when there is just the one. */
export interface Value {
  values: string[]
  exact: boolean
}

export interface Scope {
  /** Possible working directories; null when unknown. */
  cwds: string[] | null
  oldCwd: string | null
  variables: Map<string, Value>
  /** The function whose body this is, and whether a fork lies between its start and here. */
  inFunction: string | null
  forked: boolean
  /** Text that arrives on standard input, when it is known. */
  stdin: string | null
  /** Standard input comes from a pipe, a file or a here-document. */
  piped: boolean
  depth: number
}

/**
 * What walking a node gave. `steps`: how to run it without a shell, null when only a shell can. `ok` and `fail`: the
 * directories after success and after failure.
 */
export interface Outcome {
  steps: PlanStep[] | null
  ok: string[] | null
  fail: string[] | null
  /** A `cd` inside does not last. */
  subshell?: boolean
}

export function plain(scope: Scope, steps: PlanStep[] | null): Outcome {
  return { steps, ok: scope.cwds, fail: scope.cwds }
}

/** Thrown when a limit is reached; the line then asks. */
export const LIMIT = Symbol('limit')
/** Thrown when one statement is nested too deeply; the statements after it are still looked at. */
export const TOO_DEEP = Symbol('too deep')

const MAX_STEPS = 800
/** Characters of code inside code (`sh -c`, `eval`) that cost one step. */
export const STEP_TEXT = 50
const MAX_VARIABLES = 64
const MAX_DEPTH = 24

export function countStep(report: Report, weight = 1): void {
  report.steps += weight
  if (report.steps > MAX_STEPS) throw LIMIT
}

/** Copies of the table are made at every branch, so it stays small. */
export function setVariable(scope: Scope, name: string, value: Value): void {
  scope.variables.set(name, value)
  if (scope.variables.size > MAX_VARIABLES) throw LIMIT
}

export function deeper(scope: Scope, changes: Partial<Scope> = {}): Scope {
  if (scope.depth >= MAX_DEPTH) throw TOO_DEEP
  return { ...scope, variables: new Map(scope.variables), ...changes, depth: scope.depth + 1 }
}

export function note(report: Report, level: Level, text: string, command?: string): void {
  const known = report.reasons.some(finding => finding.text === text && finding.level === level)
  if (known) return
  report.reasons.push(command === undefined ? { level, text } : { level, text, command })
}

/** For code that is not walked: the scan of its text takes the place of the walk. */
export function noteUnread(report: Report, reason: string, code = report.line): void {
  report.unread = true
  note(report, 'unknown', reason)
  const found = rawForbidden(code)
  if (found !== null) note(report, 'forbidden', `The line contains ${found}.`)
}

export function stricter(a: Level, b: Level): Level {
  return LEVEL_SCORES[a] >= LEVEL_SCORES[b] ? a : b
}

export function unionCwds(a: string[] | null, b: string[] | null): string[] | null {
  if (a === null || b === null) return null
  const all = [...new Set([...a, ...b])]
  return all.length > 8 ? null : all
}

/** Absolute, lexically normalised forms of a path in every directory that the command may run in. */
export function absolutePaths(path: string, scope: Scope): string[] {
  if (path === '') return []
  if (path.startsWith('/')) return [normalize(path)]
  return (scope.cwds ?? []).map(cwd => normalize(`${cwd}/${path}`))
}

export function normalize(path: string): string {
  const normal = posix.normalize(path)
  const short = normal.length > 1 && normal.endsWith('/') ? normal.slice(0, -1) : normal
  return short.startsWith('//') ? short.slice(1) : short
}

export function addAccess(report: Report, access: Access): void {
  const target = 'path' in access ? access.path : 'url' in access ? access.url : ''
  report.access.set(`${access.kind} ${target}`, access)
}

export function addGlob(report: Report, glob: GlobAccess): void {
  report.globs.set(`${glob.kind} ${glob.pattern}`, glob)
}

/** A pattern in every directory that the command may run in. Its folder is all before the first part with a pattern. */
export function globsIn(pattern: string, scope: Scope, kind: GlobAccess['kind']): GlobAccess[] {
  const parts = pattern.split('/')
  const first = parts.findIndex(part => /(?<!\\)(?:\\\\)*[*?[]/.test(part))
  const parent = parts.slice(0, first).join('/').replace(/\\(.)/g, '$1')
  const bases = pattern.startsWith('/') ? [''] : (scope.cwds ?? []).map(cwd => `${cwd}/`)
  return bases.map(base => ({
    kind,
    pattern: base.replace(/[*?[\]\\]/g, '\\$&') + pattern,
    directory: normalize(`${base}${parent}` || '/'),
  }))
}

/** Merges what two ways through the line know about variables. */
export function mergeVariables(into: Map<string, Value>, other: Map<string, Value>): void {
  for (const name of new Set([...into.keys(), ...other.keys()])) {
    const a = into.get(name)
    const b = other.get(name)
    if (a === b) continue
    const values = [...new Set([...(a?.values ?? []), ...(b?.values ?? [])])].slice(0, 16)
    const exact = a !== undefined && b !== undefined && a.exact && b.exact && values.length === 1
    into.set(name, { values, exact })
  }
}
