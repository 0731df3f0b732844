import { isIP } from 'node:net'
import { ANY_HOST } from '../../core/access.ts'
import type { HostRefusal, JudgeHost } from '../../core/command.ts'
import { onlyHosts } from '../authority-stops.ts'
import type { DecideContext } from '../decide.ts'
import type { Item } from '../items.ts'
import { compileHosts } from '../rules/patterns.ts'
import { hostsOfLine, type LineHosts, mayContact, type NamedHost } from './command-hosts.ts'
import { opens, patternsFor } from './named-hosts.ts'
import { type AddressClass, analyzeUrl, classifyAddress, classifyHost } from './network.ts'

/** The setting `sandbox.network`: further hosts for approved commands. True: all public ones. */
export type NetworkSetting = boolean | readonly string[]

/** The way out that an approval of this line opens. */
export interface CommandNetwork {
  readonly judge: JudgeHost
  /** One sentence, for the person who is asked and for the record. */
  readonly note: string
}

/**
 * An approval is for the hosts that were named: by the line itself, by what its programs are known to contact, by rules
 * that allow a host, or by the setting. Undefined: no network at all, as for every line that only reads.
 */
export function networkOf(items: readonly Item[], context: DecideContext): CommandNetwork | undefined {
  const command = items.find(item => item.kind === 'execute')
  if (command === undefined) return undefined
  const { analysis, cwd } = command
  const { network: setting } = context
  // A command in the background has no way out: nobody would be there to look at where it leads.
  const inBackground = items.some(item => item.kind === 'custom' && item.name === 'background')
  const wished = wishedHosts(items)
  const isWished = wished.any || wished.hosts.length > 0
  if (analysis.plan !== null || inBackground || (!mayContact(analysis) && !isWished)) return undefined
  const line = withWished(hostsOfLine(analysis, cwd), wished)
  const listed = typeof setting === 'boolean' ? [] : setting
  const patterns = [...listed, ...allowedByRules(context)]
  const any = setting === true || line.any || patterns.includes('*')
  const words = [...new Set([...line.hosts.map(toWords), ...patterns])].join(', ')
  if (!any && words === '') return undefined
  const isListed = compileHosts(listed)
  const isOpen = (host: string, port: number): boolean =>
    any || isListed(host, port) || line.hosts.some(named => isNamed(named, host, port))
  const named = [...new Set([...context.ownHosts, ...allowedByRules(context)])].filter(
    each => !each.includes('*'),
  )
  const inside = named.length === 0 ? '' : ` ${named.join(', ')} may be in a private network.`
  return {
    judge: (host, port, addresses) => judgeHost(host, port, addresses, { ...context, items, isOpen, words }),
    note: `It may contact ${any ? 'any public host' : `${words} and no other host`}.${inside}`,
  }
}

/** What the call asks for beside its line. */
function wishedHosts(items: readonly Item[]): LineHosts {
  const hosts = items.flatMap(item =>
    item.kind === 'network' && !item.derived && item.facts !== undefined ? [item.facts] : [],
  )
  return { hosts, any: items.some(item => item.kind === 'custom' && item.name === ANY_HOST) }
}

/** Whoever names hosts needs no others: a program that does not say whom it contacts gets those. */
function withWished(line: LineHosts | undefined, wished: LineHosts): LineHosts {
  const isNamed = wished.hosts.length > 0
  return {
    hosts: [...(line?.hosts ?? []), ...wished.hosts],
    any: wished.any || (line?.any === true && !isNamed),
  }
}

interface OpenHosts extends DecideContext {
  readonly items: readonly Item[]
  isOpen(host: string, port: number): boolean
  /** What may be contacted, in words. */
  readonly words: string
}

function judgeHost(
  host: string,
  port: number,
  addresses: readonly string[],
  context: OpenHosts,
): HostRefusal | null {
  const { items, request, rules, isOpen, words } = context
  const item = toItem(host, port)
  const { hosts } = request.run.authority
  if (hosts !== 'any' && !compileHosts(hosts)(host, port)) return refused(onlyHosts(hosts))
  const matching = rules.filter(rule => rule.matches(item, request))
  const denied = matching.find(rule => rule.decision === 'deny')
  if (denied !== undefined) return refused(denied.reason ?? `the rule '${denied.id}' forbids it`)
  const secret = privateAddress(host, addresses, patternsFor(item, context))
  if (secret !== null) return refused(secret)
  // A person who approved a line saw the hosts in it, not where a script or a redirect leads.
  const asks = matching.find(rule => rule.decision === 'ask')
  const wasAsked = items.some(each => each.kind === 'network' && each.facts?.host === host)
  if (asks !== undefined && !wasAsked) {
    return refused(`the rule '${asks.id}' asks about it, and the line does not name it`)
  }
  if (isOpen(host, port) || matching.some(rule => rule.decision === 'allow')) return null
  return { reason: `only ${words} may be contacted`, canBeAllowed: true }
}

function refused(reason: string): HostRefusal {
  return { reason, canBeAllowed: false }
}

/** The hard limit on addresses, on what the name really stands for. What is this machine's is opened port by port. */
function privateAddress(
  host: string,
  addresses: readonly string[],
  patterns: readonly string[],
): string | null {
  const ports = patterns.filter(pattern => /:\d+$/.test(pattern))
  const isClosed = (kind: AddressClass): boolean =>
    kind !== 'public' && !opens(kind === 'loopback' ? ports : patterns, kind)
  const found = addresses.find(address => isClosed(classifyAddress(address)))
  if (found !== undefined) return `${found} is a ${classifyAddress(found)} address`
  const kind = classifyHost(host)
  if (!isClosed(kind)) return null
  return isIP(host) === 0 ? `${host} is a name of the local network` : `${host} is a ${kind} address`
}

/** `http://a` leads to `https://a` so often that the web's own ports of a named host count as named. */
function isNamed(named: NamedHost, host: string, port: number): boolean {
  return named.host === host && (named.port === 0 || named.port === port || port === 443 || port === 80)
}

function toWords({ host, port }: NamedHost): string {
  const name = host.includes(':') ? `[${host}]` : host
  return port === 0 || port === 443 || port === 80 ? name : `${name}:${port}`
}

/** A tunnel hides the method: a rule that allows only some methods does not open it. */
function allowedByRules({ rules, request }: DecideContext): string[] {
  return rules
    .filter(rule => rule.decision === 'allow' && rule.definition.host !== undefined)
    .flatMap(rule => (rule.definition.host ?? []).filter(host => rule.matches(exampleOf(host), request)))
}

/** A host that the pattern means, to see whether its rule speaks of commands at all. */
function exampleOf(pattern: string): Item {
  const [, name = '', port = '443'] = /^(.*?)(?::(\d+))?$/.exec(pattern) ?? []
  return toItem(name === '*' ? 'any.example' : name.replace(/^\*\./, 'any.'), Number(port))
}

function toItem(host: string, port: number): Item & { kind: 'network' } {
  const url = `https://${host.includes(':') ? `[${host}]` : host}:${port}/`
  return { kind: 'network', url, method: 'CONNECT', facts: analyzeUrl(url), derived: true }
}
