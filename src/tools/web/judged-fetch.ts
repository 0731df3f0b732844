import { Agent, fetch as fetchOver } from 'undici'
import type { JudgeUrl } from '../../core/permit.ts'
import { INTERNET, type Network } from './connection.ts'
import { connectTo, resolveJudged } from './judged-connection.ts'
import { WEB_LIMITS } from './web-client.ts'

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

/**
 * `fetch` for servers that are contacted again and again. Each connection is judged as one of web_fetch: the name before it
 * is looked up, then all addresses that it stands for, and what is connected to is one of those. A name that leads to this
 * machine or its network tomorrow is refused tomorrow.
 */
export function createJudgedFetch(judge: JudgeUrl, network: Network = INTERNET): Fetch {
  const { connectMs } = WEB_LIMITS
  const agent = new Agent({
    connect: ({ protocol, hostname, port }, done) => {
      const url = new URL(`${protocol}//${hostname}${port === '' ? '' : `:${port}`}/`)
      const parts = { network, judge, connectMs, signal: AbortSignal.timeout(connectMs) }
      resolveJudged(url, parts)
        .then(address => connectTo(url, address, parts))
        .then(
          socket => done(null, socket),
          error => done(error, null),
        )
    },
    allowH2: false,
    // Streams of events may be silent for long; whoever asks has a limit of its own.
    bodyTimeout: 0,
    headersTimeout: 0,
  })
  return async (url, init) => {
    try {
      // The same standard as the types of Node's own, which cannot be given a way to connect.
      return (await fetchOver(url, { ...(init as object), dispatcher: agent })) as unknown as Response
    } catch (error) {
      // "fetch failed" says nothing; what refused or broke the connection does.
      throw error instanceof TypeError && error.cause instanceof Error ? error.cause : error
    }
  }
}
