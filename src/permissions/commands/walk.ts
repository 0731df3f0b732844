/**
 * Walks every node of the parsed line: lists, pipes, groups, loops, functions, substitutions. Returns the steps that
 * would run it without a shell, or null when only a shell can; reasons for asking are collected on the way.
 */
import type { AndOr, Command, CommandNode, ParsedScript, Pipeline, PipelineNode, Statement } from 'unbash'
import { parse } from 'unbash'
import { seen } from './args.ts'
import { walkCompound } from './compound.ts'
import { guardLine, MAX_FULL } from './guard.ts'
import { checkPipeline } from './pipelines.ts'
import {
  countStep,
  deeper,
  mergeVariables,
  note,
  noteUnread,
  type Outcome,
  plain,
  type Report,
  type Scope,
  STEP_TEXT,
  TOO_DEEP,
  unionCwds,
} from './state.ts'
import { commandArgs, commandOutput } from './static-output.ts'
import type { PlanJoin, PlanStage, PlanStep } from './types.ts'
import { walkSimple } from './walk-simple.ts'
import { resolveSingle, resolveWord } from './words.ts'

/** Code inside code is read again at every level, so it has to be short. */
export function walkText(text: string, scope: Scope, report: Report): void {
  countStep(report, 1 + Math.floor(text.length / STEP_TEXT))
  walkCode(text, deeper(scope), report, MAX_FULL)
}

export function walkCode(code: string, scope: Scope, report: Report, longest = Infinity): PlanStep[] | null {
  const guard = guardLine(code)
  for (const reason of guard.reasons) note(report, 'unknown', reason)
  if (guard.parse && code.length <= longest) return walkScript(parse(code), scope, report)
  noteUnread(report, 'The line is too long or too deep to be analysed.', code)
  return null
}

export function walkScript(script: ParsedScript, scope: Scope, report: Report): PlanStep[] | null {
  const [error] = script.errors ?? []
  // After an error the parser may have skipped something, and bash runs the lines before the error.
  if (error !== undefined) noteUnread(report, `The line cannot be read as shell code: ${error.message}.`)
  const steps = walkList(script.commands, scope, report)
  return error === undefined ? steps : null
}

export function walkList(statements: readonly Statement[], scope: Scope, report: Report): PlanStep[] | null {
  let steps: PlanStep[] | null = []
  for (const [i, statement] of statements.entries()) {
    const outcome = walkGuarded(statement, scope, report)
    scope.cwds = unionCwds(outcome.ok, outcome.fail)
    const last = i === statements.length - 1
    const next = outcome.steps
    // What a subshell did to the directory would have to be undone; only at the end nobody notices.
    const lasting = outcome.subshell && !last && next?.some(step => step.kind === 'cd')
    if (next === null || lasting || steps === null) steps = null
    else steps.push(...joined(next, steps.length === 0 ? 'first' : ';'))
  }
  return steps
}

function walkGuarded(statement: Statement, scope: Scope, report: Report): Outcome {
  try {
    return walkStatement(statement, scope, report)
  } catch (error) {
    if (error !== TOO_DEEP) throw error
    noteUnread(report, 'A part of the line is too deep to be analysed.')
    return plain(scope, null)
  }
}

function joined(steps: PlanStep[], join: PlanJoin): PlanStep[] {
  return steps.map((step, i) => (i === 0 ? { ...step, join } : step))
}

function walkStatement(statement: Statement, scope: Scope, report: Report): Outcome {
  if (!statement.background) return walkNode(statement.command, scope, report)
  note(report, 'caution', 'Part of the line runs in the background.')
  report.effects.add('background')
  walkNode(statement.command, deeper(scope, { forked: true }), report)
  return plain(scope, null)
}

function walkNode(node: PipelineNode | AndOr, scope: Scope, report: Report): Outcome {
  countStep(report)
  if (node.type === 'AndOr') return walkAndOr(node, scope, report)
  if (node.type === 'Pipeline') return walkPipeline(node, scope, report)
  return walkCommand(node, scope, report)
}

function walkAndOr(node: AndOr, scope: Scope, report: Report): Outcome {
  const first = node.commands[0]
  if (first === undefined) return plain(scope, null)
  const before = new Map(scope.variables)
  let current = walkNode(first, scope, report)
  let steps = current.subshell && current.steps?.some(step => step.kind === 'cd') ? null : current.steps
  const after = new Map(scope.variables)
  for (const [i, operator] of node.operators.entries()) {
    const command = node.commands[i + 1]
    if (command === undefined) return plain(scope, null)
    if (operator === '||') mergeVariables(scope.variables, before)
    scope.cwds = operator === '&&' ? current.ok : current.fail
    const next = walkNode(command, scope, report)
    current =
      operator === '&&'
        ? { ...next, ok: next.ok, fail: unionCwds(current.fail, next.fail) }
        : { ...next, ok: unionCwds(current.ok, next.ok), fail: next.fail }
    // A group on the right side would need brackets in the plan.
    steps = steps === null || next.steps?.length !== 1 ? null : [...steps, ...joined(next.steps, operator)]
  }
  mergeVariables(scope.variables, after)
  return { steps, stage: null, ok: current.ok, fail: current.fail }
}

function walkPipeline(node: Pipeline, scope: Scope, report: Report): Outcome {
  const negations = node.prefixes.filter(prefix => prefix.type === 'Negation').length
  const timed = node.prefixes.some(prefix => prefix.type === 'Time')
  const negate = negations % 2 === 1
  const single = node.commands[0]
  if (node.commands.length === 1 && single !== undefined) {
    const outcome = walkCommand(single, scope, report)
    const [ok, fail] = negate ? [outcome.fail, outcome.ok] : [outcome.ok, outcome.fail]
    if (outcome.steps?.length !== 1 || negations > 1) return { ...outcome, steps: null, ok, fail }
    const steps = outcome.steps.map(
      (step): PlanStep => (step.kind === 'cd' ? { ...step, negate } : { ...step, negate, timed }),
    )
    return { ...outcome, steps, ok, fail }
  }
  const stages = walkStages(node, scope, report)
  checkPipeline(node, scope, report)
  if (stages === null || negations > 1) return plain(scope, null)
  return plain(scope, [{ kind: 'pipeline', join: 'first', negate, timed, stages }])
}

function walkStages(node: Pipeline, scope: Scope, report: Report): PlanStage[] | null {
  let stages: PlanStage[] | null = []
  let text: string | null = null
  for (const [i, command] of node.commands.entries()) {
    const inner = deeper(scope, {
      forked: true,
      stdin: i === 0 ? scope.stdin : text,
      piped: i > 0 || scope.piped,
    })
    const outcome = walkCommand(command, inner, report)
    text = command.type === 'Command' ? stageOutput(command, inner) : null
    if (outcome.stage === null || stages === null) stages = null
    else if (node.operators[i] === '|&') {
      stages.push({
        argv: outcome.stage.argv,
        redirects: [...outcome.stage.redirects, { kind: 'dup', fd: 2, of: 1 }],
      })
    } else stages.push(outcome.stage)
  }
  return stages
}

/** What a stage certainly prints: a here-document through `cat`, an `echo`. */
function stageOutput(command: Command, scope: Scope): string | null {
  const input = command.redirects.find(redirect => redirect.type !== 'Redirect')
  const text =
    input?.type === 'HereDoc'
      ? input.body.text
      : input?.target === undefined
        ? null
        : seen(resolveSingle(input.target, scope))
  return commandOutput(commandArgs(command, scope, resolveWord), text ?? scope.stdin, scope)
}

function walkCommand(node: CommandNode, scope: Scope, report: Report): Outcome {
  if (node.type === 'Command') return walkSimple(node, scope, report)
  return walkCompound(node, scope, report)
}
