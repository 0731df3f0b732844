import type { DecideContext } from '../decide.ts'
import type { Item } from '../items.ts'
import { compileHosts } from '../rules/patterns.ts'
import type { Rule } from '../rules/rules.ts'
import type { AddressClass } from './network.ts'

type NetworkItem = Item & { kind: 'network' }

/** The patterns of rules that allow a host, and for commands those of the person's own settings, that match this one. */
export function patternsFor(item: NetworkItem, context: DecideContext): string[] {
  const { facts } = item
  if (facts === undefined) return []
  return allowingRules(item, context)
    .flatMap(rule => rule.definition.host ?? [])
    .concat(item.derived ? context.ownHosts : [])
    .filter(pattern => compileHosts([pattern])(facts.host, facts.port))
}

/** The rules that allow this host by its name. */
export function allowingRules(item: Item, { rules, request }: DecideContext): Rule[] {
  return rules.filter(
    rule => rule.decision === 'allow' && rule.definition.host !== undefined && rule.matches(item, request),
  )
}

/**
 * Whether they open a host at such an address: a person who needs the own network names its hosts. A pattern does not name
 * a host, because nobody knows where the names of `*.example.com` lead. Addresses that give out keys stay closed.
 */
export function opens(patterns: readonly string[], addressClass: AddressClass): boolean {
  const named = patterns.filter(pattern => !pattern.includes('*'))
  return (addressClass === 'private' || addressClass === 'loopback') && named.length > 0
}
