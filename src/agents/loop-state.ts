import { hash } from 'node:crypto'
import type { CallResult } from '../core/call.ts'
import {
  type Message,
  type ToolResultBlock,
  type ToolUseBlock,
  textOf,
  toolUsesOf,
  type UserBlock,
  userText,
} from './messages.ts'
import {
  addUsage,
  costOf,
  type Model,
  type ModelError,
  type ModelErrorKind,
  type ModelResponse,
  NO_USAGE,
  type Usage,
} from './model.ts'

/**
 * Everything a run knows between two steps. It is plain data: written down after every step, it can be continued by
 * another process. The functions below are the only ones that make a new one, and none of them acts on anything.
 */
export interface LoopState {
  readonly messages: readonly Message[]
  /** Requests to the model so far. */
  readonly turn: number
  /** What the model asked for and nobody has answered yet. */
  readonly pending: readonly ToolUseBlock[]
  /** Results of pending calls whose turn waits for a person's answer about another call. */
  readonly answered: readonly Outcome[]
  readonly usage: Usage
  /** Null as soon as one request had an unknown price. */
  readonly costUsd: number | null
  readonly calls: number
  /** Ids of calls whose results the vendor did not accept; they are sent as a note. */
  readonly rejected: readonly string[]
  /** Digests of the newest calls with their results. */
  readonly recent: readonly string[]
  /** Time at work: waiting for a person does not count. */
  readonly activeMs: number
  readonly ending: Ending | null
}

interface Ending {
  readonly stopReason: StopReason
  /** The model's last words, or what was done so far. */
  readonly text: string
  /** Set when the run failed or was cut short: one sentence for the person. */
  readonly error?: string
  /** Why the model could not be asked. */
  readonly kind?: ModelErrorKind
}

/**
 * end_turn: the model says it is done. max_tokens, content_filter, other: it ended for another reason. limit_reached: a
 * limit of the run; loop_detected: the same calls with the same results. denied: a person rejected it. cancelled: a
 * person stopped it. error: the model could not be asked.
 */
export type StopReason =
  | 'end_turn'
  | 'max_tokens'
  | 'content_filter'
  | 'other'
  | 'limit_reached'
  | 'loop_detected'
  | 'denied'
  | 'cancelled'
  | 'error'

export function startState(task: string): LoopState {
  return {
    messages: [userText(task)],
    turn: 0,
    pending: [],
    answered: [],
    usage: NO_USAGE,
    costUsd: 0,
    calls: 0,
    rejected: [],
    recent: [],
    activeMs: 0,
    ending: null,
  }
}

/** The model has answered: either it wants tools, or that is the end. */
export function afterAnswer(
  state: LoopState,
  response: ModelResponse,
  model: Pick<Model, 'price'>,
): LoopState {
  const { stopReason: said } = response
  const isWhole = said === 'tool_use' || said === 'end_turn'
  // Calls of an answer that was cut off are not made, and a call without a result is refused by every vendor.
  const content = isWhole ? response.content : response.content.filter(block => block.type !== 'tool_use')
  const message: Message = { role: 'assistant', content: withFreshIds(content, state) }
  const pending = toolUsesOf(message)
  const stopReason = said === 'tool_use' ? 'end_turn' : said
  return {
    ...afterSpending(state, response.usage, model),
    // An empty answer is refused by vendors when it is sent back to them.
    messages: content.length === 0 ? state.messages : [...state.messages, message],
    turn: state.turn + 1,
    pending,
    ending: pending.length > 0 ? null : { stopReason, text: textOf(message), ...cutShort(said) },
  }
}

/** A vendor has charged for something. */
export function afterSpending(state: LoopState, usage: Usage, { price }: Pick<Model, 'price'>): LoopState {
  const cost = costOf(usage, price)
  const costUsd = state.costUsd === null || cost === null ? null : state.costUsd + cost
  return { ...state, usage: addUsage(state.usage, usage), costUsd }
}

/** Some servers number the calls of each answer from nought, or all alike; a result belongs to one call of the run. */
function withFreshIds(
  content: ModelResponse['content'],
  { messages, turn }: LoopState,
): ModelResponse['content'] {
  const used = new Set(messages.flatMap(toolUsesOf).map(use => use.id))
  return content.map((block, index) => {
    if (block.type !== 'tool_use') return block
    const id = used.has(block.id) ? `${block.id}_${turn + 1}_${index}` : block.id
    used.add(id)
    return { ...block, id }
  })
}

function cutShort(reason: ModelResponse['stopReason']): { error?: string } {
  if (reason === 'max_tokens')
    return { error: 'The answer was cut off: it reached the limit of output tokens.' }
  if (reason === 'content_filter') return { error: "The vendor's content filter stopped the answer." }
  return {}
}

export interface Outcome {
  readonly use: ToolUseBlock
  readonly result: Pick<CallResult, 'ok' | 'text' | 'error' | 'images'>
  /** The limit of calls did not let it happen. */
  readonly isBeyond?: true
}

/** Calls that count. */
export function countMade(outcomes: Iterable<Outcome>): number {
  return [...outcomes].filter(({ isBeyond }) => isBeyond !== true).length
}

const REPEATED = 3
const MOST_REPEATED = 5
const REMEMBERED = 24

/** The tools have answered: one message with all results, in the order of the calls. */
export function afterCalls(state: LoopState, outcomes: readonly Outcome[]): LoopState {
  const recent = [...state.recent]
  const seen = outcomes.map(outcome => {
    const digest = digestOf(outcome)
    recent.push(digest)
    return recent.filter(other => other === digest).length
  })
  const content = outcomes.map((outcome, index) => toResultBlock(outcome, seen[index] ?? 1))
  const next: LoopState = {
    ...state,
    messages: [...state.messages, { role: 'user', content }],
    pending: [],
    answered: [],
    calls: state.calls + countMade(outcomes),
    recent: recent.slice(-REMEMBERED),
  }
  if (!seen.some(count => count >= MOST_REPEATED)) return next
  return end(next, 'loop_detected', `The same call was made ${MOST_REPEATED} times with the same result.`)
}

const GO_ON = '[Kogu: your last answer was cut off. Go on where it ended.]'

/** A message from the person enters before the next request. */
export function withMessages(state: LoopState, said: readonly string[]): LoopState {
  const last = state.messages.at(-1)
  // A run that goes on after an answer that was cut off: most vendors want the last word to be the person's.
  const isCutOff = state.ending === null && state.pending.length === 0 && last?.role === 'assistant'
  const texts = said.length === 0 && isCutOff ? [GO_ON] : said
  if (texts.length === 0) return state
  const blocks: UserBlock[] = texts.map(text => ({ type: 'text', text }))
  // Two messages of one role in a row are refused by some vendors.
  if (last?.role === 'user') {
    const joined: Message = { role: 'user', content: [...last.content, ...blocks] }
    return { ...state, ending: null, messages: [...state.messages.slice(0, -1), joined] }
  }
  return { ...state, ending: null, messages: [...state.messages, { role: 'user', content: blocks }] }
}

export function end(state: LoopState, stopReason: StopReason, error: string): LoopState {
  return {
    ...state,
    pending: [],
    answered: [],
    ending: { stopReason, text: lastWords(state.messages), error },
  }
}

export function endWithError(state: LoopState, { kind, message, hint }: ModelError): LoopState {
  const ended = end(state, 'error', hint === undefined ? message : `${message} ${hint}`)
  return ended.ending === null ? ended : { ...ended, ending: { ...ended.ending, kind } }
}

function lastWords(messages: readonly Message[]): string {
  const spoken = messages.filter(message => message.role === 'assistant' && textOf(message) !== '').at(-1)
  return spoken === undefined ? '' : textOf(spoken)
}

/** Over results, not only over inputs: polling for something that changes is no loop. */
function digestOf({ use, result }: Outcome): string {
  return hash('sha256', JSON.stringify([use.name, use.input, result.ok, result.text])).slice(0, 16)
}

function toResultBlock({ use, result }: Outcome, seen: number): ToolResultBlock {
  const { error } = result
  const text = error === null ? result.text : describeError(error)
  const note =
    seen >= REPEATED
      ? `\n\n[Kogu: this call has now been made ${seen} times with the same result. Do something else, or say what is missing.]`
      : ''
  return {
    type: 'tool_result',
    tool_use_id: use.id,
    name: use.name,
    // Vendors refuse an empty result.
    content: `${text === '' ? '(no output)' : text}${note}`,
    is_error: !result.ok,
    ...(result.images === undefined ? {} : { images: result.images }),
  }
}

function describeError({ code, message, hint }: NonNullable<CallResult['error']>): string {
  return `${code}: ${message}${hint === null ? '' : `\n${hint}`}`
}
