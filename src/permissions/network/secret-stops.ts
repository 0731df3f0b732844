import type { JudgeRequest } from '../../core/decision.ts'
import type { FindSecret } from '../../core/known-secrets.ts'
import type { HardStop } from '../hard-limits.ts'
import type { Item } from '../items.ts'
import type { Rule } from '../rules/rules.ts'

/**
 * A known secret does not leave the machine for a host that no rule allows: not in an address, and not in anything else
 * that the call was given, because a tool may send all of it.
 */
export function findSecretStop(
  items: readonly Item[],
  request: JudgeRequest,
  inForce: readonly Rule[],
  findSecret: FindSecret,
): HardStop | undefined {
  const contacted = items.filter(item => item.kind === 'network' && !isAllowed(item, request, inForce))
  if (contacted.length === 0) return undefined
  const line = items.find(item => item.kind === 'execute')?.command
  const own = contacted.filter(item => !item.derived)
  const texts = [
    ...contacted.map(item => (item.kind === 'network' ? item.url : '')),
    ...(own.length > 0 ? stringsIn(request.input) : []),
    ...(line === undefined ? [] : [line]),
  ]
  const kind = texts.map(findSecret).find(found => found !== undefined)
  if (kind === undefined) return undefined
  const [first] = contacted
  // Not the address: the secret may be in it.
  const host = first?.kind === 'network' ? (first.facts?.host ?? 'another machine') : 'another machine'
  const shown = findSecret(host) === undefined ? host : 'another machine'
  return {
    id: 'secret-leaves',
    reason: `Not contacting ${shown}: the call carries ${kind}, and no rule allows this host to get it.`,
  }
}

function isAllowed(item: Item, request: JudgeRequest, inForce: readonly Rule[]): boolean {
  return inForce.some(
    rule => rule.decision === 'allow' && rule.definition.host !== undefined && rule.matches(item, request),
  )
}

const DEEPEST = 20

function stringsIn(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return []
  return Object.entries(value).flatMap(([key, item]) => [key, ...stringsIn(item, depth + 1)])
}
