/** A simple command in its place: assignments before it, redirections, `cd`, and the judgement of its arguments. */
import type { Assignment, Command } from 'unbash'
import type { CommandRedirect } from '../../core/command.ts'
import { type Arg, seen } from './args.ts'
import { isDangerousVariable } from './call.ts'
import { judgeRedirects, type Redirects } from './redirects.ts'
import {
  absolutePaths,
  deeper,
  note,
  type Outcome,
  plain,
  type Report,
  type Scope,
  setVariable,
} from './state.ts'
import type { PlanStep, PlanWord } from './types.ts'
import { resolveSingle, resolveWord } from './words.ts'

export function walkSimple(node: Command, scope: Scope, report: Report): Outcome {
  const assignments = node.prefix.filter(item => item.type === 'Assignment')
  const args = argumentsOf(node, scope)
  const redirects = judgeRedirects(node.redirects, scope, report)
  if (node.name === undefined) return walkAssignments(assignments, redirects, scope, report)
  if (assignments.length > 0) prefixAssignments(assignments, scope, report)
  const program = seen(args[0])
  if (scope.inFunction !== null)
    report.calls.push({ from: scope.inFunction, to: program, forked: scope.forked })
  if (program === 'cd' || program === 'pushd' || program === 'popd')
    return changeDirectory(args, redirects, scope, report)
  const inner = redirects.input ? deeper(scope, { stdin: redirects.stdin, piped: true }) : scope
  const words = report.judge(args, inner)
  changeVariables(program, args.slice(1), scope, report)
  if (words === null || redirects.plan === null || assignments.length > 0) return plain(scope, null)
  return plain(scope, [step(words, redirects.plan)])
}

function step(argv: PlanWord[], redirects: CommandRedirect[]): PlanStep {
  return { kind: 'pipeline', join: 'first', negate: false, stages: [{ argv, redirects }] }
}

function argumentsOf(node: Command, scope: Scope): Arg[] {
  const args = node.name === undefined ? [] : resolveWord(node.name, scope)
  for (const item of node.args) {
    if (item.type === 'Word') args.push(...resolveWord(item, scope))
    else args.push(assignmentArg(item, scope))
  }
  return args
}

/** `export X=1`, `make CC=gcc`: the assignment is an argument. */
function assignmentArg(item: Assignment, scope: Scope): Arg {
  const prefix = `${item.name}${item.append ? '+=' : '='}`
  if (item.value.type === 'ArrayValue' || item.index !== undefined) {
    return { raw: item.text, text: null, glob: null, worst: [item.text] }
  }
  const value = resolveSingle(item.value, scope)
  const text = value.text === null ? null : prefix + value.text
  return { raw: item.text, text, glob: null, worst: value.worst.map(worst => prefix + worst) }
}

function walkAssignments(
  assignments: Assignment[],
  redirects: Redirects,
  scope: Scope,
  report: Report,
): Outcome {
  let exact = redirects.plan?.length === 0 && assignments.length > 0
  for (const item of assignments) {
    const value =
      item.value.type === 'ArrayValue' || item.index !== undefined ? null : resolveSingle(item.value, scope)
    const known = value !== null && value.text !== null && !item.append
    const before = item.append ? (scope.variables.get(item.name)?.values ?? ['']) : ['']
    const values = before.flatMap(start => (value?.worst ?? ['']).map(end => start + end)).slice(0, 16)
    setVariable(scope, item.name, { values, exact: known })
    exact = exact && known
    // Tables of the shell: which program and which text a name stands for.
    if (/^BASH_(?:CMDS|ALIASES)$/.test(item.name)) report.startsUnknown = true
    if (!isDangerousVariable(item.name)) continue
    exact = false
    report.effects.add('changes-environment')
    note(report, 'dangerous', `Setting ${item.name} can make other programs run something else.`)
  }
  if (exact) return plain(scope, [step(['true'], [])])
  note(
    report,
    'unknown',
    assignments.length > 0
      ? 'A variable gets a value that is known only at run time.'
      : 'A redirection without a command.',
  )
  return plain(scope, null)
}

function prefixAssignments(assignments: Assignment[], scope: Scope, report: Report): void {
  report.effects.add('changes-environment')
  for (const item of assignments) {
    const level = isDangerousVariable(item.name) ? 'dangerous' : 'caution'
    note(report, level, `The command runs with ${item.name} changed.`)
    // Bash expands the arguments before it sets the variable, but functions and later commands may see it.
    const value = item.value.type === 'ArrayValue' ? null : resolveSingle(item.value, scope)
    const known = scope.variables.get(item.name)?.values ?? []
    setVariable(scope, item.name, { values: [...known, ...(value?.worst ?? [])].slice(0, 16), exact: false })
  }
}

const SETS_VARIABLES =
  /^(?:read|export|declare|typeset|local|readonly|unset|mapfile|readarray|getopts|let|printf)$/

function changeVariables(program: string, args: Arg[], scope: Scope, report: Report): void {
  if (SETS_VARIABLES.test(program)) {
    for (const arg of args) {
      const match = /^([A-Za-z_]\w*)(?:=([\s\S]*))?$/.exec(seen(arg))
      if (match?.[1] !== undefined && program !== 'printf')
        setVariable(scope, match[1], { values: [match[2] ?? ''], exact: false })
    }
    const named = program === 'printf' && seen(args[0]) === '-v' ? seen(args[1]) : null
    if (named !== null) setVariable(scope, named, { values: [''], exact: false })
  }
  if (!/^(?:eval|source|\.)$/.test(program) && !report.functions.has(program)) return
  for (const [name, value] of scope.variables) setVariable(scope, name, { ...value, exact: false })
}

function changeDirectory(args: Arg[], redirects: Redirects, scope: Scope, report: Report): Outcome {
  const program = seen(args[0])
  const operands = args.slice(1).filter(arg => !/^(?:-[LPe@]+|--)$/.test(arg.text ?? ''))
  const target = operands[0]
  report.commands.push({
    argv: args.map(arg => ({ text: arg.text, raw: arg.raw })),
    program,
    cwds: scope.cwds,
    level: 'safe',
    effects: [],
  })
  // `-P` goes where links lead, and the words do not say where that is: `cd -P link/..`.
  const isPhysical = args.some(arg => /^-[LPe@]*P/.test(arg.text ?? ''))
  const text = isPhysical ? null : targetText(program, target, scope)
  if (text === null || operands.length > 1) {
    report.unresolved = true
    note(report, 'unknown', 'The folder that the line changes to is not known.')
    // For the forbidden scan: an unset variable leaves `cd` where it goes without one.
    const guesses = target === undefined ? [] : target.worst.flatMap(worst => absolutePaths(worst, scope))
    const ok = guesses.length > 0 && target?.glob === null ? guesses : null
    return { steps: null, ok, fail: scope.cwds }
  }
  const from = scope.cwds
  const ok = from === null && !text.startsWith('/') ? null : absolutePaths(text, scope)
  scope.oldCwd = from?.length === 1 ? (from[0] ?? null) : null
  const quiet = redirects.plan?.every(redirect => redirect.kind === 'null') === true
  if (program !== 'cd') note(report, 'caution', `\`${program}\` changes the shell's list of folders.`)
  const steps: PlanStep[] | null =
    program === 'cd' && quiet ? [{ kind: 'cd', join: 'first', negate: false, directory: text }] : null
  return { steps, ok, fail: from }
}

function targetText(program: string, target: Arg | undefined, scope: Scope): string | null {
  if (program === 'popd') return scope.oldCwd
  if (target === undefined) {
    const home = scope.variables.get('HOME')
    return program === 'cd' && home?.exact ? (home.values[0] ?? null) : null
  }
  if (target.text === '-') return scope.oldCwd
  return target.text === null || target.text === '' ? null : target.text
}
