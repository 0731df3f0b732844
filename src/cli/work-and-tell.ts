import { existsSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { RunEvent } from '../agents/events.ts'
import { twice } from '../agents/limits.ts'
import { toRehearsal } from '../agents/rehearsal.ts'
import type { RunRecord } from '../agents/run-record.ts'
import { toFileText } from '../agents/without-fence.ts'
import { laterApprover } from '../core/approval.ts'
import { stricterMode } from '../core/authority.ts'
import type { Mode } from '../core/decision.ts'
import { toLine } from '../core/visible.ts'
import { listCallsOfRun } from '../store/tables/tool-executions.ts'
import { type CommandContext, flag, textOption, UsageError } from './command.ts'
import { EXIT } from './exit-codes.ts'
import { type RunSession, readOnAsk } from './run-session.ts'
import { createRunView, type RunView } from './run-view.ts'

/** Before a run costs anything: what it says could not be written down at its end. */
export function checkFiles({ values, cwd }: CommandContext): void {
  for (const name of ['record', 'output']) {
    const file = textOption(values, name)
    if (file !== undefined && !existsSync(dirname(resolve(cwd, file))))
      throw new UsageError(`--${name}: there is no folder '${dirname(file)}'.`)
  }
}

/** Works on a run, shows what happens, and ends with a summary and an exit code. */
export async function workAndTell(
  context: CommandContext,
  session: RunSession,
  run: RunRecord,
): Promise<number> {
  const { output, signal, values } = context
  const lines = flag(values, 'ndjson')
  const quietly = output.json || lines
  const view = createRunView(output, text => {
    if (!quietly) process.stdout.write(text)
  })
  const onEvent = (event: RunEvent): void => {
    if (lines) output.object({ run: run.id, at: new Date().toISOString(), ...event })
    view.show(event)
  }
  output.note(headline(run, output.signs.begins, session.loaded.config.mode))
  if (session.approver !== laterApprover) await answerWaiting(context, session, run)
  const started = performance.now()
  const work = (taken: RunRecord): Promise<RunRecord> =>
    session.runs.work(taken, { signal, onEvent, approver: session.approver })
  const ended = await workOn(context, session, await work(run), work)
  view.endLine()
  const calls = await listCallsOfRun(session.database, ended.id)
  const ambiguous = calls.filter(call => call.isAmbiguous).map(call => call.tool)
  await record(context, session, ended)
  saveOutput(context, session, ended)
  if (output.json) output.object(toJson(ended, { view, ambiguous }))
  else
    output.note(
      summary(ended, { view, ambiguous }, performance.now() - started, resumeArguments(context, ended)),
    )
  if (await wantsMore(context, session, ended)) {
    return workAndTell(context, session, await session.runs.take(ended.id, twice(ended.spec.limits)))
  }
  return exitCode(ended, view.denied.length > 0 && !flag(values, 'denials-ok'))
}

/** With `--on-ask wait`, past every question that is answered in time. */
async function workOn(
  context: CommandContext,
  session: RunSession,
  run: RunRecord,
  work: (run: RunRecord) => Promise<RunRecord>,
): Promise<RunRecord> {
  if (readOnAsk(context.values) !== 'wait') return run
  const { goOnAfterAnswers } = await import('./await-answers.ts')
  let stand = run
  for (;;) {
    if (stand.stopReason !== 'awaiting_approval') return stand
    const next = await goOnAfterAnswers(context, session, stand, work)
    if (next === stand) return stand
    stand = next
  }
}

/** At a limit, a person at the terminal can say that the run is to go on (`limits.on_limit`). */
async function wantsMore(
  { output, stdin }: CommandContext,
  { loaded, approver }: RunSession,
  { stopReason, status, spec }: RunRecord,
): Promise<boolean> {
  const { onLimit = loaded.config.limits.on_limit } = spec.limits
  const isHere = approver !== laterApprover && stdin.isTTY === true
  // A budget of all runs is raised in the configuration, not in passing.
  if (stopReason !== 'limit_reached' || status === 'pending' || onLimit !== 'ask' || !isHere) return false
  output.note('Go on with twice the limits? y | n')
  const { createInterface } = await import('node:readline/promises')
  const lines = createInterface({ input: stdin, output: process.stderr })
  try {
    return (await lines.question('> ')).trim().toLowerCase() === 'y'
  } finally {
    lines.close()
    stdin.pause()
  }
}

/** Questions that were left in the inbox are asked here first: the person is at the terminal now. */
async function answerWaiting(
  { signal }: CommandContext,
  { runtime, approver }: RunSession,
  run: RunRecord,
): Promise<void> {
  for (const question of await runtime.listQuestions()) {
    if (question.runPath[0] !== run.id || question.answer !== null) continue
    const answer = await approver.ask(question, signal, {})
    if ('user' in answer) await runtime.answerQuestion(question.id, answer)
  }
}

function headline(run: RunRecord, begins: string, here: Mode): string {
  const { spec } = run
  const what = spec.model.startsWith('rehearsal:') ? `${spec.model} (a script, not a model)` : spec.model
  const { mode: begun = here } = spec.authority
  const mode = stricterMode(here, begun)
  const began = mode === begun ? '' : `; it began with ${begun}: --mode ${begun}`
  return `${begins} run ${run.id.slice(0, 8)}  ${toLine(what)}  mode ${mode}${began}`
}

async function record({ values, cwd }: CommandContext, { runs }: RunSession, run: RunRecord): Promise<void> {
  const file = textOption(values, 'record')
  if (file === undefined) return
  const script = toRehearsal(await runs.messages(run), run.spec.task)
  writeFileSync(resolve(cwd, file), runs.redactText(script), { mode: 0o600 })
}

function saveOutput({ values, cwd }: CommandContext, { runs }: RunSession, { output }: RunRecord): void {
  const file = textOption(values, 'output')
  if (file !== undefined) writeFileSync(resolve(cwd, file), toFileText(runs.redactText(output ?? ''), file))
}

interface Seen {
  readonly view: RunView
  /** Tools whose calls were interrupted, in this process or before it. */
  readonly ambiguous: readonly string[]
}

/** A looser mode is a person's choice for one command, and has to be made again. */
function resumeArguments({ values }: CommandContext, { id }: RunRecord): string {
  const mode = textOption(values, 'mode')
  return mode === undefined ? id : `${id} --mode ${mode}`
}

/** What changed, what was refused, what it cost, and how to go on or back. */
function summary(run: RunRecord, { view, ambiguous }: Seen, ms: number, resume: string): string {
  const { denied, changed, waiting } = view
  const cost = run.costUsd === null ? 'cost unknown' : `$${run.costUsd.toFixed(4)}`
  const lines = [`${outcome(run, view)}  ${(ms / 1000).toFixed(1)} s  ${run.tokens} tokens  ${cost}`]
  if (run.error !== null) lines.push(`  ${toLine(run.error)}`)
  for (const { tool, reason } of denied) lines.push(`  refused: ${tool}: ${toLine(reason)}`)
  for (const tool of ambiguous) lines.push(`  interrupted, effect unknown: ${tool}`)
  if (changed.size > 0) {
    lines.push(`  changed: ${[...changed].map(path => toLine(path)).join(', ')}`)
    lines.push(`  To take all of it back: kogu undo --run ${run.id}`)
  }
  for (const question of waiting) lines.push(`  waits for you: kogu approvals show ${question}`)
  if (run.stopReason === 'awaiting_plan')
    lines.push(`  its plan waits for you: kogu runs approve ${run.id}, or reject`)
  else if (run.status === 'pending') lines.push(`  It can go on: kogu runs resume ${resume}`)
  return lines.join('\n')
}

function outcome({ status, stopReason }: RunRecord, { denied }: RunView): string {
  switch (status) {
    case 'completed':
      return denied.length > 0 ? 'done with denials' : 'done'
    case 'pending':
      return stopReason === 'awaiting_approval' ? 'waits for approval' : (stopReason ?? 'paused')
    case 'failed':
      return stopReason === 'limit_reached' ? 'limit reached' : 'failed'
    case 'cancelled':
      return 'stopped'
    case 'running':
      return 'running'
  }
}

export function exitCode(
  run: Pick<RunRecord, 'status' | 'stopReason' | 'errorKind'>,
  isDenied: boolean,
): number {
  const { status, stopReason, errorKind } = run
  if (status === 'completed') return isDenied ? EXIT.denied : EXIT.ok
  if (stopReason === 'awaiting_approval' || stopReason === 'awaiting_plan') return EXIT.needsPerson
  if (stopReason === 'limit_reached' || stopReason === 'loop_detected') return EXIT.limit
  if (status === 'pending' || status === 'cancelled') return EXIT.interrupted
  if (errorKind === 'credentials') return EXIT.credentials
  return errorKind === 'unavailable' || errorKind === 'rate_limited' ? EXIT.unreachable : EXIT.failed
}

/** The contract of `--json`. */
function toJson(run: RunRecord, { view, ambiguous }: Seen): Record<string, unknown> {
  const { denied, changed, waiting } = view
  const { id, status, stopReason, output, error, costUsd, tokens, calls, spec, turn } = run
  return {
    schema: 'kogu.run/1',
    id,
    status: status === 'completed' && denied.length > 0 ? 'finished_with_denials' : status,
    stop_reason: stopReason,
    model: spec.model,
    text: output,
    denied,
    ambiguous,
    waiting,
    files: [...changed],
    usage: { tokens, calls, turns: turn - 1 },
    cost_usd: costUsd === null ? null : costUsd.toFixed(6),
    error,
  }
}
