import { afterCalls, type LoopState } from './loop-state.ts'
import { toolResultsOf } from './messages.ts'

// What becomes of a plan that reviewers reject: its calls are answered with their reasons, none of them having been made,
// and the model plans again. How often that happened follows from the conversation alone.

const REJECTED = 'Plan rejected by quorum review'
const MARK = `denied: ${REJECTED}`

/** A call of this run was made, so its plan has passed. */
export function hasActed({ messages }: LoopState): boolean {
  return toolResultsOf(messages).some(({ content }) => !content.startsWith(MARK))
}

export function planRevisions({ messages }: LoopState): number {
  const isRejected = (content: string): boolean => content.startsWith(MARK)
  return messages.filter(message => toolResultsOf([message]).some(({ content }) => isRejected(content)))
    .length
}

export function withRejectedPlan(state: LoopState, reasons: string): LoopState {
  const message = `${REJECTED} ${reasons}\nNothing of it was done. Make another plan that answers this.`
  const error = { code: 'denied' as const, message, hint: null }
  const outcomes = state.pending.map(use => ({ use, result: { ok: false, text: message, error } }))
  // None of them was a call.
  return { ...afterCalls(state, outcomes), calls: state.calls, recent: state.recent }
}
