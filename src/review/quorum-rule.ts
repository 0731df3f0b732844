/** How many approvals it takes, as configured by `[quorum] rule`. */
export type QuorumRule =
  | { readonly kind: 'majority' }
  | { readonly kind: 'unanimous' }
  | { readonly kind: 'at_least'; readonly count: number }
  | { readonly kind: 'percentage'; readonly percent: number }

/** Undefined when it is not a rule. Takes `majority`, `unanimous`, `at_least:2`, `percentage:60` and `60%`. */
export function parseQuorumRule(text: string): QuorumRule | undefined {
  const rule = text.trim().toLowerCase()
  if (rule === 'majority' || rule === 'unanimous') return { kind: rule }
  const count = /^at_?least:(\d{1,3})$/.exec(rule)?.[1]
  if (count !== undefined) return Number(count) >= 1 ? { kind: 'at_least', count: Number(count) } : undefined
  const percent = /^(?:percentage:(\d{1,3})|(\d{1,3})\s*%)$/.exec(rule)
  const value = Number(percent?.[1] ?? percent?.[2] ?? 0)
  return value >= 1 && value <= 100 ? { kind: 'percentage', percent: value } : undefined
}

/** Whether the votes pass. Abstentions are not votes; zero votes never pass, and a tie is no majority. */
export function passes(rule: QuorumRule, approvals: number, votes: number): boolean {
  return votes > 0 && approvals >= neededApprovals(rule, votes)
}

export function neededApprovals(rule: QuorumRule, votes: number): number {
  switch (rule.kind) {
    case 'majority':
      return Math.floor(votes / 2) + 1
    case 'unanimous':
      return votes
    case 'at_least':
      return rule.count
    case 'percentage':
      // In whole numbers: 60 % of 5 is 3, and 0.6 * 5 is not in floating point for every pair.
      return Math.ceil((votes * rule.percent) / 100)
  }
}
