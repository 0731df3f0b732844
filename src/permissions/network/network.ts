import { BlockList, isIP } from 'node:net'

// What an address is, before anything connects to it. Used by web tools, the sandbox's proxy and dynamic tools alike.

export type AddressClass = 'public' | 'loopback' | 'private' | 'link-local' | 'metadata' | 'reserved'

export interface UrlFacts {
  /** Canonical form, as it will be requested. */
  readonly url: string
  readonly scheme: string
  /** Lower case, without brackets and trailing dot. */
  readonly host: string
  readonly port: number
  /** Of a literal address or a name that can only mean this machine; `public` for other names until they are resolved. */
  readonly addressClass: AddressClass
  /** Why it may not be contacted; undefined when it may. */
  readonly refusal: string | undefined
  /** The only reason is where it lies: a rule that names the host may open it. */
  readonly canBeNamed: boolean
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443, 'ws:': 80, 'wss:': 443 }

/** Parses once, by the WHATWG rules that the request itself will use, and says what it found. */
export function analyzeUrl(text: string): UrlFacts | undefined {
  let url: URL
  try {
    url = new URL(text)
  } catch {
    // Not a URL: the caller asks or refuses.
    return undefined
  }
  const host = url.hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase()
  const addressClass = classifyHost(host)
  const hasLogin = url.username !== '' || url.password !== ''
  return {
    url: url.href,
    scheme: url.protocol.slice(0, -1),
    host,
    port: url.port === '' ? (DEFAULT_PORTS[url.protocol] ?? 0) : Number(url.port),
    addressClass,
    refusal: refusalOf(hasLogin, host, addressClass),
    canBeNamed: !hasLogin && host !== '',
  }
}

function refusalOf(hasLogin: boolean, host: string, addressClass: AddressClass): string | undefined {
  if (hasLogin) return 'an address may not carry a user name or password'
  if (host === '') return 'the address names no host'
  if (addressClass !== 'public') return `${host} is a ${addressClass} address`
  return undefined
}

/** Names that resolve to this machine or this network, and literal addresses; other names are `public` until resolved. */
export function classifyHost(host: string): AddressClass {
  if (isIP(host) !== 0) return classifyAddress(host)
  if (host === 'localhost' || host.endsWith('.localhost')) return 'loopback'
  if (METADATA_NAMES.test(host)) return 'metadata'
  if (LOCAL_NAMES.test(host)) return 'private'
  // A name without a dot is looked up in the local network's domain.
  return host.includes('.') ? 'public' : 'private'
}

// Of home and company networks, of Kubernetes (`NAME.NAMESPACE.svc`, with any domain of the cluster behind it), of Consul.
const LOCAL_NAMES =
  /\.(local|internal|intranet|lan|home|corp|private|home\.arpa|localdomain|consul)$|\.svc(\.|$)|^kubernetes\.default$/

/** Of an address that a name resolved to, or a literal one. Anything not known to be public is not. */
export function classifyAddress(address: string): AddressClass {
  const family = isIP(address)
  if (family === 4) return classifyIPv4(address)
  if (family === 0) return 'reserved'
  const embedded = embeddedIPv4(address)
  if (embedded !== undefined) return classifyIPv4(embedded)
  if (LOOPBACK.check(address, 'ipv6')) return 'loopback'
  if (LINK_LOCAL.check(address, 'ipv6')) return 'link-local'
  if (METADATA.check(address, 'ipv6')) return 'metadata'
  if (PRIVATE.check(address, 'ipv6')) return 'private'
  return GLOBAL_IPV6.check(address, 'ipv6') && !RESERVED.check(address, 'ipv6') ? 'public' : 'reserved'
}

function classifyIPv4(address: string): AddressClass {
  if (METADATA.check(address)) return 'metadata'
  if (LOOPBACK.check(address)) return 'loopback'
  if (LINK_LOCAL.check(address)) return 'link-local'
  if (PRIVATE.check(address)) return 'private'
  return RESERVED.check(address) ? 'reserved' : 'public'
}

/** Filled when an address is first looked up: most starts see none. */
function blockList(...subnets: string[]): { check(address: string, family?: 'ipv4' | 'ipv6'): boolean } {
  let list: BlockList | undefined
  const fill = (): BlockList => {
    const filled = new BlockList()
    for (const subnet of subnets) {
      const [network = '', bits = ''] = subnet.split('/')
      filled.addSubnet(network, Number(bits), network.includes(':') ? 'ipv6' : 'ipv4')
    }
    return filled
  }
  return {
    check(address, family) {
      list ??= fill()
      return list.check(address, family)
    },
  }
}

const LOOPBACK = blockList('127.0.0.0/8', '::1/128')
const LINK_LOCAL = blockList('169.254.0.0/16', 'fe80::/10')
const METADATA_NAMES =
  /^(?:metadata\.(?:google\.internal|azure\.internal|tencentyun\.com|platformequinix\.com|packet\.net)|api\.metadata\.cloud\.ibm\.com|instance-data(?:\.ec2\.internal)?)$/
// Some providers answer machines of theirs, and only those, at addresses that look public.
const METADATA = blockList(
  '169.254.169.254/32',
  '169.254.170.2/32',
  '169.254.170.23/32',
  '169.254.0.23/32',
  '100.100.100.200/32',
  'fd00:ec2::254/128',
  'fd20:ce::254/128',
  // Azure: the host's agent, also as a server of names and certificates.
  '168.63.129.16/32',
  // Oracle, Equinix Metal.
  '192.0.0.192/32',
  '192.80.8.124/32',
  // Google: its interfaces as they are seen from inside a project.
  '199.36.153.4/30',
  '199.36.153.8/30',
  // IBM: the network of its services.
  '161.26.0.0/16',
  '166.8.0.0/14',
)
const PRIVATE = blockList('10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7')
const RESERVED = blockList(
  '0.0.0.0/8',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '2001::/23',
  '2001:db8::/32',
  '3fff::/20',
)
const GLOBAL_IPV6 = blockList('2000::/3')
const MAPPED = blockList('::ffff:0:0/96', '::/96', '64:ff9b::/96')
const SIX_TO_FOUR = blockList('2002::/16')

/** The IPv4 address inside a mapped, NAT64 or 6to4 address: those reach the same host by another spelling. */
function embeddedIPv4(address: string): string | undefined {
  const groups = groupsOf(address)
  if (SIX_TO_FOUR.check(address, 'ipv6')) return toIPv4(groups[1] ?? 0, groups[2] ?? 0)
  if (!MAPPED.check(address, 'ipv6')) return undefined
  const [high = 0, low = 0] = groups.slice(6)
  // `::` and `::1` lie in the same range and are not embedded addresses.
  return high === 0 && low <= 1 ? undefined : toIPv4(high, low)
}

function toIPv4(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/** The eight groups. A URL spells every address in one way, without dots. */
function groupsOf(address: string): number[] {
  const { hostname } = new URL(`http://[${address.replace(/%.*$/, '')}]`)
  const [head = [], tail = []] = hostname
    .slice(1, -1)
    .split('::')
    .map(part => part.split(':').filter(group => group !== ''))
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0')
  return [...head, ...zeros, ...tail].map(group => Number.parseInt(group, 16))
}
