import { type RunRecord, type RunStatus, requireHome } from '../../agents/run-record.ts'
import { counted } from '../../core/counted.ts'
import { toBlock, toLine, underMargin } from '../../core/visible.ts'
import { findRunSpecAgain, requirePrice } from '../../run-spec.ts'
import type { Runtime } from '../../runtime.ts'
import type { Database } from '../../store/database/database.ts'
import {
  type Command,
  type CommandContext,
  countOption,
  flag,
  isRemote,
  SERVER_OPTION,
  textOption,
  UsageError,
  unknownVerb,
} from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { table } from '../output.ts'
import { givenLimits } from '../run-options.ts'
import { findRunId, withDatabase, withRuns } from '../run-session.ts'
import { createRunView, subjectOf } from '../run-view.ts'
import { checkFiles, workAndTell } from '../work-and-tell.ts'

const VERBS = [
  'list',
  'show',
  'tail',
  'stop',
  'pause',
  'resume',
  'rerun',
  'say',
  'approve',
  'reject',
] as const

export const runs: Command = {
  help: `
List, watch and steer agents' runs.

  kogu runs list --status pending
  kogu runs show 3f2a
  kogu runs resume 3f2a --max-turns 50

  kogu runs list [--status S] [--all] [--limit N]    of this workspace, or of all
  kogu runs show ID        the task, the answers, the calls, what changed and what was refused
  kogu runs tail ID        follow it from the beginning until it ends; --ndjson for programs
  kogu runs say ID TEXT    send a message; the agent reads it in its next turn. --agent NAME_OR_ID: to one sub-agent
  kogu runs pause|stop ID  within a second; it can be resumed. stop --after-step: after the current step
  kogu runs stop ID --agent NAME_OR_ID    stop one sub-agent and everything below it; the run goes on
  kogu runs resume ID      continue after a pause, crash, approval or limit; raise limits with --max-turns, --max-cost, …
                           --on-ask, --ask-timeout and --output as in kogu run; other options stay as they were;
                           --mode at most what the run began with
  kogu runs approve|reject ID    answer the plan of a run with --orchestration approval
  kogu runs rerun ID       the same task again, as a new run, with at most what its agent or panel may do now

--server URL: list, show, tail, say, pause, stop and resume runs of a kogu serve elsewhere; token in KOGU_TOKEN
A run survives a crash. An interrupted call with side effects is shown and never repeated.
See also: kogu run, kogu approvals, kogu undo --run ID
`,
  options: {
    status: { type: 'string' },
    all: { type: 'boolean' },
    limit: { type: 'string' },
    ndjson: { type: 'boolean' },
    'on-ask': { type: 'string' },
    'ask-timeout': { type: 'string' },
    output: { type: 'string' },
    'denials-ok': { type: 'boolean' },
    'max-turns': { type: 'string' },
    'max-cost': { type: 'string' },
    'max-tokens': { type: 'string' },
    'max-time': { type: 'string' },
    'max-calls': { type: 'string' },
    mode: { type: 'string' },
    'after-step': { type: 'boolean' },
    agent: { type: 'string' },
    ...SERVER_OPTION,
  },
  words: { list: 1, show: 2, tail: 2, stop: 2, pause: 2, resume: 2, rerun: 2, approve: 2, reject: 2 },
  async run(context) {
    if (flag(context.values, 'after-step') && context.positionals[0] !== 'stop')
      throw new UsageError('--after-step works only with: kogu runs stop ID')
    if (context.values.agent !== undefined) requireOneAgent(context)
    if (isRemote(context)) return (await import('../remote.ts')).runsAtServer(context)
    const [verb = 'list', start, ...rest] = context.positionals
    if (verb === 'list') return list(context)
    if (!VERBS.some(known => known === verb)) throw unknownVerb('runs', verb, VERBS)
    if (start === undefined) throw new UsageError('Which run?', 'See: kogu runs list')
    switch (verb) {
      case 'show':
        return withDatabase(context, database => show(context, database, start))
      case 'tail':
        return withDatabase(context, database => tail(context, database, start))
      case 'pause':
        return withDatabase(context, database => pause(context, database, start))
      case 'stop':
        return withDatabase(context, database => stop(context, database, start))
      case 'say':
        return withDatabase(context, database => say(context, database, start, rest))
      case 'approve':
      case 'reject':
        return decidePlan(context, start, verb)
      case 'rerun':
        return rerun(context, start)
      default:
        return resume(context, start)
    }
  },
}

/** Whoever means one sub-agent must not reach the whole run. */
function requireOneAgent({ values, positionals: [verb] }: CommandContext): void {
  if (verb !== 'stop' && verb !== 'say')
    throw new UsageError('--agent works only with kogu runs stop and say.')
  if (flag(values, 'after-step')) throw new UsageError('--agent and --after-step cannot be combined.')
}

const STATUSES: readonly RunStatus[] = ['pending', 'running', 'completed', 'failed', 'cancelled']

async function list(context: CommandContext): Promise<number> {
  const { values, output } = context
  const wanted = textOption(values, 'status')
  const status = STATUSES.find(known => known === wanted)
  if (wanted !== undefined && status === undefined)
    throw new UsageError(`--status takes ${STATUSES.join(', ')}.`)
  const { runPlace } = await import('../run-place.ts')
  const place = flag(values, 'all') ? undefined : runPlace(context)
  return withDatabase(context, async database => {
    const { listRuns } = await import('../../store/tables/workflow-runs.ts')
    const found = await listRuns(database, {
      limit: countOption(values, 'limit') ?? 20,
      ...(status === undefined ? {} : { status }),
      place,
    })
    if (output.json) output.object(found.map(toJson))
    else if (found.length === 0) output.note('No runs yet. Start one: kogu run "…"')
    else output.data(table(found.map(toRow)))
    return EXIT.ok
  })
}

function toRow(run: RunRecord): string[] {
  const cost = run.costUsd === null ? 'unknown' : `$${run.costUsd.toFixed(4)}`
  const state =
    run.stopReason === null || run.stopReason === 'end_turn'
      ? run.status
      : `${run.status} (${run.stopReason})`
  const task = toLine(run.spec.task.split('\n')[0] ?? '', 60)
  return [
    run.id.slice(0, 8),
    state,
    run.createdAt.toISOString().slice(0, 16),
    counted(run.calls, 'call'),
    cost,
    task,
  ]
}

function toJson(run: RunRecord): Record<string, unknown> {
  const {
    id,
    status,
    stopReason,
    error,
    output,
    spec,
    workspace,
    createdAt,
    completedAt,
    costUsd,
    tokens,
    calls,
  } = run
  return {
    id,
    status,
    stop_reason: stopReason,
    error,
    text: output,
    task: spec.task,
    model: spec.model,
    agent: spec.agent ?? null,
    workspace,
    created_at: createdAt.toISOString(),
    completed_at: completedAt?.toISOString() ?? null,
    cost_usd: costUsd === null ? null : costUsd.toFixed(6),
    tokens,
    calls,
  }
}

async function show({ output }: CommandContext, database: Database, start: string): Promise<number> {
  const run = await requireRun(database, start)
  const [{ listMessages }, { listCallsOfRun }, { orchestrationOfRun }] = await Promise.all([
    import('../../store/tables/agent-messages.ts'),
    import('../../store/tables/tool-executions.ts'),
    import('../../store/tables/orchestration-runs.ts'),
  ])
  // Whoever is to say yes to it wants to see it.
  const plan = run.stopReason === 'awaiting_plan' ? (await orchestrationOfRun(database, run.id))?.plan : null
  const calls = await listCallsOfRun(database, run.id)
  const messages = await listMessages(database, run.execution)
  if (output.json) {
    output.object({ ...toJson(run), calls, messages, plan })
    return EXIT.ok
  }
  output.data(
    [
      table([toRow(run)]),
      `model  ${toLine(run.spec.model)}`,
      `task   ${underMargin(run.spec.task, '       ')}`,
      ...(run.error === null ? [] : [`error  ${toLine(run.error)}`]),
      ...(plan?.steps.map(({ name, input }) => `plan   ${toLine(name)} ${toLine(subjectOf(input))}`) ?? []),
      ...calls.map(call => {
        const state = call.isAmbiguous
          ? '? interrupted, effect unknown'
          : call.isError
            ? `${output.signs.failed} ${call.errorCode}`
            : output.signs.ok
        const who = call.agent === null ? '' : `${toLine(call.agent)} › `
        return `  ${state}  ${who}${call.tool} ${toLine(subjectOf(call.input))}  ${call.durationMs} ms`
      }),
      ...(run.output === null ? [] : ['', toBlock(run.output)]),
    ].join('\n'),
  )
  return EXIT.ok
}

const TAIL_MS = 300

async function tail(context: CommandContext, database: Database, start: string): Promise<number> {
  const { output, signal, values } = context
  const id = await findRunId(database, start)
  const { listEvents } = await import('../../store/tables/run-events.ts')
  const view = createRunView(output, text => {
    if (!flag(values, 'ndjson')) process.stdout.write(text)
  })
  const { setTimeout: sleep } = await import('node:timers/promises')
  for (let after = 0; !signal.aborted; ) {
    const run = await requireRun(database, id)
    const events = await listEvents(database, { run: id, after })
    for (const { seq, at, event } of events) {
      after = seq
      if (flag(values, 'ndjson')) output.object({ seq, run: id, at: at.toISOString(), ...event })
      else view.show(event)
    }
    if (events.length === 0 && run.status !== 'running') {
      view.endLine()
      output.note(`${run.status}${run.stopReason === null ? '' : ` (${run.stopReason})`}`)
      return EXIT.ok
    }
    if (events.length === 0) await sleep(TAIL_MS, undefined, { signal }).catch(() => undefined)
  }
  return EXIT.interrupted
}

async function pause(context: CommandContext, database: Database, start: string): Promise<number> {
  const { output } = context
  const run = await requireOwnRun(context, database, start)
  const { requestRun } = await import('../../store/tables/workflow-runs.ts')
  await requestRun(database, run.id, 'pause')
  if (output.json) output.object({ id: run.id, requested: 'pause', was: run.status })
  else if (run.status === 'running') output.note('Asked to pause.')
  else if (run.status === 'pending') output.note(`It stays where it is until: kogu runs resume ${run.id}`)
  else output.note(`It was not running (${run.status}).`)
  return EXIT.ok
}

async function stop(context: CommandContext, database: Database, start: string): Promise<number> {
  const { output } = context
  const run = await requireOwnRun(context, database, start)
  const [{ stopRun }, { openRuntime }] = await Promise.all([
    import('../../store/runs/stop-run.ts'),
    import('../open-runtime.ts'),
  ])
  const runtime = await openRuntime(context)
  try {
    const agent = textOption(context.values, 'agent')
    if (agent !== undefined) return await stopOne(context, database, { run, agent, runtime })
    const wish = flag(context.values, 'after-step') ? 'stop_after_step' : 'stop'
    const hasEnded = await stopRun(database, run, runtime.withdrawQuestions, wish)
    if (output.json) output.object({ id: run.id, requested: wish, was: run.status })
    else if (hasEnded) output.note('Stopped. Its open questions were withdrawn.')
    else if (run.status !== 'running') output.note(`It was not running (${run.status}).`)
    else output.note(wish === 'stop' ? 'Asked to stop.' : 'It will stop after the current step.')
    return EXIT.ok
  } finally {
    await runtime.close()
  }
}

interface OneAgent {
  readonly run: RunRecord
  readonly agent: string
  readonly runtime: Pick<Runtime, 'withdrawQuestions'>
}

async function stopOne(
  { output }: CommandContext,
  database: Database,
  { run, agent, runtime }: OneAgent,
): Promise<number> {
  const execution = await findExecution(database, run.id, agent)
  const { stopAgent } = await import('../../store/runs/stop-agent.ts')
  await stopAgent(database, { run: run.id, execution }, runtime.withdrawQuestions)
  if (output.json) output.object({ id: run.id, agent: execution, requested: 'stop' })
  else output.note('Asked to stop, with everything below it. Their open questions were withdrawn.')
  return EXIT.ok
}

async function findExecution(database: Database, run: string, agent: string): Promise<string> {
  const { listRunAgents } = await import('../../store/tables/run-details.ts')
  const { matchAgent } = await import('../match-agent.ts')
  const agents = (await listRunAgents(database, run)).map(({ execution, name, parent, completedAt }) => ({
    ...{ execution, name: name ?? '', isAtWork: parent !== null && completedAt === null },
  }))
  return matchAgent(agent, agents)
}

async function say(
  context: CommandContext,
  database: Database,
  start: string,
  words: readonly string[],
): Promise<number> {
  const { output } = context
  const text = words.join(' ').trim()
  if (text === '') throw new UsageError('Say what?', 'kogu runs say ID "…"')
  const run = await requireOwnRun(context, database, start)
  const agent = textOption(context.values, 'agent')
  const execution = agent === undefined ? undefined : await findExecution(database, run.id, agent)
  const { say: sayTo } = await import('../../store/runs/say-to-run.ts')
  const goesOn = await sayTo(database, run, text, execution)
  if (output.json) output.object({ id: run.id, said: text })
  else if (goesOn) output.note(`A server goes on with it by itself; otherwise: kogu runs resume ${run.id}`)
  else if (run.status === 'running') output.note('The agent gets it with the next turn.')
  else output.note(`To continue the run with it: kogu runs resume ${run.id}`)
  return EXIT.ok
}

async function resume(context: CommandContext, start: string): Promise<number> {
  checkFiles(context)
  return withRuns(context, async session => {
    const { id, spec } = await requireRun(session.database, start)
    const given = givenLimits(context)
    requirePrice(session.runs.models.find(spec.model), given)
    const run = await session.runs.take(id, { ...spec.limits, ...given })
    return workAndTell(context, session, run)
  })
}

async function decidePlan(
  context: CommandContext,
  start: string,
  verb: 'approve' | 'reject',
): Promise<number> {
  return withRuns(context, async session => {
    const id = await session.findId(start)
    if (verb === 'approve') {
      await session.runs.approvePlan(id)
      return workAndTell(context, session, await session.runs.take(id))
    }
    await session.runs.rejectPlan(id)
    if (context.output.json) context.output.object({ id, status: 'failed', stop_reason: 'denied' })
    else context.output.note('The plan is rejected; nothing of it was done.')
    return EXIT.ok
  })
}

async function rerun(context: CommandContext, start: string): Promise<number> {
  return withRuns(context, async session => {
    const { spec } = await requireOwnRun(context, session.database, start)
    const { mode } = session.loaded.config
    const again = await findRunSpecAgain(session, spec, {
      ...{ mayApprove: true, startedBy: 'cli' },
      ...(context.values.mode === undefined ? {} : { mode }),
    })
    return workAndTell(context, session, await session.runs.create(again))
  })
}

/** To look at a run is possible from anywhere; to steer it takes its own folder. */
async function requireOwnRun(context: CommandContext, database: Database, start: string): Promise<RunRecord> {
  const run = await requireRun(database, start)
  const { runPlace } = await import('../run-place.ts')
  requireHome(run, runPlace(context))
  return run
}

async function requireRun(database: Database, start: string): Promise<RunRecord> {
  const { findRun } = await import('../../store/tables/workflow-runs.ts')
  const id = await findRunId(database, start)
  const run = await findRun(database, id)
  if (run === undefined) throw new UsageError(`There is no run '${start}'.`, 'See: kogu runs list')
  return run
}
