import { randomUUID } from 'node:crypto'
import type { TurnStore } from './agents/durable-turn.ts'
import type { Plan, RunEvent } from './agents/events.ts'
import { end, type LoopState } from './agents/loop-state.ts'
import { hasActed, planRevisions, withRejectedPlan } from './agents/plan-review.ts'
import type { Standstill } from './agents/standstill.ts'
import { fenceUntrusted } from './core/fence.ts'
import type { ReviewBoard } from './review/board.ts'
import type { Tally } from './review/tally.ts'
import type { Runtime } from './runtime.ts'
import type { Database } from './store/database/database.ts'
import { sayToRun } from './store/tables/run-messages.ts'
import { insertUsage } from './store/tables/usage.ts'
import { uuidFrom } from './sub-agents.ts'

// What reviewers do in a run besides looking at calls: its plan before anything is done, its outcome at the end.

export interface RunReview {
  readonly board: ReviewBoard
  readonly run: string
  readonly task: string
  readonly store: TurnStore
  readonly signal: AbortSignal
  emit(event: RunEvent): void
}

/** Whether the reviewers have to see the next calls as a plan. */
export function awaitsPlanReview({ board }: Pick<RunReview, 'board'>, state: LoopState): boolean {
  return (board.reviewsPlans || board.scope === 'plan-only') && !hasActed(state)
}

/** `passed`: it may go on. `revise`: the model was told why not. `person`: somebody has to decide. */
export async function reviewPlan(
  review: RunReview,
  state: LoopState,
  plan: Plan,
): Promise<'passed' | 'revise' | 'person' | Standstill> {
  const { board, run, task, signal, store } = review
  if (!board.reviewsPlans) return 'passed'
  const result = await board.plan(run, { task, text: plan.text, steps: plan.steps }, signal)
  tell(review, 'plan', result)
  if (result.passed) return 'passed'
  if (!result.undecided && planRevisions(state) < board.maxPlanRevisions) {
    await store.save(withRejectedPlan(state, `${result.display}\n${result.feedback}`), {})
    return 'revise'
  }
  if (board.hil === 'interactive') return 'person'
  if (standsIn(board, result)) return 'passed'
  const error = `Plan rejected by quorum review ${result.display}`
  await store.save(end(state, 'denied', error), {})
  return { status: 'failed', stopReason: 'denied', error }
}

/** `auto_approve` is for votes that are missing. Whoever has voted no has not been asked in vain. */
function standsIn({ hil }: ReviewBoard, { undecided, rejectCount }: Tally): boolean {
  return hil === 'auto_approve' && undecided && rejectCount === 0
}

/** With scope `plan-only` the plan is the outcome. */
export async function endWithPlan({ store }: RunReview, state: LoopState, plan: Plan): Promise<Standstill> {
  const steps = plan.steps.map(({ name, input }, index) => `${index + 1}. ${name} ${JSON.stringify(input)}`)
  const text = [plan.text, ...steps].filter(part => part !== '').join('\n')
  await store.save({ ...state, pending: [], ending: { stopReason: 'end_turn', text } }, {})
  return { status: 'completed', stopReason: 'end_turn' }
}

/** A run whose outcome the reviewers reject, or do not vote on, has failed; what it did stays, and can be undone. */
export async function reviewOutcome(
  review: RunReview,
  state: LoopState,
  stand: Standstill,
): Promise<Standstill> {
  const { board, run, task, signal } = review
  if (!board.reviewsOutcomes || stand.status !== 'completed') return stand
  const outcome = { task, output: state.ending?.text ?? '', calls: state.calls }
  const result = await board.outcome(run, outcome, signal)
  tell(review, 'final', result)
  const error = describeObjection(board, result)
  return error === undefined ? stand : { status: 'failed', stopReason: 'denied', error }
}

/** Why an outcome does not count; undefined where the reviewers passed it, or nobody voted and the person said to go on. */
export function describeObjection(board: ReviewBoard, result: Tally): string | undefined {
  if (result.passed || standsIn(board, result)) return undefined
  const verdict = result.undecided ? 'has too few votes, so look at it yourself' : 'rejects it'
  return `The final review ${verdict} ${result.display}\n${result.feedback}`.trimEnd()
}

/** Before its first answer, an ensemble's best plan is told to the agent. Told once, however often the run is resumed. */
export async function planTogether(review: RunReview, database: Database, state: LoopState): Promise<void> {
  const { board, run, task, signal } = review
  const isNew = state.turn === 0 && state.messages.length === 1
  if (board.level !== 'ensemble' || board.scope === 'fast' || !isNew) return
  const chosen = await board.ensemble(run, task, signal)
  if (chosen === undefined) return
  const text = `A plan for this task, which several models have made and scored (${chosen.score.toFixed(1)} of 10). Follow it where it fits:\n${fenceUntrusted(chosen.text, 'plan')}`
  await sayToRun(database, uuidFrom('ensemble', run), run, text)
}

function tell({ emit }: RunReview, phase: 'plan' | 'final', { passed, display, feedback }: Tally): void {
  emit({ type: 'review.finished', phase, passed, display, feedback })
}

/** Writes down what reviewers of any run cost. */
export function keepSpending({ runtime, database }: { runtime: Runtime; database: Database }) {
  let last: Promise<unknown> = Promise.resolve()
  const stop = runtime.onReviewSpent(({ run, ...spent }) => {
    // Sub-agents have the id of their run and a part of their own.
    const entry = { id: randomUUID(), run: run.split('.')[0] ?? run, execution: null, ...spent }
    last = Promise.all([last, insertUsage(database, entry)])
    // Whoever waits for it is told; until then it is nobody's failure.
    last.catch(() => undefined)
  })
  return {
    written: () => last,
    async close() {
      stop()
      await last
    },
  }
}
