import type { Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { createAdaptorServer } from '@hono/node-server'
import { ToolError } from '../core/errors.ts'
import { asUrlHost } from './address.ts'
import type { Api } from './api.ts'
import { isForWebSocket } from './web-socket.ts'

export interface ListenOptions {
  readonly host: string
  /** 0: a free one. */
  readonly port: number
  /** How other machines may reach it, when the person said that they may. */
  readonly remote: Remote | undefined
}

/** Never in the clear: with a certificate of its own, or behind a proxy that has one. */
export type Remote =
  | { readonly kind: 'tls'; readonly certificate: string; readonly key: string }
  | { readonly kind: 'proxy' }

export interface Listening {
  readonly url: string
  readonly server: Server
  /** Takes no new requests and waits for those under way, at most `graceMs`. */
  close(graceMs: number): Promise<void>
}

const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost'])

export async function listen(api: Api, { host, port, remote }: ListenOptions): Promise<Listening> {
  if (!LOOPBACK.has(host) && remote === undefined) {
    throw new ToolError('forbidden', `${host} can be reached from other machines.`, {
      hint: 'Use 127.0.0.1, or --allow-remote with --tls-cert and --tls-key, or with --proxy if a proxy in front of Kogu does TLS.',
    })
  }
  const isSecure = remote?.kind === 'tls'
  // Time limits are looked at so often; by default that is every half minute.
  const serverOptions = { shouldUpgradeCallback: isForWebSocket, connectionsCheckingInterval: 5_000 }
  const server = createAdaptorServer({
    fetch: api.fetch,
    ...(isSecure
      ? {
          createServer: createSecureServer,
          serverOptions: { ...serverOptions, cert: remote.certificate, key: remote.key },
        }
      : { serverOptions }),
  }) as Server
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
    url: `${isSecure ? 'https' : 'http'}://${asUrlHost(host)}:${bound}`,
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
