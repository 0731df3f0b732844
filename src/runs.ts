import { randomUUID } from 'node:crypto'
import { LostRun, takeDurableTurn } from './agents/durable-turn.ts'
import type { Plan, RunEvent } from './agents/events.ts'
import type { RunLimits } from './agents/limits.ts'
import type { LoopState } from './agents/loop-state.ts'
import type { Message } from './agents/messages.ts'
import type { Models } from './agents/models/models.ts'
import { isPlan, toPlan } from './agents/plan.ts'
import { hasActed } from './agents/plan-review.ts'
import { createPurse } from './agents/purse.ts'
import { type Control, createControl } from './agents/run-control.ts'
import { type RunRecord, type RunSpec, requireHome } from './agents/run-record.ts'
import { createRunsAtWork } from './agents/runs-at-work.ts'
import { createSlots } from './agents/slots.ts'
import { type Standstill, toEvent, toStandstill } from './agents/standstill.ts'
import { SUB_AGENT_TOOLS } from './agents/sub-agent-tools.ts'
import type { Environment } from './config/environment.ts'
import { createStateFolder } from './config/init.ts'
import type { LoadedConfig } from './config/load.ts'
import type { Approver } from './core/approval.ts'
import type { AuthorityWish } from './core/authority.ts'
import { toToolError } from './core/errors.ts'
import { compileLinear } from './core/linear-pattern.ts'
import { localProvider, PRIORITY } from './core/provider.ts'
import { createRedactor, type Redactor } from './core/redact.ts'
import { addLabel } from './core/run.ts'
import { openModels } from './models.ts'
import {
  awaitsPlanReview,
  endWithPlan,
  keepSpending,
  planTogether,
  type RunReview,
  reviewOutcome,
  reviewPlan,
} from './run-review.ts'
import type { Runtime } from './runtime.ts'
import { type Database, isOutage } from './store/database/database.ts'
import { markState } from './store/own-state.ts'
import { answerPlanOf, type PlanAnswer } from './store/runs/answer-plan.ts'
import { checkBudget } from './store/runs/budget.ts'
import { type DurableRuns, openDurableRuns } from './store/runs/durable-runs.ts'
import { createEventWriter } from './store/runs/event-writer.ts'
import { withdrawAgent } from './store/runs/stop-agent.ts'
import { tellStopped } from './store/runs/stop-run.ts'
import { listMessages } from './store/tables/agent-messages.ts'
import { cancelApprovals } from './store/tables/approvals.ts'
import {
  finishOrchestration,
  insertOrchestration,
  type Orchestration,
  orchestrationOfRun,
  REJECTED,
  savePlan,
} from './store/tables/orchestration-runs.ts'
import { waitingMessages } from './store/tables/run-messages.ts'
import type { RunPlace } from './store/tables/run-place.ts'
import { requeueRun } from './store/tables/run-queue.ts'
import { findRun, ownedRuns, wishOf } from './store/tables/workflow-runs.ts'
import { workspaceId } from './store/workspace-id.ts'
import { createSubAgents, mayOrchestrate, type Orchestrator, type SubAgentDesk } from './sub-agents.ts'
import { createTurnContext } from './turn-context.ts'

// Agents' runs on the database: what doors call to start one, continue it and look at it. Loaded only by what needs the
// database; `kogu call`, `explain`, `undo`, `audit` and `mcp` never come here.

export interface RunsOptions {
  readonly loaded: LoadedConfig
  readonly environment: Environment
  readonly runtime: Runtime
  readonly database: Database
}

interface WorkOptions {
  readonly approver?: Approver
  /** Aborted: the run pauses. */
  readonly signal?: AbortSignal
  onEvent?(event: RunEvent): void
}

export interface Runs {
  readonly models: Models
  /** Whose runs these are: of this person, in this folder. */
  readonly place: RunPlace & { readonly user: string }
  /** What this process is called where a run says who works on it. */
  readonly executor: string
  /** Writes down a new run, under an id that the caller may have chosen; `work` does the rest. */
  create(spec: RunSpec, id?: string): Promise<RunRecord>
  /** Takes over a run of this folder that nobody works on, also one that ended early; `work` continues it. */
  take(id: string, limits?: RunLimits): Promise<RunRecord>
  /** The same for a run that is still owned, and whose owner does not work on it any longer. */
  rescue(id: string): Promise<RunRecord>
  /** Works on a run until it ends, pauses or waits for somebody. Returns how it stands then. */
  work(run: RunRecord, options?: WorkOptions): Promise<RunRecord>
  messages(run: RunRecord): Promise<Message[]>
  /** A person's yes to the plan of a run that waits for it; `take` and `work` continue it. */
  approvePlan(id: string): Promise<void>
  /** A person's no: the run has failed, and nothing of its plan was done. */
  rejectPlan(id: string): Promise<void>
  /** For what is kept outside of the database. */
  redactText(text: string): string
  /** Runs of this workspace whose process is gone. */
  interrupted(): Promise<string[]>
  /** Runs that this process owns and does not work on: something went wrong between the two. */
  orphaned(): Promise<string[]>
  /** The same for another workspace. A process has one engine, so this one has to stay open meanwhile. */
  elsewhere(place: Pick<RunsOptions, 'loaded' | 'runtime'>): Promise<Runs>
  close(): Promise<void>
}

export async function openRuns(options: RunsOptions): Promise<Runs> {
  const { approval_timeout: lifetimeMs } = options.loaded.config.permissions
  return openWith(options, await openDurableRuns(options.database, lifetimeMs), true)
}

async function openWith(options: RunsOptions, durable: DurableRuns, isOwner: boolean): Promise<Runs> {
  const { database, runtime, environment } = options
  const models = openModels(options.loaded, environment)
  const { patterns } = options.loaded.config.redaction
  const redactor = createRedactor({ values: environment.secrets, patterns: patterns.map(compileLinear) })
  const user = environment.variables.USER ?? environment.variables.USERNAME ?? 'local'
  const subAgents = createSubAgents({ ...options, durable, redactor })
  const withdraw = await runtime.registerProvider(
    localProvider('agents', 'Sub-agents', PRIORITY.builtin, subAgents.tools),
  )
  // What another Kogu left is set aside before anything of ours is written, so that ours is not taken for it.
  await runtime.recover()
  markState(runtime.places, runtime.workspace)
  if (runtime.places.inWorkspace) createStateFolder(runtime.workspace)
  const place = {
    workspace: runtime.workspace,
    workspaceId: await workspaceId(runtime.places),
    user,
  }
  const atWork = createRunsAtWork()
  const spending = keepSpending(options)
  return {
    models,
    place,
    executor: durable.executor,
    create: (spec, id = randomUUID()) => atWork.begin(id, () => durable.create(spec, place, id)),
    take: (id, limits) => atWork.begin(id, () => durable.take(id, place, limits)),
    rescue: id =>
      atWork.begin(id, async () => {
        const run = await durable.rescue(id, place)
        await runtime.recoverAgain()
        return run
      }),
    redactText: redactor.text,
    async work(run, how = {}) {
      try {
        return await work({ ...options, durable, models, redactor, subAgents, spending }, run, how)
      } finally {
        atWork.end(run.id)
      }
    },
    async orphaned() {
      const owned = await ownedRuns(database, place)
      return owned.flatMap(({ id, executor }) =>
        executor === durable.executor && !atWork.has(id) ? [id] : [],
      )
    },
    messages: ({ execution }) => listMessages(database.hurried, execution),
    approvePlan: id => decidePlan(database.hurried, id, 'approve', place),
    rejectPlan: id => decidePlan(database.hurried, id, 'reject', place),
    interrupted: () => durable.interrupted(place),
    elsewhere: other => openWith({ ...options, ...other }, durable, false),
    async close() {
      await withdraw()
      await spending.close()
      if (isOwner) await durable.close()
    },
  }
}

interface Parts extends RunsOptions {
  readonly redactor: Redactor
  readonly durable: DurableRuns
  readonly models: Models
  readonly subAgents: SubAgentDesk
  readonly spending: ReturnType<typeof keepSpending>
}

async function work(parts: Parts, run: RunRecord, how: WorkOptions): Promise<RunRecord> {
  const { durable, database } = parts
  const writer = createEventWriter(database, run.id, run.execution)
  const control = createControl(how.signal)
  // Somebody wished it before this process took the run.
  if (run.requested !== null) control.wish(run.requested)
  const unwatch = durable.watch(run.id, control)
  const emit = (event: RunEvent): void => {
    const shown = parts.redactor.value(event)
    writer.emit(shown)
    how.onEvent?.(shown)
  }
  try {
    const orchestration = await findOrBegin(parts, run)
    const stand = await takeTurns(parts, run, { ...how, emit, control, orchestration })
    if (orchestration !== undefined) {
      const { output } = await durable.look(run.id)
      await endOrchestration(database, orchestration, { status: stand.status, output }, emit)
    }
    if (stand.status === 'cancelled') {
      await cancelApprovals(database, run.id)
      await parts.runtime.withdrawQuestions(run.id)
    }
    emit(toEvent(stand))
    await writer.flush()
    await parts.spending.written()
    await leave(parts, run, stand)
    if (stand.status === 'completed') await goOnWithLate(parts, run)
    return await durable.look(run.id)
  } catch (error) {
    // Without the database, or room on the disk, it stays ours: the worker of this process, or of the next one, goes on with
    // it when they are back. Otherwise nobody must own a run that nobody works on. Where it stands is written down.
    if (!(error instanceof LostRun) && !isOutage(error)) {
      const { message } = toToolError(error)
      await leave(parts, run, { status: 'pending', stopReason: 'interrupted', error: message })
    }
    throw error
  } finally {
    unwatch()
    await writer.flush()
  }
}

/** Lets the run go, and does what was wished while it began to stand still: nobody else looks at the wishes by then. */
async function leave(parts: Parts, run: RunRecord, stand: Standstill): Promise<void> {
  const { database, durable, runtime } = parts
  if (await durable.release(run.id, stand)) await tellStopped(database, run, runtime.withdrawQuestions)
  if (stand.status !== 'pending') return
  const { stopped = [] } = (await wishOf(database, run.id)) ?? {}
  for (const execution of stopped)
    await withdrawAgent(database, { run: run.id, execution }, runtime.withdrawQuestions)
}

/** Somebody said something while it was put away: a run that has ended goes on to read it. */
async function goOnWithLate({ database }: Parts, { id }: RunRecord): Promise<void> {
  if ((await waitingMessages(database, id, null)).length > 0) await requeueRun(database, id)
}

interface Work extends WorkOptions {
  readonly orchestration: Orchestration | undefined
  readonly control: Control
  emit(event: RunEvent): void
}

async function takeTurns(
  parts: Parts,
  run: RunRecord,
  { approver, emit, control, onEvent, orchestration }: Work,
): Promise<Standstill> {
  const { runtime, durable, loaded, subAgents } = parts
  const { spec } = run
  // Going on is no approval.
  if (orchestration?.status === 'awaiting_approval') return { status: 'pending', stopReason: 'awaiting_plan' }
  if (orchestration?.status === 'rejected') return { status: 'failed', stopReason: 'denied', error: REJECTED }
  const model = parts.models.find(spec.model)
  const store = durable.storeFor(
    { run: run.id, execution: run.execution, task: spec.task },
    model,
    parts.redactor,
  )
  const orchestrates = spec.orchestration !== undefined && mayOrchestrate(loaded, 0)
  const core = await runtime.openRun({
    id: run.id,
    task: spec.task,
    authority: {
      ...(orchestrates ? withSubAgents(spec.authority) : spec.authority),
      // An approved plan says what comes first, and not what each call does.
      ...(orchestration?.mode === 'approval' ? { confirm: true } : {}),
    },
    ...(approver === undefined ? {} : { approver }),
  })
  for (const label of spec.labels ?? []) addLabel(core, label)
  const orchestrator: Orchestrator = {
    ...{ run, execution: run.execution, core, store, model, orchestrates, emit },
    ...{ limits: spec.limits, temperature: spec.temperature, maxTokens: spec.maxTokens, system: spec.system },
    ...{ signal: control.signal, control, depth: 0, nested: { count: 0 } },
    purse: createPurse(),
    slots: createSlots(loaded.config.agents.max_parallel),
    tell: event => onEvent?.(event),
  }
  const context = createTurnContext(parts, orchestrator)
  const leave = orchestrates ? subAgents.join(orchestrator) : () => undefined
  try {
    emit({ type: 'run.started', model: model.id, task: run.spec.task, resumed: run.turn > 1 })
    const review = reviewOf(parts, run, { store, emit, signal: control.signal })
    const before = await store.load()
    if (review !== undefined) await planTogether(review, parts.database, before)
    // The first answer of an orchestrator whose plan a person or the reviewers want to see.
    const isPlanning = orchestration !== undefined && orchestration.plan === null
    const toPerson = orchestration?.mode === 'approval'
    const isPlanOnly = review?.board.scope === 'plan-only' && !hasActed(before)
    const awaits = toPerson || (review !== undefined && awaitsPlanReview(review, before))
    let holds = isPlanOnly || (isPlanning && awaits)
    for (let { turn } = run; ; turn += 1) {
      await parts.spending.written()
      const budget = await checkBudget(parts.database, parts.loaded.config.limits.budget, new Date())
      if (budget?.exceeded === true)
        return { status: 'pending', stopReason: 'limit_reached', error: budget.sentence }
      if (budget !== undefined && turn === run.turn) emit({ type: 'budget.warning', text: budget.sentence })
      const current = { ...context, holdsCalls: holds }
      const wish = await durable.turn({ run: run.id, turn }, () => takeDurableTurn(current))
      if (wish !== null) control.wish(wish)
      const state = await store.load()
      if (holds && orchestration !== undefined && isPlan(state, control.wished())) {
        const plan = toPlan(state)
        // A plan that a person has approved needs no other verdict.
        const verdict = review === undefined || !isPlanning ? 'passed' : await reviewPlan(review, state, plan)
        if (typeof verdict === 'object') return verdict
        if (verdict === 'revise') continue
        if (verdict === 'passed' && isPlanOnly) return endWithPlan(review, state, plan)
        if (toPerson || verdict === 'person') return proposePlan(parts, orchestration, { plan, state, emit })
        holds = false
        continue
      }
      // An answer without calls is no plan: what somebody said meanwhile leads to one more, and that may be it.
      const stand = toStandstill(state, control.wished())
      // Somebody said something while the model gave its last answer: that is one more turn.
      const goesOn = stand?.status === 'completed' && (await store.messages()).length > 0
      if (stand === undefined || goesOn) continue
      return review === undefined ? stand : reviewOutcome(review, state, stand)
    }
  } finally {
    leave()
    await runtime.closeRun(run.id)
  }
}

async function proposePlan(
  { database, redactor }: Parts,
  { id }: Orchestration,
  { plan, state, emit }: { plan: Plan; state: LoopState; emit: Work['emit'] },
): Promise<Standstill> {
  await savePlan(database, id, redactor.value({ plan, messages: state.messages }))
  emit({ type: 'plan.proposed', orchestration: id, plan })
  return { status: 'pending', stopReason: 'awaiting_plan' }
}

function reviewOf(
  { runtime: { board } }: Parts,
  { id, spec: { task } }: RunRecord,
  rest: Pick<RunReview, 'store' | 'emit' | 'signal'>,
): RunReview | undefined {
  return board === undefined ? undefined : { board, run: id, task, ...rest }
}

/** A run that ends with its plan, or wants it approved, has a row that says so, whoever started it. */
async function findOrBegin(
  { database, runtime: { board } }: Parts,
  run: RunRecord,
): Promise<Orchestration | undefined> {
  const found = await orchestrationOfRun(database, run.id)
  const { agentId } = run.spec
  const mode = run.spec.orchestration ?? (board?.scope === 'plan-only' ? 'automatic' : undefined)
  if (found !== undefined || mode === undefined) return found
  await insertOrchestration(database, {
    agent: agentId ?? null,
    run: run.id,
    execution: run.execution,
    mode,
  })
  return orchestrationOfRun(database, run.id)
}

async function decidePlan(
  database: Database,
  id: string,
  verdict: PlanAnswer['verdict'],
  place: Runs['place'],
): Promise<void> {
  const run = await findRun(database, id)
  if (run !== undefined) requireHome(run, place)
  await answerPlanOf(database, id, { verdict, user: place.user, isQueued: false })
}

/** An agent's tools are those of its settings; orchestrating is what it was started for. */
function withSubAgents(wish: AuthorityWish): AuthorityWish {
  if (wish.tools === 'all' || (wish.tools === undefined && wish.agent === undefined)) return wish
  return { ...wish, tools: [...(wish.tools ?? []), ...SUB_AGENT_TOOLS] }
}

async function endOrchestration(
  database: Database,
  { id }: Orchestration,
  { status, output }: Pick<RunRecord, 'status' | 'output'>,
  emit: (event: RunEvent) => void,
): Promise<void> {
  if (status === 'pending' || status === 'running') return
  const how = status === 'completed' ? 'completed' : 'failed'
  await finishOrchestration(database, id, how, output)
  emit({ type: 'orchestration.finished', orchestration: id, status: how })
}
