import { isIP, type Socket } from 'node:net'
import type { HostRefusal } from '../../core/command.ts'
import { ToolError } from '../../core/errors.ts'
import type { JudgeUrl } from '../../core/permit.ts'
import type { Network } from './connection.ts'

export interface JudgedConnection {
  readonly network: Network
  readonly judge: JudgeUrl
  readonly signal: AbortSignal
  readonly connectMs: number
}

/** The address to connect to, of those that the name stands for; each of them has to be allowed. */
export async function resolveJudged(
  url: URL,
  { network, judge, signal, connectMs }: JudgedConnection,
): Promise<string> {
  // A lookup is a message to whoever answers for the name: a name that is refused is not looked up.
  refuse(judge(url.href, []))
  const host = plainHost(url)
  const addresses = isIP(host) !== 0 ? [host] : await lookUp(host, network, signal, connectMs)
  const [first] = addresses
  if (first === undefined)
    throw new ToolError('not_found', `HTTP request failed: the host '${host}' is not known.`)
  refuse(judge(url.href, addresses))
  return first
}

/** A connection to exactly this address, encrypted where the address says so. */
export async function connectTo(
  url: URL,
  address: string,
  { network, signal, connectMs }: Omit<JudgedConnection, 'judge'>,
): Promise<Socket> {
  const timeout = AbortSignal.timeout(connectMs)
  const limited = AbortSignal.any([signal, timeout])
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  const socket = await network.dial(address, port, limited)
  return url.protocol === 'https:' ? network.secure(socket, plainHost(url), limited) : socket
}

async function lookUp(
  host: string,
  network: Network,
  signal: AbortSignal,
  connectMs: number,
): Promise<readonly string[]> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(connectMs)])
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => undefined)
  const abort = (): void => reject(limited.reason)
  limited.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([network.lookup(host).catch(() => []), promise])
  } finally {
    limited.removeEventListener('abort', abort)
  }
}

function refuse(refusal: HostRefusal | null): void {
  if (refusal !== null) throw new ToolError('forbidden', refusal.reason)
}

function plainHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '')
}
