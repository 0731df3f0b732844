import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Api } from './api.ts'
import { follow } from './events/follow.ts'
import { toEnvelopes } from './events/seed-events.ts'
import { eventQuery, SLOW_LISTENER_MS, UPGRADE } from './routes/events.ts'
import type { Services } from './services.ts'

const MOST_INCOMING = 1_024
const PING_MS = 30_000
/** Its credential does not count any more, or has lost its scope; with too many requests it may stay. */
const REFUSED: ReadonlySet<number | undefined> = new Set([401, 403])

/**
 * `/api/ws`. Whether a client may connect is decided by the route of that path, with all that guards the other routes: host,
 * origin, session or token, scope, rate. Clients only listen; what they send is not read.
 */
export function serveWebSocket(
  server: Server,
  api: Api,
  services: () => Promise<Services>,
  { slowMs = SLOW_LISTENER_MS }: { slowMs?: number | undefined } = {},
): { close(): void } {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MOST_INCOMING, perMessageDeflate: false })
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy())
    if (!isForWebSocket(request)) return socket.destroy()
    ask(api, request).then(
      refusal => {
        if (refusal === undefined) {
          sockets.handleUpgrade(
            request,
            socket,
            head,
            client => void send(client, request, { api, services, slowMs }),
          )
        } else refuse(socket, refusal)
      },
      () => socket.destroy(),
    )
  })
  return {
    close() {
      for (const client of sockets.clients) client.close(1001, 'The server is shutting down.')
      sockets.close()
    },
  }
}

/** Everything else is a request like any other, whatever it offers to upgrade to: some clients offer HTTP/2. */
export function isForWebSocket({ url = '', headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket' && /^\/api\/ws(\?|$)/.test(url)
}

/** Undefined when it may connect. */
async function ask(api: Api, request: IncomingMessage): Promise<Response | undefined> {
  const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' ? [[name, value]] : [],
  )
  const url = new URL(request.url ?? '/', `http://${request.headers.host ?? ''}`)
  const response = await api.request(url.href, { method: 'GET', headers })
  return response.status === UPGRADE ? undefined : response
}

function refuse(socket: Duplex, response: Response): void {
  response.text().then(
    text => {
      const head = [
        `HTTP/1.1 ${response.status} Refused`,
        'connection: close',
        'content-type: application/problem+json',
      ]
      socket.end(`${head.join('\r\n')}\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
    },
    () => socket.destroy(),
  )
}

async function send(
  client: WebSocket,
  request: IncomingMessage,
  { api, services, slowMs }: { api: Api; services: () => Promise<Services>; slowMs: number },
): Promise<void> {
  const ended = new AbortController()
  // A session that has ended and a token that was revoked end the stream too.
  const regularly = setInterval(() => {
    client.ping()
    ask(api, request).then(
      refusal => REFUSED.has(refusal?.status) && client.close(1008, 'No session and no valid token.'),
      () => undefined,
    )
  }, PING_MS)
  client.on('close', () => {
    clearInterval(regularly)
    ended.abort()
  })
  client.on('error', () => client.terminate())
  try {
    const { hub } = await services()
    const query = Object.fromEntries(new URL(request.url ?? '/', 'http://localhost').searchParams)
    const { after = hub.newest, run } = eventQuery.parse(query)
    const from = { hub, after: Math.min(after, hub.newest), signal: ended.signal, idleMs: PING_MS }
    for await (const batch of follow({ ...from, ...(run === undefined ? {} : { run }) })) {
      // One at a time: what a slow client has not taken is not piled up for it.
      for (const envelope of batch.flatMap(toEnvelopes))
        await sendOne(client, JSON.stringify(envelope), slowMs)
    }
  } catch {
    client.close(1011, 'The events cannot be read.')
  }
}

function sendOne(client: WebSocket, text: string, slowMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const stuck = setTimeout(() => client.terminate(), slowMs)
    client.send(text, error => {
      clearTimeout(stuck)
      if (error == null) resolve()
      else reject(error)
    })
  })
}
