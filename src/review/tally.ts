import { neededApprovals, passes, type QuorumRule } from './quorum-rule.ts'

/** `abstain`: the reviewer has no opinion. `error`: it failed, was late or gave no valid answer. Neither is a vote. */
export type Verdict = 'approve' | 'reject' | 'abstain' | 'error'

export interface Vote {
  readonly reviewer: string
  readonly verdict: Verdict
  readonly reasoning: string
  /** From 0 to 1, when the reviewer states it. */
  readonly confidence?: number
  /** How long it took to say so. */
  readonly ms?: number
}

export interface TallyOptions {
  readonly rule: QuorumRule
  /** Votes that have to be there; reviewers who abstain or fail do not count. */
  readonly minModels: number
  /** What a reviewer that failed counts as. As a rejection it still is no vote that was there, and is not shown as one. */
  readonly onError: 'abstain' | 'deny'
  /** Reviewers whose rejection decides alone. */
  readonly veto?: readonly string[]
}

export interface Tally {
  readonly passed: boolean
  /** Fewer votes than `minModels`, or none of a reviewer who has a veto: nobody decided, so a person has to. */
  readonly undecided: boolean
  readonly approveCount: number
  readonly rejectCount: number
  readonly totalVotes: number
  /** Approvals that so many votes take. */
  readonly needed: number
  readonly votes: readonly Vote[]
  /** `reviewer: reasoning` of every rejection, and of every failure that counts as one. */
  readonly feedback: string
  /** One mark per reviewer: `[●●○]`, `!` where there is no vote. */
  readonly display: string
}

export function tally(votes: readonly Vote[], { rule, minModels, onError, veto = [] }: TallyOptions): Tally {
  const approveCount = votes.filter(({ verdict }) => verdict === 'approve').length
  const rejections = votes.filter(
    ({ verdict }) => verdict === 'reject' || (verdict === 'error' && onError === 'deny'),
  )
  const totalVotes = approveCount + rejections.length
  const vetoed = rejections.some(({ reviewer }) => veto.includes(reviewer))
  const isApproved = !vetoed && passes(rule, approveCount, totalVotes)
  // Whoever makes reviewers fail must not get past one that could have said no, nor past the number of votes.
  const present = votes.filter(({ verdict }) => verdict === 'approve' || verdict === 'reject').length
  const isComplete =
    present >= Math.max(1, minModels) &&
    !votes.some(({ reviewer, verdict }) => verdict === 'error' && veto.includes(reviewer))
  return {
    passed: isApproved && isComplete,
    undecided: !vetoed && !isComplete && (isApproved || totalVotes < Math.max(1, minModels)),
    approveCount,
    rejectCount: rejections.length,
    totalVotes,
    needed: neededApprovals(rule, totalVotes),
    votes,
    feedback: rejections.map(({ reviewer, reasoning }) => `${reviewer}: ${reasoning}`).join('\n\n'),
    display: `[${votes.map(({ verdict }) => MARKS[verdict]).join('')}]`,
  }
}

const MARKS = { approve: '●', reject: '○', abstain: '!', error: '!' } as const satisfies Record<
  Verdict,
  string
>
