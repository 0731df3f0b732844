import type { Verdict } from './tally.ts'

// Reviewers beside what became of the calls they voted on: a person's later decision, and undo. It says how far each of
// them can be relied on; nothing acts on it by itself.

export interface ReviewedCall {
  readonly call: string
  readonly votes: readonly { readonly reviewer: string; readonly verdict: Verdict }[]
  /** What a person decided about the call after the vote, or did with its outcome. */
  readonly fate: Fate
}

/** `approved`, `denied`: by a person. `undone`: taken back. `kept`: it ran and stands. `none`: it did not run. */
export type Fate = 'approved' | 'denied' | 'undone' | 'kept' | 'none'

export interface ReviewerRecord {
  readonly reviewer: string
  readonly reviews: number
  readonly approvals: number
  readonly rejections: number
  /** Abstentions, failures, late and unreadable answers. */
  readonly withoutVote: number
  /** Of its approvals whose fate is known, the share that stood. Null: none is known. */
  readonly approvalPrecision: number | null
  /** Of its rejections whose fate is known, the share that was right: a person said no, or took it back. */
  readonly rejectionPrecision: number | null
}

export function calibrate(calls: readonly ReviewedCall[]): ReviewerRecord[] {
  const names = [...new Set(calls.flatMap(({ votes }) => votes.map(({ reviewer }) => reviewer)))].sort()
  return names.map(reviewer => {
    const own = calls.flatMap(({ votes, fate }) =>
      votes.filter(vote => vote.reviewer === reviewer).map(({ verdict }) => ({ verdict, fate })),
    )
    const approvals = own.filter(({ verdict }) => verdict === 'approve')
    const rejections = own.filter(({ verdict }) => verdict === 'reject')
    return {
      reviewer,
      reviews: own.length,
      approvals: approvals.length,
      rejections: rejections.length,
      withoutVote: own.length - approvals.length - rejections.length,
      approvalPrecision: share(approvals, GOOD),
      rejectionPrecision: share(rejections, BAD),
    }
  })
}

const GOOD: ReadonlySet<Fate> = new Set(['approved', 'kept'])
const BAD: ReadonlySet<Fate> = new Set(['denied', 'undone'])

function share(votes: readonly { fate: Fate }[], right: ReadonlySet<Fate>): number | null {
  const known = votes.filter(({ fate }) => fate !== 'none')
  if (known.length === 0) return null
  return known.filter(({ fate }) => right.has(fate)).length / known.length
}
