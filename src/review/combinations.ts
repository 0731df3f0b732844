/** Settings of a quorum that do not go together. An error: it could never do what it says. */
export interface ReviewIssue {
  readonly severity: 'error' | 'warning'
  readonly key: string
  readonly message: string
}

export interface ReviewSettings {
  readonly members: readonly {
    readonly name: string
    readonly kind: 'model' | 'command'
    readonly lookups: number
  }[]
  readonly minModels: number
  /** Approvals that the rule wants at least, when it says a number. */
  readonly atLeast?: number
  readonly veto: readonly string[]
  readonly level: 'solo' | 'ensemble'
  readonly strategy: 'quorum' | 'debate'
  readonly scope: 'full' | 'fast' | 'plan-only'
  readonly hil: 'interactive' | 'auto_reject' | 'auto_approve'
  readonly finalReview: boolean
}

export function findReviewIssues(settings: ReviewSettings): ReviewIssue[] {
  const { members, minModels, atLeast = 0, veto, level, strategy, scope, hil, finalReview } = settings
  const issues: ReviewIssue[] = []
  const error = (key: string, message: string): number => issues.push({ severity: 'error', key, message })
  const warning = (key: string, message: string): number => issues.push({ severity: 'warning', key, message })
  const count = members.length
  if (minModels > count)
    error(
      'quorum.min_models',
      `[quorum] min_models = ${minModels}, but only ${count} ${count === 1 ? 'reviewer is' : 'reviewers are'} configured: no call could ever pass.`,
    )
  if (atLeast > count)
    error(
      'quorum.rule',
      `${atLeast} approvals are needed, but only ${count} can vote: no call could ever pass.`,
    )
  for (const name of veto)
    if (!members.some(member => member.name === name))
      error('quorum.veto', `The veto names '${name}', which is not a reviewer.`)
  if (level === 'solo' && strategy === 'debate')
    error('quorum.strategy', 'A debate needs several planners: set level = "ensemble".')
  if (level === 'ensemble' && members.filter(({ kind }) => kind === 'model').length < 2)
    error('quorum.level', 'An ensemble needs at least two reviewers that are models.')
  if (level === 'ensemble' && scope === 'fast')
    warning('quorum.scope', 'With scope = "fast" there is no planning, so the ensemble has nothing to do.')
  if (finalReview && scope !== 'full')
    warning('quorum.final_review', `With scope = "${scope}" nothing is reviewed at the end.`)
  if (hil === 'auto_approve')
    warning('quorum.hil', 'auto_approve lets a plan pass that nobody voted for. It never holds for a call.')
  for (const { name, kind, lookups } of members)
    if (kind === 'command' && lookups > 0)
      warning(`reviewers.${name}.lookups`, `The reviewer '${name}' is a program; it has no lookups.`)
  return issues
}
