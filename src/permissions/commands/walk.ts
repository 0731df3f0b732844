/**
 * Walks every node of the parsed line: lists, pipes, groups, loops, functions, substitutions. Returns the steps that
 * would run it without a shell, or null when only a shell can; reasons for asking are collected on the way.
 */
import {
  type AndOr,
  type Command,
  type CommandNode,
  type CompoundList,
  type For,
  type Function as FunctionNode,
  forEachChild,
  type ParsedScript,
  type Pipeline,
  type PipelineNode,
  parse,
  type Redirected,
  type Statement,
  type SyntaxNode,
  type While,
} from 'unbash'
import type { CommandStage } from '../../core/command.ts'
import { seen } from './args.ts'
import { guardLine, MAX_FULL } from './guard.ts'
import { checkPipeline } from './pipelines.ts'
import { judgeRedirects } from './redirects.ts'
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
  setVariable,
  TOO_DEEP,
  unionCwds,
} from './state.ts'
import { commandArgs, commandOutput } from './static-output.ts'
import type { PlanStep, PlanWord } from './types.ts'
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

function walkScript(script: ParsedScript, scope: Scope, report: Report): PlanStep[] | null {
  const [error] = script.errors ?? []
  // After an error the parser may have skipped something, and bash runs the lines before the error.
  if (error !== undefined) noteUnread(report, `The line cannot be read as shell code: ${error.message}.`)
  const steps = walkList(script.commands, scope, report)
  return error === undefined ? steps : null
}

function walkList(statements: readonly Statement[], scope: Scope, report: Report): PlanStep[] | null {
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

function joined(steps: PlanStep[], join: PlanStep['join']): PlanStep[] {
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
  return { steps, ok: current.ok, fail: current.fail }
}

function walkPipeline(node: Pipeline, scope: Scope, report: Report): Outcome {
  const negations = node.prefixes.filter(prefix => prefix.type === 'Negation').length
  const negate = negations % 2 === 1
  const single = node.commands[0]
  if (node.commands.length === 1 && single !== undefined) {
    const outcome = walkCommand(single, scope, report)
    const [ok, fail] = negate ? [outcome.fail, outcome.ok] : [outcome.ok, outcome.fail]
    if (outcome.steps?.length !== 1 || negations > 1) return { ...outcome, steps: null, ok, fail }
    return { ...outcome, steps: outcome.steps.map(step => ({ ...step, negate })), ok, fail }
  }
  const stages = walkStages(node, scope, report)
  checkPipeline(node, scope, report)
  if (stages === null || negations > 1) return plain(scope, null)
  return plain(scope, [{ kind: 'pipeline', join: 'first', negate, stages }])
}

function walkStages(node: Pipeline, scope: Scope, report: Report): CommandStage<PlanWord>[] | null {
  let stages: CommandStage<PlanWord>[] | null = []
  let text: string | null = null
  for (const [i, command] of node.commands.entries()) {
    const inner = deeper(scope, {
      forked: true,
      stdin: i === 0 ? scope.stdin : text,
      piped: i > 0 || scope.piped,
    })
    const { steps } = walkCommand(command, inner, report)
    text = command.type === 'Command' ? stageOutput(command, inner) : null
    const isProgram = command.type === 'Command' && command.name !== undefined
    const stage = isProgram && steps?.[0]?.kind === 'pipeline' ? steps[0].stages[0] : undefined
    if (stage === undefined || stages === null) stages = null
    else if (node.operators[i] !== '|&') stages.push(stage)
    else stages.push({ ...stage, redirects: [...stage.redirects, { kind: 'dup', fd: 2, of: 1 }] })
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
  if (node.type !== 'Command') return walkCompound(node, scope, report)
  if (node.name !== undefined) walkEmbedded(node.name, scope, report)
  walkAllEmbedded([...node.prefix, ...node.suffix], scope, report)
  return walkSimple(node, scope, report)
}

type Compound = Exclude<CommandNode, { type: 'Command' }>

/** Groups, loops, conditions, functions. All of their commands are judged; few of them can run without a shell. */
function walkCompound(node: Compound, scope: Scope, report: Report): Outcome {
  switch (node.type) {
    case 'BraceGroup':
      return plain(scope, walkList(node.body.commands, scope, report))
    case 'Subshell': {
      const steps = walkList(node.body.commands, deeper(scope, { forked: true }), report)
      return { ...plain(scope, steps), subshell: true }
    }
    case 'For':
      return walkFor(node, scope, report)
    case 'While':
      return walkWhile(node, scope, report)
    case 'If':
      return walkBranches(
        [node.clause, node.then, ...node.elif.flatMap(part => [part.clause, part.then]), node.else],
        scope,
        report,
      )
    case 'Case':
      walkEmbedded(node.word, scope, report)
      for (const item of node.items) for (const pattern of item.pattern) walkEmbedded(pattern, scope, report)
      return walkBranches(
        node.items.map(item => item.body),
        scope,
        report,
      )
    case 'TestCommand':
      walkEmbedded(node, scope, report)
      note(report, 'unknown', 'The condition needs a shell.')
      return plain(scope, null)
    case 'Redirected':
      return walkRedirected(node, scope, report)
    case 'Function':
      return walkFunction(node, scope, report)
    case 'Coproc':
      note(report, 'caution', 'Part of the line runs in the background.')
      report.effects.add('background')
      walkBody(node.body, deeper(scope, { forked: true }), report)
      return plain(scope, null)
    case 'Select':
      note(report, 'interactive', 'The line waits for a person to choose.')
      walkAllEmbedded(node.wordlist ?? [], scope, report)
      return walkBranches([node.body], scope, report)
    case 'ArithmeticFor':
      walkEmbedded(node, deeper(scope), report)
      return walkBranches([node.body], scope, report)
    case 'ArithmeticCommand':
      walkEmbedded(node, scope, report)
      note(report, 'unknown', 'Arithmetic can change variables and run code in them.')
      return plain(scope, null)
  }
}

function walkAllEmbedded(nodes: readonly SyntaxNode[], scope: Scope, report: Report): void {
  for (const node of nodes) walkEmbedded(node, scope, report)
}

function walkBody(node: CommandNode | CompoundList, scope: Scope, report: Report): void {
  if (node.type === 'CompoundList') walkList(node.commands, scope, report)
  else walkNode(node, scope, report)
}

function walkFor(node: For, scope: Scope, report: Report): Outcome {
  const words = node.wordlist ?? []
  walkAllEmbedded(words, scope, report)
  const args = words.flatMap(word => resolveWord(word, scope))
  note(report, 'unknown', 'The line repeats commands.')
  forgetAssigned(node.body, scope)
  setVariable(scope, node.name.value, { values: args.flatMap(arg => arg.worst).slice(0, 32), exact: false })
  return walkBranches([node.body], scope, report)
}

function walkWhile(node: While, scope: Scope, report: Report): Outcome {
  note(report, 'unknown', 'The line repeats commands until a condition changes.')
  forgetAssigned(node.body, scope)
  return walkBranches([node.clause, node.body], scope, report)
}

/** Variables that a loop changes are not known inside it, since it may have run before. */
function forgetAssigned(node: SyntaxNode, scope: Scope): void {
  if (node.type === 'Assignment') {
    const known = scope.variables.get(node.name)
    setVariable(scope, node.name, { values: known?.values ?? [''], exact: false })
  }
  if (node.type !== 'Word') forEachChild(node, child => forgetAssigned(child, scope))
}

/** Bodies of which any may have run, or none. */
function walkBranches(bodies: readonly (CompoundList | undefined)[], scope: Scope, report: Report): Outcome {
  let cwds = scope.cwds
  for (const body of bodies) {
    if (body === undefined) continue
    const inner = deeper(scope)
    walkList(body.commands, inner, report)
    cwds = unionCwds(cwds, inner.cwds)
    mergeVariables(scope.variables, inner.variables)
    // A condition may change the directory for what follows it.
    scope.cwds = cwds
  }
  return plain(scope, null)
}

function walkRedirected(node: Redirected, scope: Scope, report: Report): Outcome {
  walkAllEmbedded(node.redirects, scope, report)
  const redirects = judgeRedirects(node.redirects, scope, report)
  const inner = deeper(scope, {
    stdin: redirects.stdin ?? scope.stdin,
    piped: redirects.input || scope.piped,
  })
  walkCompound(node.command, inner, report)
  mergeVariables(scope.variables, inner.variables)
  return plain({ ...scope, cwds: unionCwds(scope.cwds, inner.cwds) }, null)
}

function walkFunction(node: FunctionNode, scope: Scope, report: Report): Outcome {
  const name = node.name.value
  report.functions.add(name)
  report.effects.add('changes-environment')
  note(report, 'unknown', `The line defines a function named \`${name}\`.`)
  walkBody(node.body, deeper(scope, { inFunction: name, forked: false }), report)
  return plain(scope, null)
}

/** Commands inside words: `$(...)`, backticks, `<(...)`, in whatever depth of quotes, arithmetic or defaults. */
function walkEmbedded(node: SyntaxNode, scope: Scope, report: Report): void {
  if (node.type === 'Word' && node.parts === undefined) return
  if (node.type === 'Script') {
    walkScript(node as ParsedScript, deeper(scope, { forked: true }), report) // `as`: Script nodes inside words are parsed ones
    return
  }
  countStep(report)
  if (node.type === 'Word' && /\$\(\([\s\S]*(?:;|\n|\bcase\b)/.test(node.text))
    walkAmbiguous(node.text, scope, report)
  if (node.type === 'ParameterExpansion' && (node.prefix === '!' || node.operation?.type === 'Transform')) {
    note(report, 'unknown', `\`${node.text}\` can run code that is hidden in a variable.`)
    if (node.index === undefined) report.startsUnknown = true
  }
  forEachChild(node, child => walkEmbedded(child, scope, report))
}

/** `$((a; b) ; c)` is no arithmetic to bash but `$( (a; b) ; c)`; with a `case` inside the parser loses the end of it. */
function walkAmbiguous(text: string, scope: Scope, report: Report): void {
  note(report, 'unknown', 'A part of the line can be read as arithmetic or as a command.')
  walkText(`echo ${text.replaceAll('$((', '$( (')}`, deeper(scope, { forked: true }), report)
}
