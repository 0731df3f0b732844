import type { HostRefusal } from '../../core/command.ts'
import { ToolError } from '../../core/errors.ts'
import type { JudgeUrl } from '../../core/permit.ts'
import { INTERNET, type Network } from './connection.ts'
import { connectTo, resolveJudged } from './judged-connection.ts'
import { BodyTooLarge, readBody } from './read-body.ts'

/** Says who asks. */
export const USER_AGENT = 'kogu/0.1.0'

export const WEB_LIMITS = {
  /** Of a response, as it is sent and as it is unpacked. */
  bodyBytes: 5 * 1024 * 1024,
  headerBytes: 64 * 1024,
  connectMs: 10_000,
  totalMs: 30_000,
  redirects: 5,
  /** To one host within a minute. */
  requestsPerMinute: 60,
}

export type WebLimits = Readonly<typeof WEB_LIMITS>

interface WebRequest {
  readonly url: string
  /** Defaults to GET. */
  readonly method?: string
  readonly body?: string
  readonly headers: Readonly<Record<string, string>>
  readonly judge: JudgeUrl
  readonly signal: AbortSignal
  /** Defaults to the limits of the client, and is never more. */
  readonly timeoutMs?: number
  readonly redirects?: number
}

export interface WebResponse {
  readonly status: number
  /** Where the redirects led. */
  readonly url: string
  readonly redirects: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** Set when the next redirect leads to where a permission of its own is needed: it was not followed. */
  readonly held?: { readonly location: string; readonly reason: string }
}

export interface WebClient {
  get(request: WebRequest): Promise<WebResponse>
}

export interface WebClientOptions {
  readonly network?: Network
  readonly limits?: Partial<WebLimits>
  readonly now?: () => number
}

/**
 * The only way from a tool to the web. Every hop is judged before its name is looked up and again with all addresses
 * that the name stands for; the connection goes to one of those addresses, so that a name that changes its mind in
 * between gains nothing. No proxy, no cookies, no login, one connection for each request.
 */
export function createWebClient(options: WebClientOptions = {}): WebClient {
  const limits = { ...WEB_LIMITS, ...options.limits }
  const network = options.network ?? INTERNET
  const count = rateLimiter(limits.requestsPerMinute, options.now ?? Date.now)
  return {
    async get(request) {
      const totalMs = Math.min(request.timeoutMs ?? limits.totalMs, limits.totalMs)
      const total = AbortSignal.timeout(totalMs)
      const signal = AbortSignal.any([request.signal, total])
      try {
        return await follow({ ...request, signal }, { limits, network, count })
      } catch (error) {
        throw explain(error, request, total, { ...limits, totalMs })
      }
    },
  }
}

interface Parts {
  readonly limits: WebLimits
  readonly network: Network
  readonly count: (host: string) => void
}

async function follow(request: WebRequest, parts: Parts): Promise<WebResponse> {
  const redirects: string[] = []
  const most = Math.min(request.redirects ?? parts.limits.redirects, parts.limits.redirects)
  let { url } = request
  let hop: WebRequest = request
  for (;;) {
    const response = await exchange({ ...hop, url }, parts)
    const location = redirectOf(response, url)
    if (location === undefined) return { ...response, url, redirects }
    if (redirects.length >= most) {
      const times = most === 0 ? 'to another address' : `more than ${most} times`
      throw new ToolError('failed', `${request.url} redirects ${times}.`)
    }
    const refusal = isDowngrade(url, location) ? DOWNGRADE : request.judge(location, [])
    if (refusal !== null && !refusal.canBeAllowed) {
      throw new ToolError('forbidden', `A redirect was not followed. ${refusal.reason}`)
    }
    if (refusal !== null) return { ...response, url, redirects, held: { location, reason: refusal.reason } }
    redirects.push(location)
    hop = nextHop(hop, response.status, new URL(url).origin === new URL(location).origin)
    url = location
  }
}

/** As browsers do: what was sent is sent again only on 307 and 308, and what is for one origin never to another. */
function nextHop(request: WebRequest, status: number, isSameOrigin: boolean): WebRequest {
  const { body: _, ...withoutBody } = request
  const method = request.method ?? 'GET'
  const keeps = status === 307 || status === 308 || method === 'GET' || method === 'HEAD'
  const next: WebRequest = keeps ? request : { ...withoutBody, method: 'GET' }
  if (isSameOrigin) return next
  const isOwn = (name: string): boolean => /^(authorization|cookie|proxy-.*)$/i.test(name)
  return {
    ...next,
    headers: Object.fromEntries(Object.entries(next.headers).filter(([name]) => !isOwn(name))),
  }
}

const DOWNGRADE: HostRefusal = { reason: 'It drops encryption.', canBeAllowed: true }

function isDowngrade(from: string, to: string): boolean {
  return from.startsWith('https:') && !to.startsWith('https:')
}

type Exchange = Pick<WebResponse, 'status' | 'headers' | 'body'>

const LONGEST_ADDRESS = 8000

function redirectOf({ status, headers }: Exchange, from: string): string | undefined {
  if (![301, 302, 303, 307, 308].includes(status) || headers.location === undefined) return undefined
  const target = URL.parse(headers.location, from)
  if (target === null) throw new ToolError('failed', `${from} redirects to an invalid address.`)
  target.hash = ''
  if (target.href.length > LONGEST_ADDRESS)
    throw new ToolError('failed', `${from} redirects to an address that is too long.`)
  return target.href
}

async function exchange(request: WebRequest, parts: Parts): Promise<Exchange> {
  const { limits } = parts
  const url = new URL(request.url)
  const { judge, signal } = request
  const connection = { judge, signal, network: parts.network, connectMs: limits.connectMs }
  const address = await resolveJudged(url, connection)
  parts.count(url.hostname)
  // Loaded here: few calls contact anybody, and it takes a while.
  const { Client } = await import('undici')
  const client = new Client(url.origin, {
    connect: (_, done) => {
      connectTo(url, address, connection).then(
        socket => done(null, socket),
        error => done(error, null),
      )
    },
    allowH2: false,
    pipelining: 1,
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.totalMs,
    bodyTimeout: limits.totalMs,
  })
  try {
    const response = await client.request({
      method: request.method ?? 'GET',
      ...(request.body === undefined ? {} : { body: request.body }),
      path: `${url.pathname}${url.search}`,
      headers: { 'accept-encoding': 'gzip, deflate, br', connection: 'close', ...request.headers },
      signal: request.signal,
    })
    const headers = toPlain(response.headers)
    const isRedirect = response.statusCode >= 300 && response.statusCode < 400
    const body = isRedirect ? new Uint8Array() : await readBody(response.body, headers, limits.bodyBytes)
    return { status: response.statusCode, headers, body }
  } finally {
    // Whatever is still coming is not wanted.
    await client.destroy()
  }
}

function toPlain(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const plain: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(headers)) {
    // Of two, the first counts: a second one must not be able to change what was checked.
    const first = Array.isArray(value) ? value[0] : value
    if (first !== undefined) plain[name.toLowerCase()] = first
  }
  return plain
}

/** Counts requests in a sliding minute; the reason to wait is told, and nothing waits here. */
function rateLimiter(most: number, now: () => number): (host: string) => void {
  const recent = new Map<string, number[]>()
  return host => {
    const start = now() - 60_000
    for (const [each, times] of recent) if ((times.at(-1) ?? 0) <= start) recent.delete(each)
    const times = (recent.get(host) ?? []).filter(time => time > start)
    if (times.length >= most) {
      const seconds = Math.max(1, Math.ceil(((times[0] ?? 0) - start) / 1000))
      throw new ToolError('failed', `Too many requests to ${host}: at most ${most} in a minute.`, {
        hint: `Try again in ${seconds} s.`,
      })
    }
    recent.set(host, [...times, now()])
  }
}

function explain(
  error: unknown,
  { url, signal }: WebRequest,
  total: AbortSignal,
  limits: WebLimits,
): unknown {
  if (signal.aborted)
    return signal.reason instanceof ToolError
      ? signal.reason
      : new ToolError('cancelled', 'The call was cancelled.')
  if (total.aborted) {
    return new ToolError(
      'timeout',
      `HTTP request failed: ${hostOf(url)} did not answer within ${limits.totalMs / 1000} s.`,
    )
  }
  if (error instanceof ToolError) return error
  if (error instanceof BodyTooLarge) {
    return new ToolError('failed', `Failed to read response body: ${error.message}`)
  }
  if (error instanceof Error && error.name === 'TimeoutError') {
    return new ToolError(
      'timeout',
      `HTTP request failed: no connection to ${hostOf(url)} within ${limits.connectMs / 1000} s.`,
    )
  }
  return new ToolError('failed', `HTTP request failed: ${messageOf(error)}`, { cause: error })
}

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? url
}

/** Errors of sockets have several; the innermost says most. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const inner = error.cause
  return inner instanceof Error && inner.message !== '' ? inner.message : error.message
}
