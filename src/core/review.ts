import type { CallSummary } from './approval.ts'
import type { Call, CallRuntime, Prepared, Progress } from './call.ts'
import { ToolError, toToolError } from './errors.ts'
import { obtainApproval } from './obtain-approval.ts'
import { subjectOf, summarizeCall } from './question.ts'
import { spendMoney } from './run.ts'
import { showCall } from './stored-question.ts'

/**
 * Looks at a call of high risk after it was allowed, by whomever: a rule, a grant, the mode or a person. It can only
 * refuse, or want a person to decide. One that fails refuses.
 */
export interface Reviewer {
  readonly id: string
  /** `spend`: told what it has cost, in USD, as far as that is known. */
  review(
    call: CallSummary,
    signal: AbortSignal,
    spend?: (usd: number) => void,
  ): Promise<Objection | undefined>
}

export type Objection = { readonly refuse: string } | { readonly ask: string }

/** Returns when no reviewer objects; all are asked at once. */
export async function reviewCall(
  runtime: CallRuntime,
  call: Call,
  prepared: Prepared,
  progress: Progress,
): Promise<void> {
  const askPerson = async (reason: string): Promise<void> => {
    const decision = { outcome: 'ask', by: 'reviewers', ref: null, reason } as const
    const asking = { ...prepared, judgement: { ...prepared.judgement, decision } }
    await obtainApproval(runtime, call, asking, progress, {})
  }
  // A person's answer to what reviewers could not decide: they are not asked again.
  const asked = call.continues?.question
  const waited = asked?.subject.kind === subjectOf(prepared).kind ? asked.decision : undefined
  if (waited?.by === 'reviewers') return askPerson(waited.reason)
  if (runtime.reviewers.length === 0 || prepared.judgement.risk !== 'high') return
  const { unrecorded = [] } = prepared.request.tool
  const summary = showCall(await summarizeCall(runtime, call, prepared), unrecorded, runtime.redactor)
  const started = runtime.clock.elapsed()
  const spend = (usd: number): void => spendMoney(call.run, usd)
  const opinions = await Promise.all(
    runtime.reviewers.map(async reviewer => {
      const { id } = reviewer
      try {
        return { id, objection: await reviewer.review(summary, call.signal, spend) }
      } catch (error) {
        return { id, objection: { refuse: `it could not be reviewed: ${toToolError(error).message}` } }
      }
    }),
  )
  progress.waitMs += runtime.clock.elapsed() - started
  if (call.signal.aborted) throw new ToolError('cancelled', 'The call was cancelled while it was reviewed.')
  for (const { id, objection } of opinions) {
    if (objection === undefined || 'ask' in objection) continue
    const reason = `Refused by the reviewer '${id}': ${objection.refuse}`
    progress.decision = { outcome: 'deny', by: 'reviewers', ref: null, reason }
    throw new ToolError('denied', reason)
  }
  const [undecided] = opinions.flatMap(({ objection }) =>
    objection !== undefined && 'ask' in objection ? [objection.ask] : [],
  )
  // Who has just been asked and said yes is not asked a second time.
  if (undecided !== undefined && progress.decision?.by !== 'user') await askPerson(undecided)
}
