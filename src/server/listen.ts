import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import { ToolError } from '../core/errors.ts'
import type { Api } from './api.ts'

export interface ListenOptions {
  readonly host: string
  /** 0: a free one. */
  readonly port: number
  /** The person said that other machines may reach it, behind TLS or a proxy that has it. */
  readonly allowRemote: boolean
}

export interface Listening {
  readonly url: string
  readonly server: Server
  /** Takes no new requests and waits for those under way, at most `graceMs`. */
  close(graceMs: number): Promise<void>
}

const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost'])

export async function listen(api: Api, { host, port, allowRemote }: ListenOptions): Promise<Listening> {
  if (!LOOPBACK.has(host) && !allowRemote) {
    throw new ToolError('forbidden', `${host} can be reached from other machines.`, {
      hint: 'Use 127.0.0.1, or --allow-remote behind a proxy with TLS.',
    })
  }
  const server = createAdaptorServer({ fetch: api.fetch }) as Server
  // A client that sends its request byte by byte does not hold a connection for long.
  server.headersTimeout = 10_000
  server.requestTimeout = 60_000
  server.keepAliveTimeout = 5_000
  server.maxHeadersCount = 100
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const address = server.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port
  return {
    server,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    close: graceMs => closeGracefully(server, graceMs),
  }
}

function closeGracefully(server: Server, graceMs: number): Promise<void> {
  return new Promise(resolve => {
    const timer = setTimeout(() => server.closeAllConnections(), graceMs)
    server.close(() => {
      clearTimeout(timer)
      resolve()
    })
    server.closeIdleConnections()
  })
}
