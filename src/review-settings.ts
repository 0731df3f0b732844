import type { LoadedConfig } from './config/load.ts'
import { findReviewIssues, type ReviewIssue } from './review/combinations.ts'
import { parseQuorumRule, type QuorumRule } from './review/quorum-rule.ts'

/** What does not go together in the settings of a quorum; nothing where there is none. */
export function reviewIssues(loaded: LoadedConfig): ReviewIssue[] {
  const { quorum, reviewers } = loaded.config
  const { needed, on_deny, on_error, ...named } = reviewers
  const members = Object.entries(named).map(([name, { kind, lookups }]) => ({ name, kind, lookups }))
  if (members.length === 0) return []
  const rule = ruleOf(loaded)
  return findReviewIssues({
    ...{ members, minModels: quorum.min_models, veto: quorum.veto, hil: quorum.hil },
    ...(rule?.kind === 'at_least' ? { atLeast: rule.count } : {}),
    ...{ level: quorum.level, strategy: quorum.strategy, scope: quorum.scope },
    finalReview: quorum.final_review,
  })
}

/** `reviewers.needed` counts for more: it is the shorter way to say `at_least`. */
export function ruleOf({ config: { quorum, reviewers } }: LoadedConfig): QuorumRule | undefined {
  return parseQuorumRule(reviewers.needed === undefined ? quorum.rule : `at_least:${reviewers.needed}`)
}
