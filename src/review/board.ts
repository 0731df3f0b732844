import { type AskOptions, askMembers, inTime, type QuorumMember } from './ask-members.ts'
import { ensemblePrompt, finalPrompt, type PlanSubject, planPrompt, scorePrompt } from './prompt.ts'
import { type Tally, type TallyOptions, tally } from './tally.ts'

// What reviewers do besides single calls: they look at plans before anything runs, at the outcome when a run has ended, and
// as an ensemble make plans themselves.

export interface ReviewBoard {
  /** `fast`: neither plans nor outcomes are reviewed. `plan-only`: a run ends with its plan. */
  readonly scope: 'full' | 'fast' | 'plan-only'
  readonly reviewsPlans: boolean
  readonly reviewsOutcomes: boolean
  readonly level: 'solo' | 'ensemble'
  readonly maxPlanRevisions: number
  readonly hil: 'interactive' | 'auto_reject' | 'auto_approve'
  plan(run: string, subject: PlanSubject, signal: AbortSignal): Promise<Tally>
  outcome(run: string, subject: OutcomeSubject, signal: AbortSignal): Promise<Tally>
  /** The plan that the others think best; undefined when nobody made one. */
  ensemble(run: string, task: string, signal: AbortSignal): Promise<ChosenPlan | undefined>
}

interface OutcomeSubject {
  readonly task: string
  readonly output: string
  readonly calls: number
}

interface ChosenPlan {
  readonly by: string
  readonly text: string
  readonly score: number
  readonly scores: Readonly<Record<string, number>>
}

export interface BoardOptions
  extends TallyOptions,
    Omit<AskOptions, 'signal' | 'run'>,
    Pick<ReviewBoard, 'scope' | 'level' | 'maxPlanRevisions' | 'hil'> {
  readonly members: readonly QuorumMember[]
  readonly planReview: boolean
  readonly finalReview: boolean
  record(phase: 'plan' | 'final' | 'ensemble', run: string, details: Record<string, unknown>): void
}

const ENSEMBLE_MS = 180_000

export function createBoard(options: BoardOptions): ReviewBoard {
  const { members, scope, level, maxPlanRevisions, hil, record } = options
  const review = async (
    phase: 'plan' | 'final',
    run: string,
    subject: PlanSubject | OutcomeSubject,
    signal: AbortSignal,
  ): Promise<Tally> => {
    const makePrompt = () => ('output' in subject ? finalPrompt(subject) : planPrompt(subject))
    const about = phase === 'final' ? 'outcome' : 'approval'
    const how = { ...options, run, signal, about } as const
    const asked = await askMembers(members, { phase, ...subject }, makePrompt, how)
    const result = tally(asked.votes, options)
    const { passed, undecided, display, votes } = result
    record(phase, run, { passed, undecided, display, votes, before: asked.before, cost_usd: asked.costUsd })
    return result
  }
  return {
    ...{ scope, level, maxPlanRevisions, hil },
    reviewsPlans: options.planReview && scope !== 'fast',
    reviewsOutcomes: options.finalReview && scope === 'full',
    plan: (run, subject, signal) => review('plan', run, subject, signal),
    outcome: (run, subject, signal) => review('final', run, subject, signal),
    async ensemble(run, task, outer) {
      const signal = AbortSignal.any([outer, AbortSignal.timeout(ENSEMBLE_MS)])
      const chosen = await choosePlan(
        members.filter(({ kind }) => kind === 'model'),
        task,
        { run, signal },
      )
      record('ensemble', run, { by: chosen?.by ?? null, scores: chosen?.scores ?? {} })
      return chosen
    },
  }
}

async function choosePlan(
  models: readonly QuorumMember[],
  task: string,
  { run, signal }: { run: string; signal: AbortSignal },
): Promise<ChosenPlan | undefined> {
  const say = async (member: QuorumMember, prompt: ReturnType<typeof ensemblePrompt>): Promise<string> => {
    try {
      const own = AbortSignal.any([signal, AbortSignal.timeout(member.timeoutMs)])
      const limits = { run, signal: own, maxCostUsd: undefined }
      return (await inTime(member.ask(prompt, { phase: 'ensemble', task }, limits), own)).text.trim()
    } catch {
      // One that fails or is late has made no plan, and gives no score.
      return ''
    }
  }
  const made = await Promise.all(
    models.map(async member => ({ by: member.name, text: await say(member, ensemblePrompt(task)) })),
  )
  const plans = made.filter(({ text }) => text !== '')
  const scored = await Promise.all(
    plans.map(async ({ by, text }) => {
      const others = models.filter(({ name }) => name !== by)
      const given = await Promise.all(others.map(other => say(other, scorePrompt(task, text))))
      const scores = given.map(parseScore)
      const score = scores.length === 0 ? UNREADABLE : scores.reduce((a, b) => a + b, 0) / scores.length
      return { by, text, score }
    }),
  )
  // Of equals, the one that was configured first.
  const best = scored.reduce<(typeof scored)[number] | undefined>(
    (leader, plan) => (leader === undefined || plan.score > leader.score ? plan : leader),
    undefined,
  )
  if (best === undefined) return undefined
  return { ...best, scores: Object.fromEntries(scored.map(({ by, score }) => [by, score])) }
}

const UNREADABLE = 5

/** `{"score": 8}` or `8/10`; what cannot be read counts as the middle. */
export function parseScore(text: string): number {
  const found = /^\s*(?:```(?:json)?\s*)?\{[^{}]*"score"\s*:\s*(\d{1,2}(?:\.\d+)?)/.exec(text)?.[1]
  const score = Number(found ?? /\b(\d{1,2}(?:\.\d+)?)\s*\/\s*10\b/.exec(text)?.[1] ?? Number.NaN)
  return score >= 1 && score <= 10 ? score : UNREADABLE
}
