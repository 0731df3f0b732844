import type { CallSummary } from '../core/approval.ts'
import type { Reviewer } from '../core/review.ts'
import { parseVerdict } from './parse-verdict.ts'
import { actionPrompt, type ReviewPrompt } from './prompt.ts'
import { type Tally, type TallyOptions, tally, type Vote } from './tally.ts'

/** One reviewer of the configuration: a model, or a program of the person. */
export interface QuorumMember {
  readonly name: string
  readonly timeoutMs: number
  /** Its answer as it came. */
  ask(prompt: ReviewPrompt, call: CallSummary, signal: AbortSignal): Promise<string>
}

export interface QuorumOptions extends TallyOptions {
  readonly members: readonly QuorumMember[]
  /** `all`: every call of high risk. `asked`: only those that a person was asked about. */
  readonly review: 'all' | 'asked'
  /** What happens when too few reviewers voted. `auto_approve` never counts for calls of high risk, which all of these are. */
  readonly hil: 'interactive' | 'auto_reject' | 'auto_approve'
  /** What a rejection means: the call is refused, or a person decides. */
  readonly onDeny: 'deny' | 'human'
  /** Puts the votes on record. */
  record(call: CallSummary, result: Tally): void
}

/** After so many rejections in a row a run is told without asking anybody: it is trying the same again. */
const BREAKER = 5

/** Asks every member at once, none of them knowing of the others, and counts. It never allows what was refused before. */
export function createQuorum(options: QuorumOptions): Reviewer {
  const rejections = new Map<string, number>()
  return {
    id: 'quorum',
    async review(call, signal) {
      if (options.review === 'asked' && call.decision.outcome !== 'ask') return undefined
      const before = rejections.get(call.runId) ?? 0
      if (before >= BREAKER)
        return {
          refuse: `${before} calls of this run were rejected in a row; a person has to look at it first.`,
        }
      const votes = await Promise.all(options.members.map(member => askMember(member, call, signal)))
      const result = tally(votes, options)
      options.record(call, result)
      if (result.passed) {
        rejections.delete(call.runId)
        return undefined
      }
      if (result.undecided && options.hil !== 'auto_reject')
        return {
          ask: `Too few reviewers voted (${result.totalVotes} of ${options.minModels}). ${result.display}`,
        }
      if (!result.undecided && options.onDeny === 'human')
        return { ask: `Rejected by quorum review ${result.display}\n${result.feedback}`.trimEnd() }
      remember(rejections, call.runId, before + 1)
      return { refuse: `Action rejected by quorum review ${result.display}\n${result.feedback}`.trimEnd() }
    },
  }
}

async function askMember(member: QuorumMember, call: CallSummary, outer: AbortSignal): Promise<Vote> {
  const { name: reviewer, timeoutMs } = member
  const signal = AbortSignal.any([outer, AbortSignal.timeout(timeoutMs)])
  try {
    const late = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    })
    // A prompt of its own for each: nothing that one of them reads was seen or marked by another.
    const answer = await Promise.race([member.ask(actionPrompt(call), call, signal), late])
    return { reviewer, ...parseVerdict(answer) }
  } catch (error) {
    const reasoning = signal.aborted ? 'It did not answer in time.' : `It failed: ${messageOf(error)}`
    return { reviewer, verdict: 'error', reasoning }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

const MOST_RUNS = 1_000

/** Runs come and go; the oldest are forgotten. */
function remember(counts: Map<string, number>, run: string, count: number): void {
  counts.delete(run)
  counts.set(run, count)
  const [oldest] = counts.keys()
  if (counts.size > MOST_RUNS && oldest !== undefined) counts.delete(oldest)
}
