import type { HostRefusal } from '../../core/command.ts'
import type { JudgeUrl } from '../../core/permit.ts'
import { type DecideContext, decide } from '../decide.ts'
import type { Item } from '../items.ts'
import { opens, patternsFor } from './named-hosts.ts'
import { analyzeUrl, classifyAddress } from './network.ts'

type NetworkItem = Item & { kind: 'network' }

/**
 * Judges where a call that may contact the web is led while it runs. Another host than those that were judged passes the
 * same engine, by itself; where that would ask, it is not contacted. The addresses behind a name have to be public, or
 * those of a host that a rule names.
 */
export function judgeUrls(items: readonly Item[], context: DecideContext): JudgeUrl {
  const judged = items.filter(item => item.kind === 'network').filter(({ derived }) => !derived)
  return (url, addresses) => {
    const item: NetworkItem = { kind: 'network', url, method: 'GET', facts: analyzeUrl(url), derived: false }
    const { decision, hard } = decide([item], context)
    if (hard !== undefined) return refused(hard.reason)
    const wasJudged = judged.some(each => isSameHost(each, item))
    if (decision.outcome === 'deny') return refused(decision.reason)
    if (decision.outcome === 'ask' && !wasJudged) return { reason: decision.reason, canBeAllowed: true }
    const patterns = patternsFor(item, context)
    const wrong = addresses.find(address => {
      const kind = classifyAddress(address)
      return kind !== 'public' && !opens(patterns, kind)
    })
    if (wrong === undefined) return null
    return refused(
      `Not contacting ${item.facts?.host}: its name resolves to ${wrong}, a ${classifyAddress(wrong)} address.`,
    )
  }
}

/** `http://a` leads to `https://a` so often that the web's own ports of a host count as the same. */
function isSameHost({ facts: one }: NetworkItem, { facts: other }: NetworkItem): boolean {
  if (one === undefined || other === undefined || one.host !== other.host) return false
  return one.port === other.port || (isUsual(one.port) && isUsual(other.port))
}

function isUsual(port: number): boolean {
  return port === 80 || port === 443
}

function refused(reason: string): HostRefusal {
  return { reason, canBeAllowed: false }
}
