import { hash } from 'node:crypto'
import type { CallFinished } from '../core/audit.ts'
import type { CallResult } from '../core/call.ts'
import { ToolError } from '../core/errors.ts'
import { actsItself, UNKNOWN_EFFECT } from '../core/inner-calls.ts'
import { spendMoney } from '../core/run.ts'
import { isTaken, roomForAnswer, type Spent } from './limits.ts'
import {
  afterAsking,
  askModel,
  callsLeft,
  checkBefore,
  type LoopContext,
  makeCalls,
  spentBy,
  withoutAnswer,
  withTime,
} from './loop.ts'
import { afterCalls, countMade, end, type LoopState, type Outcome, withMessages } from './loop-state.ts'
import type { ToolUseBlock } from './messages.ts'
import { costOf, totalTokens, type Usage } from './model.ts'
import { type Purse, setAside } from './purse.ts'
import { type AgentCall, type CallParts, callAndTell } from './run-agent.ts'

// One turn of a run that survives its process: the request to the model is one step, the calls it asks for are the next.
// Each step reads the state, works, and writes the state down in one transaction; a step that is done again finds out from
// the state that it was done. Between the decision and the effect of a call stands its claim.

export interface TurnStore {
  load(): Promise<LoopState>
  /** Throws LostRun when another executor has taken the run over. */
  save(state: LoopState, with_: SavedWith): Promise<void>
  /** False when it was claimed before, or the run is not ours any longer. */
  claim(claim: { call: string; tool: string; digest: string }): Promise<boolean>
  finish(call: string, result: CallResult): Promise<void>
  /** Claims of these calls, with their results as far as there are any. */
  claims(calls: readonly string[]): Promise<ReadonlyMap<string, { result: CallResult | null }>>
  /** What the person has said since. */
  messages(): Promise<readonly { id: string; content: string }[]>
  /** What its orchestrator and other sub-agents of the same run have used up: the limits hold for all together. */
  spentElsewhere(): Promise<Spent>
}

/** What is written down together with a state. */
interface SavedWith {
  readonly taken?: readonly string[]
  readonly usage?: { readonly usage: Usage; readonly costUsd: number | null; readonly ms: number }
  readonly calls?: readonly ExecutedCall[]
  /** How calls ended that were made inside of those. */
  readonly inner?: readonly Pick<ExecutedCall, 'id' | 'result'>[]
  /** Questions that the turn waits for. */
  readonly waiting?: readonly WaitingCall[]
}

export interface ExecutedCall {
  readonly id: string
  readonly input: unknown
  readonly result: CallResult
  readonly ambiguous: boolean
}

export interface WaitingCall {
  /** The call of the turn. */
  readonly made: string
  /** The call that asks: the same, or one inside of it. */
  readonly call: string
  readonly question: string
  readonly tool: string
  readonly input: unknown
}

/** Another executor has taken this run over. Whoever gets this stops at once and writes nothing. */
export class LostRun extends Error {
  override name = 'LostRun'
  override message = 'Another process has taken over this run.'
}

export interface TurnContext extends Omit<LoopContext, 'callTools'> {
  readonly run: string
  readonly store: TurnStore
  /** Of all agents of the run. */
  readonly purse: Purse
  /** The calls of this turn wait until a person has seen them all. */
  readonly holdsCalls?: boolean
  readonly calls: Omit<CallParts, 'durable' | 'signal' | 'emit'>
  /** How a call ended, as far as it is on record. */
  recorded(call: string): Promise<RecordedEnd | undefined>
}

export type RecordedEnd = Pick<CallFinished, 'tool' | 'ok' | 'error' | 'effects'> &
  Partial<Pick<CallFinished, 'decision' | 'runMs'>> & {
    /** How its command ended, where the log does not say how the call did. */
    readonly ended?: string
  }

export async function takeDurableTurn(context: TurnContext): Promise<void> {
  const { calls, fresh } = await answerStep(context)
  if (calls && context.holdsCalls !== true) await callsStep(context, fresh)
}

/** `fresh`: the model has asked for these calls just now, so that nobody can have begun them. */
async function answerStep(context: TurnContext): Promise<{ calls: boolean; fresh: boolean }> {
  const { store, model, signal, purse } = context
  const started = performance.now()
  const state = await store.load()
  if (state.pending.length > 0) return { calls: true, fresh: false }
  const said = await store.messages()
  if (state.ending !== null && said.length === 0) return { calls: false, fresh: false }
  const asked = withMessages(
    state,
    said.map(({ content }) => content),
  )
  for (const { content } of said) context.emit({ type: 'message.received', text: content })
  const { stopped, loop, release } = await reserveAnswer(context, asked)
  try {
    const next: Answered = stopped === undefined ? await ask(asked, loop) : { state: stopped }
    // A request that was given up for a pause has not happened.
    if (next.state.ending?.stopReason === 'cancelled' && signal.aborted) return { calls: false, fresh: false }
    const costUsd = next.usage === undefined ? null : costOf(next.usage.usage, model.price)
    if (costUsd !== null) spendMoney(context.calls.run, costUsd)
    if (next.usage !== undefined)
      purse.largest.request = Math.max(purse.largest.request, requestTokens(next.usage.usage))
    const usage = next.usage === undefined ? {} : { usage: { ...next.usage, costUsd } }
    const saved = { taken: said.map(({ id }) => id), ...usage }
    await purse.inTurn(() => store.save(withTime(next.state, started, 0), saved).finally(release))
    return { calls: next.state.pending.length > 0, fresh: true }
  } finally {
    release()
  }
}

/** Sets aside what the next request may use up; `stopped`: a limit does not let it happen. */
async function reserveAnswer(context: TurnContext, asked: LoopState) {
  const { store, model, purse, maxTokens = Number.POSITIVE_INFINITY } = context
  return purse.inTurn(async () => {
    const spent = await store.spentElsewhere()
    // Who has been told that no call is left is not asked for more of them.
    const calls = spent.calls + (asked.turn === 0 ? 0 : purse.aside.calls)
    const loop = { ...toLoopContext(context), elsewhere: { ...spent, calls }, purse }
    const stopped =
      checkBefore(asked, loop) ??
      (isTaken(asked, loop) ? end(asked, 'limit_reached', 'Agents beside it use up its limit.') : undefined)
    if (stopped !== undefined) return { stopped, loop, release: () => undefined }
    const room = roomForAnswer(asked, loop)
    const longest = Math.min(room, maxTokens, model.capabilities.maxOutput ?? maxTokens)
    const release = setAside(purse, 'tokens', longest + purse.largest.request)
    return { stopped, loop: { ...loop, room }, release }
  })
}

function requestTokens({ input, cached, cacheWrite }: Usage): number {
  return input + cached + cacheWrite
}

interface Answered {
  readonly state: LoopState
  readonly usage?: { usage: Usage; ms: number }
}

async function ask(state: LoopState, context: LoopContext): Promise<Answered> {
  const started = performance.now()
  try {
    const asked = await askModel(state, context)
    const usage = { usage: asked.response.usage, ms: Math.round(performance.now() - started) }
    return { state: afterAsking(state, asked, context), usage }
  } catch (error) {
    const usage = spentBy(error)
    const ms = Math.round(performance.now() - started)
    const spent = totalTokens(usage) === 0 ? {} : { usage: { usage, ms } }
    return { state: withoutAnswer(state, error, context), ...spent }
  }
}

async function callsStep(context: TurnContext, fresh: boolean): Promise<void> {
  const { store, run } = context
  const started = performance.now()
  const state = await store.load()
  if (state.pending.length === 0) return
  const idOf = (use: ToolUseBlock): string => callId(run, state.turn, state.pending.indexOf(use))
  const before = fresh
    ? { known: new Map<string, Outcome & { waitMs: number }>(), executed: [] }
    : await alreadyAnswered(state, idOf, context)
  const executed: ExecutedCall[] = [...before.executed]
  const waiting: (WaitingCall & { use: string })[] = []
  const givenUp = new Set<string>()
  const unclaimed: unknown[] = []
  const inner: CallResult[] = []
  const heard = {
    failure: (error: unknown) => unclaimed.push(error),
    inner: (each: CallResult) => inner.push(each),
  }
  const durable = (use: ToolUseBlock) => claimed(store, idOf(use), use, heard)
  const parts = { ...context.calls, signal: context.signal, emit: context.emit, durable }
  const open = {
    ...state,
    pending: state.pending.filter(use => !before.known.has(use.id)),
    calls: state.calls + countMade(before.known.values()),
  }
  const { release, ...reserved } = await reserveCalls(context, open)
  const outcomes = await makeCalls(open, {
    ...context,
    ...reserved,
    callTools: async uses => {
      const results = await callAndTell(uses, parts)
      results.forEach((result, index) => {
        const use = uses[index]
        if (use === undefined) return
        if (isGivenUp(result, context.signal)) givenUp.add(use.id)
        else if (result.question === undefined) {
          executed.push({ id: idOf(use), input: use.input, result, ambiguous: false })
        } else {
          const { question, tool, part = { call: idOf(use), tool, input: use.input } } = result
          waiting.push({ ...part, made: idOf(use), question, use: use.id })
        }
      })
      return results
    },
  }).catch(error => {
    release()
    throw error
  })
  // Without the store nothing can be claimed, which is no answer of a tool: the turn is taken again when it is back.
  if (unclaimed.length > 0) throw unclaimed[0]
  const waits = ({ id }: ToolUseBlock): boolean => givenUp.has(id) || waiting.some(each => each.use === id)
  for (const outcome of outcomes) if (!waits(outcome.use)) before.known.set(outcome.use.id, outcome)
  const all = state.pending.flatMap(use => before.known.get(use.id) ?? [])
  const waitedMs = all.reduce((sum, outcome) => sum + outcome.waitMs, 0)
  const answered = all.map(
    ({ result, waitMs: _, ...outcome }): Outcome => ({ ...outcome, result: shorten(result) }),
  )
  const next = waiting.length + givenUp.size > 0 ? { ...state, answered } : afterCalls(state, all)
  const saved = { calls: executed, inner: inner.map(result => ({ id: result.call, result })), waiting }
  await context.purse.inTurn(() => store.save(withTime(next, started, waitedMs), saved).finally(release))
}

/** Sets aside the calls that the limit lets happen: agents beside this one must not make the same ones. */
async function reserveCalls(
  { store, purse, limits }: TurnContext,
  state: LoopState,
): Promise<{ elsewhere?: Spent; release: () => void }> {
  if (limits.maxCalls === undefined) return { release: () => undefined }
  return purse.inTurn(async () => {
    const spent = await store.spentElsewhere()
    const elsewhere = { ...spent, calls: spent.calls + purse.aside.calls }
    const wanted = Math.min(state.pending.length, callsLeft(state, { limits, elsewhere }))
    return { elsewhere, release: setAside(purse, 'calls', wanted) }
  })
}

/** Reading, and the work of a sub-agent, that a pause has cut off has not happened: it is done when the run goes on. */
function isGivenUp({ risk, error }: CallResult, signal: AbortSignal): boolean {
  return signal.aborted && risk === 'low' && error?.code === 'cancelled'
}

/** Results that an earlier attempt at this turn has left. */
async function alreadyAnswered(
  state: LoopState,
  idOf: (use: ToolUseBlock) => string,
  { store, emit, recorded }: TurnContext,
): Promise<{ known: Map<string, Outcome & { waitMs: number }>; executed: ExecutedCall[] }> {
  const known = new Map(state.answered.map(outcome => [outcome.use.id, { ...outcome, waitMs: 0 }]))
  const executed: ExecutedCall[] = []
  const claims = await store.claims(state.pending.map(idOf))
  for (const use of state.pending) {
    const claim = claims.get(idOf(use))
    if (claim === undefined || known.has(use.id)) continue
    const ended = claim.result === null ? await recorded(idOf(use)) : undefined
    // Neither a result nor an end on record: interrupted in between. Whether it had its effect is for a person to find out.
    const ambiguous = claim.result === null && ended === undefined
    const result = claim.result ?? lostResult(idOf(use), use, ended)
    if (ambiguous) emit({ type: 'call.ambiguous', call: use.id, tool: use.name })
    known.set(use.id, { use, result, waitMs: 0 })
    executed.push({ id: idOf(use), input: use.input, result, ambiguous })
  }
  return { known, executed }
}

function shorten({ ok, text, error, images }: Outcome['result']): Outcome['result'] {
  return { ok, text, error, ...(images === undefined ? {} : { images }) }
}

/** The same in every process that comes to this call. */
function callId(run: string, turn: number, index: number): string {
  return `call_${run}.${turn}.${index + 1}`
}

/**
 * Claims what a call is about to do, and what each call inside of it is. The claim of a call that makes others comes with its
 * result: until then their journal says what was done.
 */
function claimed(
  store: TurnStore,
  call: string,
  use: ToolUseBlock,
  heard: { failure(error: unknown): void; inner(result: CallResult): void },
): Pick<AgentCall, 'id' | 'beforeRun' | 'afterRun'> {
  const held = new Set<string>()
  let hasInner = false
  const claim = async (id: string): Promise<boolean> => {
    const digest = hash('sha256', JSON.stringify([use.name, use.input]))
    const isOurs = await store.claim({ call: id, tool: use.name, digest })
    if (isOurs) held.add(id)
    return isOurs
  }
  return {
    id: call,
    async beforeRun(prepared, id = call) {
      if (held.has(id) || !actsItself(prepared)) return
      const isOurs = await claim(id).catch(error => {
        heard.failure(error)
        throw error
      })
      if (!isOurs)
        throw new ToolError('conflict', 'Another process has taken over this run; nothing was done.')
    },
    async afterRun(result) {
      const isInner = result.call !== call
      hasInner ||= isInner
      if (isInner) heard.inner(result)
      else if (hasInner && !held.has(call)) await claim(call)
      if (held.has(result.call)) await store.finish(result.call, result)
    },
  }
}

/** What the model is told about a call whose result went down with its process. */
function lostResult(call: string, use: ToolUseBlock, ended: RecordedEnd | undefined): CallResult {
  const text = ended === undefined ? UNKNOWN : describeEnd(ended)
  const ok = ended?.ok ?? false
  return {
    ok,
    call,
    tool: ended?.tool ?? use.name,
    number: 0,
    text,
    data: null,
    error: ok
      ? null
      : { code: ended?.error?.code ?? 'failed', message: text, hint: 'Check the current state first.' },
    decision: ended?.decision ?? { outcome: 'allow', by: 'validation', ref: null, reason: 'It was claimed.' },
    risk: 'high',
    effects: ended?.effects ?? [],
    label: null,
    durationMs: ended?.runMs ?? 0,
    waitMs: 0,
  }
}

const UNKNOWN = `Kogu was interrupted while this call ran. ${UNKNOWN_EFFECT}`

function describeEnd({ ok, error, effects, ended }: RecordedEnd): string {
  const succeeded = ended === undefined ? 'It succeeded.' : `The command ${ended}.`
  const how = ok ? succeeded : `It failed: ${error?.message ?? 'no reason was recorded'}.`
  const changed = effects.length === 0 ? '' : ` It changed ${effects.map(({ path }) => path).join(', ')}.`
  return `Kogu was interrupted right after this call ended, so its output is lost. ${how}${changed}`
}

function toLoopContext(context: TurnContext): LoopContext {
  return { ...context, callTools: () => Promise.reject(new Error('Calls are a step of their own.')) }
}
