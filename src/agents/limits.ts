import type { LoopState } from './loop-state.ts'
import { type Price, totalTokens } from './model.ts'
import type { Purse } from './purse.ts'

/** What a run may use up. Undefined: no limit of this kind. */
export interface RunLimits {
  readonly maxTurns: number
  readonly maxCostUsd?: number
  readonly maxTokens?: number
  readonly maxTimeMs?: number
  readonly maxCalls?: number
  /** Whether a person is asked, at a limit, if it is to go on with more. */
  readonly onLimit?: 'stop' | 'ask'
}

/** As configurations and requests call them. */
const NAMES = [
  ['maxTurns', 'max_turns'],
  ['maxCostUsd', 'max_cost'],
  ['maxTokens', 'max_tokens'],
  ['maxTimeMs', 'max_time'],
  ['maxCalls', 'max_calls'],
] as const

/** The first limit of a wish that is above the one that holds without it. */
export function firstRaised(
  own: RunLimits,
  wished: Partial<RunLimits>,
): { name: string; own: number; wished: number } | undefined {
  return NAMES.map(([key, name]) => ({
    name,
    own: own[key] ?? Number.POSITIVE_INFINITY,
    wished: wished[key] ?? 0,
  })).find(limit => limit.wished > limit.own)
}

/** What a person may let a run go on with that has reached a limit. */
export function twice(limits: RunLimits): RunLimits {
  const { maxTurns, maxCostUsd, maxTokens, maxTimeMs, maxCalls } = limits
  return {
    ...limits,
    maxTurns: maxTurns * 2,
    ...(maxCostUsd === undefined ? {} : { maxCostUsd: maxCostUsd * 2 }),
    ...(maxTokens === undefined ? {} : { maxTokens: maxTokens * 2 }),
    ...(maxTimeMs === undefined ? {} : { maxTimeMs: maxTimeMs * 2 }),
    ...(maxCalls === undefined ? {} : { maxCalls: maxCalls * 2 }),
  }
}

/** Requests to the model for an agent whose caller waits for its answer, for an orchestrator. */
export const PANEL_TURNS = 5
export const ORCHESTRATION_TURNS = 20

/** What a part of a run has used up. */
export interface Spent {
  readonly costUsd: number
  readonly tokens: number
  readonly calls: number
}

const ALONE = { share: 1, aside: { tokens: 0 }, largest: { request: 0 } }
const NOTHING: Spent = { costUsd: 0, tokens: 0, calls: 0 }
/** Shorter answers are of no use to anybody. */
const LEAST_ANSWER = 256

interface RoomParts {
  readonly limits: RunLimits
  readonly model: { readonly price: Price | null }
  readonly elsewhere?: Spent
  readonly purse?: Pick<Purse, 'share' | 'largest'> & { readonly aside: { readonly tokens: number } }
}

/** How many tokens an answer may have, so that one long answer does not go far beyond a limit. Infinity: any number. */
export function roomForAnswer(state: LoopState, parts: RoomParts): number {
  const { share, aside, largest } = parts.purse ?? ALONE
  const left = tokensLeft(state, parts)
  return Math.max(LEAST_ANSWER, Math.floor(Math.min(left * share, left - aside.tokens) - largest.request))
}

/** Whether requests of other agents that are under way may use up all that is left. */
export function isTaken(state: LoopState, parts: RoomParts): boolean {
  const { aside, largest } = parts.purse ?? ALONE
  return aside.tokens > 0 && tokensLeft(state, parts) - aside.tokens < largest.request + LEAST_ANSWER
}

function tokensLeft(state: LoopState, { limits, elsewhere = NOTHING, model }: RoomParts): number {
  const { maxCostUsd, maxTokens } = limits
  const { price } = model
  const tokens = (maxTokens ?? Number.POSITIVE_INFINITY) - totalTokens(state.usage) - elsewhere.tokens
  const money = (maxCostUsd ?? Number.POSITIVE_INFINITY) - (state.costUsd ?? 0) - elsewhere.costUsd
  const paid = price === null || price.output === 0 ? Number.POSITIVE_INFINITY : (money / price.output) * 1e6
  return Math.min(tokens, paid)
}

export interface NearLimit {
  readonly limit: (typeof NAMES)[number][1]
  /** USD of `max_cost`, seconds of `max_time`. */
  readonly used: number
  readonly most: number
}

const NEAR = 0.8
const LAST_TURNS = 5

/** The limits that a run comes close to. Of few turns, only the last one is near. */
export function nearLimits(state: LoopState, limits: RunLimits, elsewhere: Spent = NOTHING): NearLimit[] {
  const { turn, activeMs } = state
  const used: NearLimit[] = NAMES.flatMap(([key, limit]) => {
    const most = limits[key]
    if (most === undefined) return []
    const spent = {
      maxTurns: turn,
      maxCostUsd: (state.costUsd ?? 0) + elsewhere.costUsd,
      maxTokens: totalTokens(state.usage) + elsewhere.tokens,
      maxTimeMs: Math.round(activeMs / 1000),
      maxCalls: state.calls + elsewhere.calls,
    }
    return [{ limit, used: spent[key], most: key === 'maxTimeMs' ? Math.round(most / 1000) : most }]
  })
  return used.filter(({ limit, used: spent, most }) =>
    limit === 'max_turns'
      ? most > 2 && most - spent <= Math.min(LAST_TURNS, Math.ceil(most * (1 - NEAR)))
      : spent > 0 && spent >= most * NEAR,
  )
}

/** For the model, beside the results of its last calls. */
export function describeNear(near: readonly NearLimit[]): string {
  const isLast = near.some(({ limit, used, most }) => limit === 'max_turns' && most - used <= 1)
  const advice = isLast
    ? 'This is your last turn: give your answer now. You will not see the results of further calls.'
    : 'Come to an end, and give your answer.'
  return `[Kogu: ${near.map(sayNear).join(' ')} ${advice}]`
}

/** As a sentence. */
export function sayNear({ limit, used, most }: NearLimit): string {
  switch (limit) {
    case 'max_turns':
      return `${used} of ${most} turns are used.`
    case 'max_cost':
      return `$${used.toFixed(4)} of $${most.toFixed(2)} is spent.`
    case 'max_tokens':
      return `${used} of ${most} tokens are used.`
    case 'max_time':
      return `${used} of ${most} seconds are used.`
    case 'max_calls':
      return `${used} of ${most} calls are made.`
  }
}

/** The sentence about the first limit that does not let the next request happen, if there is one. */
export function exceeded(
  state: LoopState,
  limits: RunLimits,
  elsewhere: Spent = NOTHING,
): string | undefined {
  const { turn, activeMs } = state
  const costUsd = state.costUsd === null ? null : state.costUsd + elsewhere.costUsd
  const tokens = totalTokens(state.usage) + elsewhere.tokens
  const calls = state.calls + elsewhere.calls
  if (turn >= limits.maxTurns) return `It stopped after ${turn} turns, its limit.`
  if (limits.maxCostUsd !== undefined && costUsd !== null && costUsd >= limits.maxCostUsd) {
    return `It has cost $${costUsd.toFixed(4)}; the limit is $${limits.maxCostUsd.toFixed(2)}.`
  }
  if (limits.maxTokens !== undefined && tokens >= limits.maxTokens) {
    return `It has used ${tokens} tokens; the limit is ${limits.maxTokens}.`
  }
  if (limits.maxTimeMs !== undefined && activeMs >= limits.maxTimeMs) {
    return outOfTime(activeMs, limits.maxTimeMs)
  }
  if (limits.maxCalls !== undefined && calls >= limits.maxCalls) {
    return `It has made ${calls} calls; the limit is ${limits.maxCalls}.`
  }
  return undefined
}

export function outOfTime(activeMs: number, maxTimeMs: number): string {
  return `It has worked for ${Math.round(activeMs / 1000)} s; the limit is ${Math.round(maxTimeMs / 1000)} s.`
}
