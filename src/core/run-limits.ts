import type { Progress } from './call.ts'
import type { Clock } from './clock.ts'
import type { Decision } from './decision.ts'
import { ToolError } from './errors.ts'
import { addCall, lineage, type Run } from './run.ts'

// What a run may use up. Each limit holds for the run and for all runs below it together.

/** Counts a call, refused ones too: a run that asks again and again ends as well. Says why it may not be made. */
export function countCall(run: Run, clock: Clock): Refusal | undefined {
  try {
    // All of them are counted, whichever refuses.
    const counted = [...lineage(run)].map(each => ({ each, number: addCall(each) }))
    for (const { each, number } of counted) {
      const refusal = refuseSpent(each, number)
      if (refusal !== undefined) return refusal
    }
    return refuseEnded(run, clock)
  } catch (error) {
    return refuse('failed', `The call cannot be counted: ${error instanceof Error ? error.message : error}`)
  }
}

export interface Refusal {
  readonly error: ToolError
  readonly decision: Decision
}

export function applyRefusal(progress: Pick<Progress, 'decision'>, { error, decision }: Refusal): ToolError {
  progress.decision = decision
  return error
}

/** Asked again when a person has answered: meanwhile the run may have been closed, or its time be over. */
export function refuseEnded(run: Run, clock: Clock): Refusal | undefined {
  for (const each of lineage(run)) {
    if (each.closed === true) return refuse('cancelled', `The run '${each.id}' is closed.`)
    const { timeMs } = each.authority.limits
    if (timeMs !== undefined && clock.elapsed() - each.openedAt >= timeMs)
      return refuse('timeout', outOfTime(each))
  }
  return undefined
}

function refuseSpent({ id, authority, spent }: Run, number: number): Refusal | undefined {
  const { calls, money } = authority.limits
  if (calls !== undefined && number > calls)
    return refuse('forbidden', `The run '${id}' has reached its limit of ${calls} calls.`)
  if (money !== undefined && spent.money >= money)
    return refuse('forbidden', `The run '${id}' has reached its cost limit of ${money}.`)
  return undefined
}

/** How long a call of this run may take, of `mostMs`, and what to say when it takes longer. */
export function timeLeft(run: Run, clock: Clock, mostMs: number): { ms: number; message: string } {
  let left = { ms: mostMs, message: `The call took longer than ${mostMs} ms.` }
  for (const each of lineage(run)) {
    const { timeMs } = each.authority.limits
    if (timeMs === undefined) continue
    const ms = Math.max(0, timeMs - (clock.elapsed() - each.openedAt))
    if (ms < left.ms) left = { ms, message: outOfTime(each) }
  }
  return left
}

function outOfTime({ id, authority }: Run): string {
  return `The run '${id}' has reached its time limit of ${authority.limits.timeMs} ms.`
}

function refuse(code: 'cancelled' | 'timeout' | 'forbidden' | 'failed', reason: string): Refusal {
  const ref = { id: 'run-limits', source: 'built-in', text: 'limits of the run' }
  return {
    error: new ToolError(code, reason, { hint: 'Open another run, or open one with higher limits.' }),
    decision: { outcome: 'deny', by: 'hard-stop', ref, reason },
  }
}
