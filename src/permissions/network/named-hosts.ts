import type { JudgeRequest } from '../../core/decision.ts'
import type { Item } from '../items.ts'
import { compileHosts } from '../rules/patterns.ts'
import type { Rule } from '../rules/rules.ts'

type NetworkItem = Item & { kind: 'network' }

/**
 * Whether a rule allows this very host. A pattern does not name a host: whoever writes `*.example.com` does not know
 * where those names lead.
 */
export function isNamedByRule(item: NetworkItem, rules: readonly Rule[], request: JudgeRequest): boolean {
  return allowing(item, rules, request).some(pattern => !pattern.includes('*'))
}

/** Whether a rule allows this host with its port: `host:8000`. */
export function isPortNamed(item: NetworkItem, rules: readonly Rule[], request: JudgeRequest): boolean {
  return allowing(item, rules, request).some(pattern => /:\d+$/.test(pattern))
}

/** The patterns that match, of rules that allow it. */
function allowing(item: NetworkItem, rules: readonly Rule[], request: JudgeRequest): string[] {
  const { facts } = item
  if (facts === undefined) return []
  return rules
    .filter(
      rule => rule.decision === 'allow' && rule.definition.host !== undefined && rule.matches(item, request),
    )
    .flatMap(rule => rule.definition.host ?? [])
    .filter(pattern => compileHosts([pattern])(facts.host, facts.port))
}
