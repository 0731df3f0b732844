import type { CallResult } from '../core/call.ts'
import { READ_RESULT, readResult, toView } from './compaction.ts'
import type { RunEvent } from './events.ts'
import {
  describeNear,
  exceeded,
  nearLimits,
  outOfTime,
  type RunLimits,
  roomForAnswer,
  type Spent,
} from './limits.ts'
import {
  afterAnswer,
  afterCalls,
  afterSpending,
  end,
  endWithError,
  type LoopState,
  type Outcome,
} from './loop-state.ts'
import type { Message, ToolUseBlock } from './messages.ts'
import {
  costOf,
  type Model,
  ModelError,
  type ModelResponse,
  NO_USAGE,
  type ToolDefinition,
  totalTokens,
  type Usage,
} from './model.ts'
import { withRetries } from './retry.ts'

/** What a loop works with. Everything that acts on the world comes in here. */
export interface LoopContext {
  readonly model: Model
  readonly system: string
  readonly tools: readonly ToolDefinition[]
  readonly limits: RunLimits
  /** What other agents of the same run have used up of them. */
  readonly elsewhere?: Spent
  /** Tokens that the next answer may have, when they are set aside for it. */
  readonly room?: number
  /** The sub-agent that is asked, by name. */
  readonly agent?: string
  readonly temperature?: number
  readonly maxTokens?: number
  readonly signal: AbortSignal
  /** All calls of one turn, in order; a failed call is a value. */
  callTools(uses: readonly ToolUseBlock[]): Promise<CallResult[]>
  emit(event: RunEvent): void
}

/** Turns until the run ends. `save` is given every state in between. */
export async function runLoop(
  state: LoopState,
  context: LoopContext,
  save?: (state: LoopState) => Promise<void>,
): Promise<LoopState> {
  let current = state
  while (current.ending === null) {
    current = await takeTurn(current, context)
    await save?.(current)
  }
  return current
}

/** One request to the model and the calls it asks for. */
async function takeTurn(state: LoopState, context: LoopContext): Promise<LoopState> {
  const started = performance.now()
  const stopped = checkBefore(state, context)
  if (stopped !== undefined) return stopped
  try {
    const asked =
      state.pending.length > 0 ? state : afterAsking(state, await askModel(state, context), context)
    if (asked.ending !== null) return withTime(asked, started, 0)
    const outcomes = await makeCalls(asked, context)
    const waited = outcomes.reduce((sum, { waitMs }) => sum + waitMs, 0)
    return withTime(afterCalls(asked, outcomes), started, waited)
  } catch (error) {
    return withoutAnswer(state, error, context)
  }
}

/** What must hold before the next request; otherwise the state in which the run ends. */
export function checkBefore(
  state: LoopState,
  { limits, elsewhere, signal }: LoopContext,
): LoopState | undefined {
  if (signal.aborted) return cancelled(state)
  const limit = state.pending.length > 0 ? undefined : exceeded(state, limits, elsewhere)
  return limit === undefined ? undefined : end(state, 'limit_reached', limit)
}

function cancelled(state: LoopState): LoopState {
  return end(state, 'cancelled', 'It was stopped.')
}

export function withTime(state: LoopState, started: number, waitedMs: number): LoopState {
  return { ...state, activeMs: state.activeMs + Math.max(0, performance.now() - started - waitedMs) }
}

export interface Asked {
  readonly response: ModelResponse
  /** Results that had to be left out for the vendor to accept the request. */
  readonly rejected: readonly string[]
  /** A limit of the run cut the answer off. */
  readonly isLimited: boolean
}

/** Asks the model, again where that helps. Changes no state, so that its answer can be written down first. */
export async function askModel(state: LoopState, context: LoopContext): Promise<Asked> {
  const { model, system, tools, emit } = context
  const deadline = deadlineOf(state, context)
  const signal = AbortSignal.any([context.signal, deadline])
  const room = context.room ?? roomForAnswer(state, context)
  const isLimited = room < (context.maxTokens ?? Number.POSITIVE_INFINITY)
  const fixedCharacters = system.length + JSON.stringify(tools).length
  const started = performance.now()
  const rejected = [...state.rejected]
  emit({ type: 'step.started', turn: state.turn + 1 })
  for (;;) {
    const options = { context: model.capabilities.context, fixedCharacters, rejected }
    const view = withNearLimits(toView(state.messages, options), state, context)
    try {
      const request = { ...toRequest(view, context), ...(isLimited ? { maxTokens: room } : {}), signal }
      const response = await withRetries(model, request, { emit, signal })
      const { usage } = response
      const costUsd = costOf(usage, model.price)
      emit({ type: 'usage', model: model.id, usage, costUsd })
      emit({
        type: 'step.finished',
        turn: state.turn + 1,
        stopReason: response.stopReason,
        usage,
        costUsd,
        ms: Math.round(performance.now() - started),
      })
      tellNearLimits(state, response, context, started)
      return { response, rejected, isLimited: isLimited && response.stopReason === 'max_tokens' }
    } catch (error) {
      if (deadline.aborted && !context.signal.aborted) throw new OutOfTime(spentBy(error))
      const suspect =
        error instanceof ModelError && error.kind === 'rejected' ? nextSuspect(view, rejected) : undefined
      if (suspect === undefined) throw error
      rejected.push(suspect.id)
      emit({ type: 'result.rejected', call: suspect.id, tool: suspect.name })
    }
  }
}

/** Only in this request: it is no part of the conversation, and untrue in the next one. */
function withNearLimits(view: Message[], state: LoopState, { limits, elsewhere }: LoopContext): Message[] {
  const near = nearLimits(state, limits, elsewhere)
  const last = view.at(-1)
  if (near.length === 0 || state.turn === 0 || last?.role !== 'user') return view
  return [
    ...view.slice(0, -1),
    { role: 'user', content: [...last.content, { type: 'text', text: describeNear(near) }] },
  ]
}

/** Once for each limit, and not for an answer that is the last one anyway. */
function tellNearLimits(
  state: LoopState,
  response: ModelResponse,
  context: LoopContext,
  started: number,
): void {
  const { limits, elsewhere, model, emit } = context
  const next = afterAnswer(state, response, model)
  if (next.ending !== null) return
  const spent = { ...withTime(next, started, 0), calls: next.calls + next.pending.length }
  const known = nearLimits(state, limits, elsewhere).map(({ limit }) => limit)
  for (const near of nearLimits(spent, limits, elsewhere))
    if (!known.includes(near.limit)) emit({ type: 'limit.near', ...near })
}

/** A vendor that takes longer than the run has left is not waited for. */
function deadlineOf({ activeMs }: LoopState, { limits: { maxTimeMs } }: LoopContext): AbortSignal {
  if (maxTimeMs === undefined) return new AbortController().signal
  return AbortSignal.timeout(Math.max(0, Math.min(Math.ceil(maxTimeMs - activeMs), LONGEST_TIMER_MS)))
}

/** Timers hold no more. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

class OutOfTime extends Error {
  readonly usage: Usage
  constructor(usage: Usage) {
    super('It is out of time.')
    this.usage = usage
  }
}

/** What a request has used that did not bring an answer. */
export function spentBy(error: unknown): Usage {
  return error instanceof ModelError || error instanceof OutOfTime ? error.usage : NO_USAGE
}

/** The state that a request leaves which did not bring an answer. What is no fault of the model's is thrown on. */
export function withoutAnswer(before: LoopState, error: unknown, context: LoopContext): LoopState {
  const usage = spentBy(error)
  const state = totalTokens(usage) === 0 ? before : afterSpending(before, usage, context.model)
  if (context.signal.aborted) return cancelled(state)
  if (error instanceof ModelError) return endWithError(state, error)
  if (!(error instanceof OutOfTime)) throw error
  const { maxTimeMs = 0 } = context.limits
  return end(state, 'limit_reached', outOfTime(maxTimeMs, maxTimeMs))
}

export function afterAsking(
  state: LoopState,
  asked: Asked,
  { model }: Pick<LoopContext, 'model'>,
): LoopState {
  const next = afterAnswer({ ...state, rejected: asked.rejected }, asked.response, model)
  return asked.isLimited ? end(next, 'limit_reached', 'Its last answer was cut off at its limit.') : next
}

function toRequest(messages: readonly Message[], context: LoopContext) {
  const { system, tools, temperature, maxTokens, agent, emit } = context
  return {
    system,
    messages,
    tools,
    onText: (text: string) => emit({ type: 'text.delta', text }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(agent === undefined ? {} : { agent }),
  }
}

const MOST_SUSPECTS = 8

/** The result that most likely made the vendor refuse: of the newest message first, images before size. */
function nextSuspect(
  messages: readonly Message[],
  rejected: readonly string[],
): { id: string; name: string } | undefined {
  if (rejected.length >= MOST_SUSPECTS) return undefined
  for (const message of messages.toReversed()) {
    if (message.role !== 'user') continue
    const [worst] = message.content
      .filter(block => block.type === 'tool_result')
      .filter(block => !rejected.includes(block.tool_use_id))
      .map(block => ({ block, weight: block.content.length + (block.images?.length ?? 0) * 1e9 }))
      .sort((a, b) => b.weight - a.weight)
    if (worst !== undefined) return { id: worst.block.tool_use_id, name: worst.block.name }
  }
  return undefined
}

/** Makes the calls that wait. What the loop answers itself, and what is no call at all, never reaches a tool. */
export async function makeCalls(
  state: LoopState,
  context: LoopContext,
): Promise<(Outcome & { waitMs: number })[]> {
  const answered = new Map<string, Outcome & { waitMs: number }>()
  const left = callsLeft(state, context)
  for (const [index, use] of state.pending.entries()) {
    const isBeyond = index >= left
    const result = isBeyond ? overLimit(context.limits) : answerDirectly(use, state.messages)
    if (result !== undefined)
      answered.set(use.id, { use, result, waitMs: 0, ...(isBeyond ? { isBeyond } : {}) })
  }
  const real = state.pending.filter(use => !answered.has(use.id))
  const results = real.length === 0 ? [] : await context.callTools(real)
  real.forEach((use, index) => {
    const result = results[index]
    if (result !== undefined) answered.set(use.id, { use, result, waitMs: result.waitMs })
  })
  return state.pending.flatMap(use => answered.get(use.id) ?? [])
}

/** How many calls of this turn the limit lets happen. */
export function callsLeft(
  { calls }: LoopState,
  { limits: { maxCalls }, elsewhere }: Pick<LoopContext, 'limits' | 'elsewhere'>,
): number {
  if (maxCalls === undefined) return Number.POSITIVE_INFINITY
  return Math.max(0, maxCalls - calls - (elsewhere?.calls ?? 0))
}

function overLimit({ maxCalls = 0 }: RunLimits): Outcome['result'] {
  const message = `This call was not made: the run may make ${maxCalls} calls in all.`
  return { ok: false, text: message, error: { code: 'forbidden', message, hint: null } }
}

function answerDirectly(use: ToolUseBlock, messages: readonly Message[]): Outcome['result'] | undefined {
  if (use.malformed !== undefined) {
    const message = `The input of '${use.name}' is not valid JSON: ${use.malformed}`
    return {
      ok: false,
      text: message,
      error: { code: 'invalid_input', message, hint: 'Send one JSON object.' },
    }
  }
  if (use.name !== READ_RESULT) return undefined
  const { ok, text } = readResult(messages, use.input)
  return { ok, text, error: ok ? null : { code: 'not_found', message: text, hint: null } }
}
