import type { Remote } from './listen.ts'

/** An address that a server listens on, as it stands in a URL and in the header Host. */
export function asUrlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

const EVERYWHERE = new Set(['0.0.0.0', '::'])
const OWN = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Names under which it may be addressed. The address itself is one: no foreign name can be rebound to it. */
export function allowedHosts(host: string, configured: readonly string[]): string[] {
  const own = EVERYWHERE.has(host) ? [] : [asUrlHost(host)]
  return [...configured, ...own].map(name => name.toLowerCase())
}

/** Where a browser reaches it: a server that listens everywhere, or behind a proxy, has a name of its own. */
export function publicUrl(
  url: string,
  { host, remote, allowed }: { host: string; remote: Remote | undefined; allowed: readonly string[] },
): string {
  const name = allowed.find(each => !OWN.has(each))
  if (remote?.kind === 'proxy' && name !== undefined) return `https://${name}`
  if (!EVERYWHERE.has(host)) return url
  const { protocol, port } = new URL(url)
  return `${protocol}//${name ?? 'localhost'}:${port}`
}
