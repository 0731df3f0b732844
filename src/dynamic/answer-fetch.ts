import type { Approver } from '../core/approval.ts'
import type { CallResult } from '../core/call.ts'
import { ToolError } from '../core/errors.ts'
import type { DynamicTool } from './definition.ts'
import type { CodeContext } from './life-cycle.ts'
import type { DynamicParts } from './parts.ts'

/** What requests of code are answered with. */
export interface Answering {
  readonly context: CodeContext
  readonly parts: DynamicParts
  readonly approver: Approver
}

interface FetchRequest {
  readonly url: string
  readonly method: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body?: string
}

const MOST_REDIRECTS = 5

/**
 * What `fetch` in code asks for. Every redirect is a call of its own, so that a host which was not declared is asked about
 * however the code gets there, and what was sent to one host is not sent on to another unseen.
 */
export async function answerFetch(
  value: Readonly<Record<string, unknown>>,
  tool: DynamicTool,
  answering: Answering,
): Promise<unknown> {
  const { redirect } = value
  let request = toRequest(value)
  for (let hops = 0; ; hops += 1) {
    const answer = asRecord(await fetchOnce(request, tool, answering))
    const { location, ...response } = answer
    if (typeof location !== 'string' || redirect === 'manual') return { ...response, redirected: hops > 0 }
    if (redirect === 'error') throw new ToolError('failed', `${request.url} redirects to another address.`)
    if (hops >= MOST_REDIRECTS)
      throw new ToolError('failed', `${request.url} redirects more than ${MOST_REDIRECTS} times.`)
    if (request.url.startsWith('https:') && !location.startsWith('https:'))
      throw new ToolError('forbidden', `A redirect to ${location} was not followed. It drops encryption.`)
    request = nextRequest(request, location, Number(response.status))
  }
}

function toRequest({ url, method, headers, body }: Readonly<Record<string, unknown>>): FetchRequest {
  const pairs = Array.isArray(headers) ? headers.slice(0, 100) : []
  return {
    url: String(url).slice(0, 8_000),
    method: String(method),
    headers: pairs.map(([name, content]): [string, string] => [String(name), String(content)]),
    ...(typeof body === 'string' ? { body } : {}),
  }
}

/** As browsers do: what was sent is sent again only on 307 and 308, and what is for one origin never to another. */
function nextRequest({ body, ...request }: FetchRequest, url: string, status: number): FetchRequest {
  const isKept = status === 307 || status === 308 || request.method === 'GET' || request.method === 'HEAD'
  const isSameOrigin = URL.parse(url)?.origin === URL.parse(request.url)?.origin
  return {
    url,
    method: isKept ? request.method : 'GET',
    headers: request.headers.filter(
      ([name]) =>
        (isSameOrigin || !/^(authorization|cookie)$/i.test(name)) && (isKept || !/^content-/i.test(name)),
    ),
    ...(isKept && body !== undefined ? { body } : {}),
  }
}

async function fetchOnce(
  request: FetchRequest,
  tool: DynamicTool,
  { context, parts, approver }: Answering,
): Promise<unknown> {
  const result = await parts.call({
    kind: 'own',
    tool: 'web_fetch',
    input: { ...request },
    run: context.run,
    approver,
    tools: ['web_fetch'],
    isDeclared: isDeclaredHost(tool, request.url),
    cwd: context.cwd,
    signal: context.signal,
    make: context.call,
  })
  return dataOf(result)
}

/** By the host of the address alone, as rules name hosts. */
export function isDeclaredHost({ capabilities }: DynamicTool, url: string): boolean {
  const parsed = URL.parse(url)
  if (parsed === null) return false
  return capabilities.network.some(pattern => {
    const [name = '', port] = pattern.toLowerCase().split(':')
    if (port !== undefined && port !== (parsed.port || (parsed.protocol === 'https:' ? '443' : '80')))
      return false
    return name.startsWith('*.') ? parsed.hostname.endsWith(name.slice(1)) : parsed.hostname === name
  })
}

export function dataOf(result: CallResult): unknown {
  if (result.error !== null) throw new ToolError(result.error.code, result.error.message)
  return result.data
}

export function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}
