import { hash } from 'node:crypto'
import { coreIdOf } from './agents/agent-ids.ts'
import { offeredTools, readOnlyTools } from './agents/agent-tools.ts'
import { takeDurableTurn } from './agents/durable-turn.ts'
import type { RunEvent } from './agents/events.ts'
import { ORCHESTRATION_TURNS, type RunLimits } from './agents/limits.ts'
import type { LoopState } from './agents/loop-state.ts'
import { createQuarantine, type Quarantine } from './agents/quarantine.ts'
import type { Control } from './agents/run-control.ts'
import type { Slots } from './agents/slots.ts'
import {
  type Executed,
  type ExecuteOrder,
  type ExecutionResult,
  type SubAgentSettings,
  subAgentTools,
} from './agents/sub-agent-tools.ts'
import type { LoadedConfig } from './config/load.ts'
import type { AuthorityWish } from './core/authority.ts'
import { ToolError, toToolError } from './core/errors.ts'
import { Pending } from './core/obtain-approval.ts'
import type { Redactor } from './core/redact.ts'
import { addLabel, type Run } from './core/run.ts'
import type { AnyTool, ToolContext } from './core/tool.ts'
import type { Runtime } from './runtime.ts'
import type { Database } from './store/database/database.ts'
import { checkBudget } from './store/runs/budget.ts'
import type { DurableRuns } from './store/runs/durable-runs.ts'
import { createEventWriter } from './store/runs/event-writer.ts'
import {
  findChildExecution,
  findSubAgent,
  insertChildExecution,
  insertSubAgent,
  type SubAgentRecord,
} from './store/tables/sub-agents.ts'
import { cutOff, endEarly, endStopped, hasMore } from './sub-agent-ends.ts'
import { type AgentPart, createTurnContext } from './turn-context.ts'

// Sub-agents of runs. A child is an execution of the same run in the database, and a run of its own below its parent's for
// every judgement: it can do what its parent can, and no grant that one of them was given holds for the other. Its ids follow
// from the call that started it, so that the call can be made again after a pause, a question or a crash, and goes on.

export interface SubAgentParts {
  readonly loaded: LoadedConfig
  readonly runtime: Runtime
  readonly database: Database
  readonly durable: DurableRuns
  readonly redactor: Redactor
}

/** An agent at work that may have sub-agents. */
export interface Orchestrator extends AgentPart {
  /** 0 for the run's own agent. */
  readonly depth: number
  /** For all sub-agents of the run together. */
  readonly slots: Slots
  /** How many of its sub-agents are at work. Meanwhile it only waits, and needs no slot itself. */
  readonly nested: { count: number }
  /** What a person wants of the run and of the agents in it. */
  readonly control: Pick<Control, 'stopAgents' | 'stopOf'>
  /** Whoever watches the run in this process. */
  tell(event: RunEvent): void
}

export interface SubAgentDesk {
  readonly tools: readonly AnyTool[]
  /** From now on the tools work for this agent, until the returned function is called. */
  join(orchestrator: Orchestrator): () => void
}

export function createSubAgents(parts: SubAgentParts): SubAgentDesk {
  const atWork = new Map<string, Orchestrator>()
  const callerOf = ({ run }: ToolContext): Orchestrator => {
    const caller = atWork.get(run.id)
    if (caller !== undefined) return caller
    throw new ToolError('not_enabled', 'This run has no sub-agents.', {
      hint: 'Start it with: kogu run --orchestration automatic. Sub-agents of sub-agents: [agents] max_depth.',
    })
  }
  const join = (orchestrator: Orchestrator): (() => void) => {
    atWork.set(orchestrator.core.id, orchestrator)
    return () => atWork.delete(orchestrator.core.id)
  }
  return {
    join,
    tools: subAgentTools({
      create: async (settings, context) => create(parts, callerOf(context), settings, context),
      execute: async (order, context) =>
        execute({ ...parts, join }, callerOf(context), { ...order, context }),
      result: async (execution, context) => lookUp(parts, callerOf(context), execution),
    }),
  }
}

/** Whether an agent at this depth may have sub-agents. */
export function mayOrchestrate({ config }: LoadedConfig, depth: number): boolean {
  return depth < config.agents.max_depth
}

async function create(
  { database }: SubAgentParts,
  { run, execution, model, emit }: Orchestrator,
  { name, description, system_prompt }: SubAgentSettings,
  { callId }: ToolContext,
): Promise<{ agent_id: string; name: string }> {
  const id = uuidFrom('agent', callId)
  const { provider, name: modelName } = model
  await insertSubAgent(database, {
    ...{ id, run: run.id, execution, name, description, provider },
    system: system_prompt,
    model: modelName,
  })
  emit({ type: 'agent.created', agent: id, name, description })
  return { agent_id: id, name }
}

async function lookUp(
  { database }: SubAgentParts,
  { execution: parent }: Orchestrator,
  id: string,
): Promise<ExecutionResult> {
  const found = await findChildExecution(database, id, parent)
  if (found !== undefined) return found
  throw new ToolError('not_found', `None of your sub-agents has the execution '${id}'.`)
}

type ExecuteParts = SubAgentParts & Pick<SubAgentDesk, 'join'>

interface Order extends ExecuteOrder {
  readonly context: ToolContext
}

async function execute(parts: ExecuteParts, parent: Orchestrator, order: Order): Promise<Executed> {
  const agent = await findSubAgent(parts.database, order.agent, parent.execution)
  if (agent === undefined) {
    throw new ToolError('not_found', `You have no sub-agent '${order.agent}'.`, {
      hint: 'Use the agent_id that create_sub_agent returned to you.',
    })
  }
  return withSlot(parent, order.context.signal, () => runChild(parts, parent, agent, order))
}

/** A parent that waits for its children gives its own slot away; otherwise the parents could hold all of them. */
async function withSlot<T>(parent: Orchestrator, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const { slots, nested, depth } = parent
  const givesAway = depth > 0
  nested.count += 1
  if (givesAway && nested.count === 1) slots.release()
  try {
    await slots.acquire(signal)
    try {
      return await work()
    } finally {
      slots.release()
    }
  } finally {
    nested.count -= 1
    if (givesAway && nested.count === 0) await slots.acquire(new AbortController().signal)
  }
}

async function runChild(
  parts: ExecuteParts,
  parent: Orchestrator,
  agent: SubAgentRecord,
  { input, outputSchema, context }: Order,
): Promise<Executed> {
  const { runtime, database, loaded } = parts
  const quarantine = outputSchema === undefined ? undefined : createQuarantine(outputSchema)
  const execution = uuidFrom('execution', context.callId)
  const { run } = parent
  const about = { agent: agent.id, name: agent.name, execution }
  // Under the same agent's name: one that a model chose must match no rule.
  const core = await runtime.openRun({
    id: coreIdOf(run.id, execution),
    parent: parent.core.id,
    authority: quarantine === undefined ? INHERITED[loaded.config.agents.inherit] : readerWish(runtime),
  })
  const writer = createEventWriter(database, run.id, execution)
  try {
    const orchestrates = quarantine === undefined && mayOrchestrate(loaded, parent.depth + 1)
    const isToEnd = await insertChildExecution(database, {
      ...{ id: execution, agent: agent.id, run: run.id, parent: parent.execution, input },
      tools: offeredTools(runtime.registry, core.authority, { subAgents: orchestrates }).map(
        ({ name }) => name,
      ),
    })
    // Wished before this process took the run.
    if (isToEnd) parent.control.stopAgents([execution])
    parent.emit({ type: 'agent.started', ...about })
    const child = await createChild(parts, parent, {
      agent,
      execution,
      input,
      core,
      context,
      writer,
      quarantine,
    })
    const ended = await takeTurns(parts, parent, child, context)
    const state = quarantine === undefined ? ended : await quarantined(quarantine, child.store, ended)
    const status = statusOf(state)
    parent.emit({ type: 'agent.finished', ...about, status })
    if (state.ending?.error !== undefined)
      throw new ToolError('failed', state.ending.error, {
        hint: `What it said so far: get_sub_agent_result with execution_id ${execution}`,
      })
    const foreign = quarantine?.isClosed === true ? undefined : core.labels.find(({ trusted }) => !trusted)
    const label = foreign ?? { origin: 'kogu', trusted: true }
    return { execution_id: execution, status, output: state.ending?.text ?? '', label }
  } finally {
    // Data of a closed shape carries nobody's words; whatever the reader has seen stays with it.
    if (quarantine?.isClosed !== true) for (const label of core.labels) addLabel(parent.core, label)
    await runtime.closeRun(core.id)
    await writer.flush()
  }
}

function statusOf({ ending }: LoopState): 'completed' | 'failed' | 'cancelled' {
  if (ending?.error === undefined) return 'completed'
  return ending.stopReason === 'cancelled' ? 'cancelled' : 'failed'
}

/** What a child has of its parent's authority, by `[agents] inherit`: all of it, and never more. */
const INHERITED: Readonly<Record<LoadedConfig['config']['agents']['inherit'], AuthorityWish>> = { narrow: {} }

/** A reader of what nobody trusts can look at things and contact hosts, and change nothing. */
function readerWish({ registry }: Runtime): AuthorityWish {
  return { mode: 'read-only', tools: readOnlyTools(registry) }
}

/**
 * What is kept of its answer is what the parent gets, so that looking it up later shows no more. Of a failure that is how it
 * ended: a vendor's message may quote what the reader has read.
 */
async function quarantined(
  { check }: Quarantine,
  store: Orchestrator['store'],
  state: LoopState,
): Promise<LoopState> {
  if (state.ending === null) return state
  let ending: LoopState['ending']
  try {
    const { error, stopReason } = state.ending
    ending =
      error === undefined
        ? { ...state.ending, text: check(state.ending.text) }
        : { ...state.ending, text: '', error: `The reader ended without an answer (${stopReason}).` }
  } catch (error) {
    ending = { stopReason: 'error', text: '', error: toToolError(error).message }
  }
  const kept = { ...state, ending }
  await store.save(kept, {})
  return kept
}

interface ChildParts {
  readonly quarantine: Quarantine | undefined
  readonly agent: SubAgentRecord
  readonly execution: string
  readonly input: string
  readonly core: Run
  readonly context: ToolContext
  readonly writer: ReturnType<typeof createEventWriter>
}

async function createChild(
  { durable, loaded, redactor }: SubAgentParts,
  parent: Orchestrator,
  { agent, execution, input, core, context, writer, quarantine }: ChildParts,
): Promise<Orchestrator> {
  const { run, model, slots, tell, control } = parent
  const depth = parent.depth + 1
  const state = await parent.store.load()
  return {
    run,
    execution,
    core,
    model,
    slots,
    depth,
    tell,
    control,
    store: durable.storeFor({ run: run.id, execution, task: input, isChild: true }, model, redactor),
    limits: childLimits(parent.limits, state),
    purse: { ...parent.purse, share: parent.purse.share / besideEachOther(state, loaded) },
    temperature: agent.temperature,
    maxTokens: agent.maxTokens,
    system: quarantine === undefined ? agent.system : `${agent.system}\n\n${quarantine.prompt}`,
    agent: agent.name,
    orchestrates: quarantine === undefined && mayOrchestrate(loaded, depth),
    nested: { count: 0 },
    signal: AbortSignal.any([context.signal, control.stopOf(execution)]),
    emit(event) {
      const shown = redactor.value(event)
      writer.emit(shown)
      if (SHOWN.has(event.type)) tell(shown)
    },
  }
}

/** What whoever watches the run sees of its sub-agents. */
const SHOWN = new Set<RunEvent['type']>(['call.proposed', 'call.finished', 'call.ambiguous', 'agent.created'])

/** Money, tokens and calls are counted for all agents of a run together; time is what its parent has left. */
function childLimits(limits: RunLimits, { activeMs }: LoopState): RunLimits {
  const { maxTurns, maxTimeMs } = limits
  return {
    ...limits,
    maxTurns: Math.min(maxTurns, ORCHESTRATION_TURNS),
    ...(maxTimeMs === undefined ? {} : { maxTimeMs: Math.max(0, maxTimeMs - activeMs) }),
  }
}

/** How many sub-agents of this turn can be at work at once. */
function besideEachOther({ pending }: LoopState, { config }: LoadedConfig): number {
  const asked = pending.filter(({ name }) => name === 'execute_sub_agent').length
  return Math.max(1, Math.min(asked, config.agents.max_parallel))
}

/** Until it has ended. Throws when it waits for somebody, or is cut off. */
async function takeTurns(
  parts: ExecuteParts,
  parent: Orchestrator,
  child: Orchestrator,
  { callId, signal }: ToolContext,
): Promise<LoopState> {
  const waiting: { question: string | undefined } = { question: undefined }
  const store: Orchestrator['store'] = {
    ...child.store,
    async save(state, saved) {
      await child.store.save(state, saved)
      waiting.question = saved.waiting?.[0]?.question
    },
  }
  const leave = child.orchestrates ? parts.join(child) : () => undefined
  const context = createTurnContext(parts, { ...child, store })
  const stop = child.control.stopOf(child.execution)
  try {
    for (;;) {
      const before = await store.load()
      if (before.ending !== null && !(await hasMore(store, before))) return before
      if (stop.aborted) return await endStopped(parts, child, store, before)
      if (signal.aborted) return await cutOff(parent, store, before)
      const budget = await checkBudget(parts.database, parts.loaded.config.limits.budget, new Date())
      if (budget?.exceeded === true) return await endEarly(store, before, 'limit_reached', budget.sentence)
      await takeDurableTurn(context)
      if (waiting.question !== undefined && !stop.aborted)
        throw new Pending({ id: waiting.question, callId }, `The sub-agent '${child.agent}' asks.`)
    }
  } finally {
    leave()
  }
}

/** A UUID that follows from what it is given: a call, a run. */
export function uuidFrom(kind: string, id: string): string {
  const hex = hash('sha256', `${kind} ${id}`)
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-')
}
