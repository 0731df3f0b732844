import type { DecideContext } from '../decide.ts'
import type { HardStop } from '../hard-limits.ts'
import type { Item } from '../items.ts'
import { allowingRules } from './named-hosts.ts'

/**
 * A known secret does not leave the machine for a host that no rule allows: not in an address, and not in anything else
 * that the call was given, because a tool may send all of it.
 */
export function findSecretStop(items: readonly Item[], context: DecideContext): HardStop | undefined {
  const { request, findSecret } = context
  const contacted = items
    .filter(item => item.kind === 'network')
    .filter(item => allowingRules(item, context).length === 0)
  if (contacted.length === 0) return undefined
  const line = items.find(item => item.kind === 'execute')?.command
  const own = contacted.filter(item => !item.derived)
  const texts = [
    ...contacted.map(({ url }) => url),
    ...(own.length > 0 ? stringsIn(request.input) : []),
    ...(line === undefined ? [] : [line]),
  ]
  const kind = texts.map(findSecret).find(found => found !== undefined)
  if (kind === undefined) return undefined
  const [first] = contacted
  // Not the address: the secret may be in it.
  const host = first?.facts?.host ?? 'another machine'
  const shown = findSecret(host) === undefined ? host : 'another machine'
  return {
    id: 'secret-leaves',
    reason: `Not contacting ${shown}: the call carries ${kind}, and no rule allows this host to get it.`,
  }
}

const DEEPEST = 20

function stringsIn(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return []
  return Object.entries(value).flatMap(([key, item]) => [key, ...stringsIn(item, depth + 1)])
}
