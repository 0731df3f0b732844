/** What a person may want of a run. The last one lets the step that is under way come to its end. */
export type RunWish = 'pause' | 'stop' | 'stop_after_step'

/** Why a run is to stand still; `lost`: somebody else has it by now. */
export type Wish = RunWish | 'lost'

export interface Control {
  readonly signal: AbortSignal
  wish(wanted: Wish): void
  wished(): Wish | undefined
  /** These sub-agents are to end, and all below them. */
  stopAgents(executions: readonly string[]): void
  /** Aborted when this sub-agent is to end. */
  stopOf(execution: string): AbortSignal
}

/** One signal for everything that can make a run stand still, and which of it was first. */
export function createControl(outer: AbortSignal | undefined): Control {
  const controller = new AbortController()
  const state: { wished: Wish | undefined; afterStep: boolean } = { wished: undefined, afterStep: false }
  const agents = new Map<string, AbortController>()
  const agent = (execution: string): AbortController => {
    const known = agents.get(execution) ?? new AbortController()
    agents.set(execution, known)
    return known
  }
  const wish = (wanted: Wish): void => {
    if (wanted === 'stop_after_step') {
      state.afterStep = true
      return
    }
    state.wished ??= wanted
    controller.abort()
  }
  outer?.addEventListener('abort', () => wish('pause'), { once: true })
  if (outer?.aborted === true) wish('pause')
  return {
    signal: controller.signal,
    wish,
    wished: () => state.wished ?? (state.afterStep ? 'stop_after_step' : undefined),
    stopAgents: executions => {
      for (const execution of executions) agent(execution).abort()
    },
    stopOf: execution => agent(execution).signal,
  }
}
