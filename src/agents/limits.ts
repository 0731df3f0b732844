import type { LoopState } from './loop-state.ts'
import { totalTokens } from './model.ts'

/** What a run may use up. Undefined: no limit of this kind. */
export interface RunLimits {
  readonly maxTurns: number
  readonly maxCostUsd?: number
  readonly maxTokens?: number
  readonly maxTimeMs?: number
  readonly maxCalls?: number
}

/** Requests to the model for one agent with tools, for an orchestrator. */
export const PANEL_TURNS = 5
export const ORCHESTRATION_TURNS = 20

/** The sentence about the first limit that does not let the next request happen, if there is one. */
export function exceeded(state: LoopState, limits: RunLimits): string | undefined {
  const { turn, costUsd, usage, activeMs, calls } = state
  if (turn >= limits.maxTurns) return `It stopped after ${turn} turns, its limit.`
  if (limits.maxCostUsd !== undefined && costUsd !== null && costUsd >= limits.maxCostUsd) {
    return `It has cost $${costUsd.toFixed(4)}; the limit is $${limits.maxCostUsd.toFixed(2)}.`
  }
  if (limits.maxTokens !== undefined && totalTokens(usage) >= limits.maxTokens) {
    return `It has used ${totalTokens(usage)} tokens; the limit is ${limits.maxTokens}.`
  }
  if (limits.maxTimeMs !== undefined && activeMs >= limits.maxTimeMs) {
    return `It has worked for ${Math.round(activeMs / 1000)} s; the limit is ${Math.round(limits.maxTimeMs / 1000)} s.`
  }
  if (limits.maxCalls !== undefined && calls >= limits.maxCalls) {
    return `It has made ${calls} calls; the limit is ${limits.maxCalls}.`
  }
  return undefined
}
