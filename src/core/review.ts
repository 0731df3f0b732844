import type { CallSummary } from './approval.ts'
import type { Call, CallRuntime, Prepared, Progress } from './call.ts'
import { ToolError, toToolError } from './errors.ts'
import { summarizeCall } from './question.ts'

/**
 * Looks at a call of high risk after it was allowed, by whomever: a rule, a grant, the mode or a person. It can only
 * refuse. One that fails refuses.
 */
export interface Reviewer {
  readonly id: string
  review(call: CallSummary, signal: AbortSignal): Promise<{ readonly refuse: string } | undefined>
}

/** Returns when no reviewer objects; all are asked at once. */
export async function reviewCall(
  runtime: CallRuntime,
  call: Call,
  prepared: Prepared,
  progress: Progress,
): Promise<void> {
  if (runtime.reviewers.length === 0 || prepared.judgement.risk !== 'high') return
  const summary = summarizeCall(runtime, call, prepared)
  const started = runtime.clock.elapsed()
  const opinions = await Promise.all(
    runtime.reviewers.map(async reviewer => {
      const { id } = reviewer
      try {
        return { id, refuse: (await reviewer.review(summary, call.signal))?.refuse }
      } catch (error) {
        return { id, refuse: `it could not be reviewed: ${toToolError(error).message}` }
      }
    }),
  )
  progress.waitMs += runtime.clock.elapsed() - started
  if (call.signal.aborted) throw new ToolError('cancelled', 'The call was cancelled while it was reviewed.')
  const objection = opinions.find(({ refuse }) => refuse !== undefined)
  if (objection === undefined) return
  const reason = `Refused by the reviewer '${objection.id}': ${objection.refuse}`
  progress.decision = { outcome: 'deny', by: 'reviewers', ref: null, reason }
  throw new ToolError('denied', reason)
}
