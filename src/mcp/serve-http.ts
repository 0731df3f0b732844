import { randomUUID, timingSafeEqual } from 'node:crypto'
import { createServer as createHttpServer, type Server as HttpServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeHandler } from '@modelcontextprotocol/node'
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { Runtime } from '../runtime.ts'
import { createAskingParts, createServer, type ServerParts } from './create-server.ts'
import { createDoorParts } from './door-parts.ts'

export interface HttpOptions {
  readonly version: string
  readonly names: ServerParts['names']
  readonly budget: number
  readonly mayApprove: boolean
  /** 0: a free one. */
  readonly port: number
  /** What every request has to carry. Null is for tests alone: the program always has one. */
  readonly token: string | null
  readonly run?: string
  readonly onError: (message: string) => void
}

type IncomingRequest = Parameters<ReturnType<typeof toNodeHandler>>[0]

export interface HttpDoor {
  readonly url: string
  close(): Promise<void>
}

/** Of clients that speak an older protocol: each has a session, which is a run of its own. */
interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport
  readonly server: ReturnType<typeof createServer>
  readonly run: () => Promise<string>
  usedAt: number
}

const MOST_SESSIONS = 100
const IDLE_MS = 30 * 60_000

/** Serves MCP on a loopback address. Every request needs the token, and names this machine as its host and origin. */
export async function serveHttp(runtime: Runtime, options: HttpOptions): Promise<HttpDoor> {
  const door = openMcpDoor(runtime, options)
  const onerror = (error: Error): void => options.onError(error.message)
  const handle = async (request: Request): Promise<Response> => {
    const refused =
      hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
      originValidationResponse(request, localhostAllowedOrigins()) ??
      unauthorized(request, options.token)
    if (refused !== undefined) return refused
    if (new URL(request.url).pathname !== '/mcp') return new Response('Not found', { status: 404 })
    return door.handle(request)
  }
  const answer = toNodeHandler({ fetch: handle }, { onerror })
  const http = createHttpServer((request, response) => {
    if (!isUsable(request)) return void response.writeHead(400, { connection: 'close' }).end()
    // Of a request that comes in, Node always knows method and address; its types are shared with those that go out.
    void answer(request as IncomingRequest, response)
  })
  await listen(http, options.port)
  const { port } = http.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async close() {
      http.close()
      await door.quiet()
      http.closeAllConnections()
      await door.close()
    },
  }
}

export interface McpDoor {
  /** Answers a request that was let in. */
  handle(request: Request): Promise<Response>
  /** Ends streams and sessions. */
  quiet(): Promise<void>
  /** The same, and waits for calls that are under way. */
  close(): Promise<void>
}

/** MCP over HTTP for one caller, without a port: who may come in is for others to say. */
export function openMcpDoor(
  runtime: Runtime,
  options: Pick<HttpOptions, 'version' | 'names' | 'budget' | 'mayApprove' | 'run' | 'onError'> &
    Pick<ServerParts, 'sender'>,
): McpDoor {
  const shared = { ...createDoorParts(runtime, options), ...createAskingParts() }
  // Requests of the newer protocol belong to no session: they are one run, that of the caller.
  const run = onceOpened(runtime, options.run)
  const onerror = (error: Error): void => options.onError(error.message)
  const modern = createMcpHandler(() => createServer({ ...shared, run }), { legacy: 'reject', onerror })
  const sessions = createSessions(runtime, shared)
  const stopListening = runtime.registry.onChange(() => {
    modern.notify.toolsChanged()
    sessions.announce()
  })
  const quiet = async (): Promise<void> => {
    stopListening()
    await modern.close()
    await sessions.close()
    await shared.held.close()
    shared.memory.stop()
  }
  return {
    handle: async request =>
      (await isLegacyRequest(request)) ? sessions.handle(request) : modern.fetch(request),
    quiet,
    async close() {
      await quiet()
      await Promise.allSettled(shared.running)
    },
  }
}

function createSessions(runtime: Runtime, shared: Omit<ServerParts, 'run'>) {
  const sessions = new Map<string, Session>()
  const end = async (id: string): Promise<void> => {
    const session = sessions.get(id)
    sessions.delete(id)
    await session?.server.close()
    if (session !== undefined) await runtime.closeRun(await session.run())
  }
  const makeRoom = async (): Promise<void> => {
    const byUse = [...sessions].sort(([, a], [, b]) => a.usedAt - b.usedAt)
    const idle = byUse.filter(([, { usedAt }]) => performance.now() - usedAt > IDLE_MS)
    const crowd = sessions.size >= MOST_SESSIONS ? byUse.slice(0, 1) : []
    for (const [id] of new Map([...idle, ...crowd])) await end(id)
  }
  return {
    async handle(request: Request): Promise<Response> {
      const id = request.headers.get('mcp-session-id')
      const known = id === null ? undefined : sessions.get(id)
      if (known !== undefined) {
        known.usedAt = performance.now()
        return known.transport.handleRequest(request)
      }
      if (id !== null) return problem(404, -32001, 'Session not found')
      await makeRoom()
      const run = onceOpened(runtime, undefined)
      const server = createServer({ ...shared, run })
      const transport = new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: created => {
          sessions.set(created, { transport, server, run, usedAt: performance.now() })
        },
        onsessionclosed: closed => end(closed),
      })
      await server.connect(transport)
      return transport.handleRequest(request)
    },
    announce(): void {
      for (const { server } of sessions.values()) server.sendToolListChanged().catch(() => undefined)
    },
    async close(): Promise<void> {
      for (const id of [...sessions.keys()]) await end(id)
    },
  }
}

function onceOpened(runtime: Runtime, id: string | undefined): () => Promise<string> {
  let opened: Promise<string> | undefined
  return () => {
    opened ??= runtime.openRun(id === undefined ? {} : { id }).then(run => run.id)
    return opened
  }
}

/** What the handler can make a `Request` of; anything else would be an error of the server's. */
function isUsable({ method = '', url = '', headers: { host = '' } }: IncomingMessage): boolean {
  return !FORBIDDEN_METHODS.includes(method) && (host === '' || URL.canParse(url, `http://${host}`))
}

/** Those that `Request` does not take. */
const FORBIDDEN_METHODS = ['CONNECT', 'TRACE', 'TRACK']

function unauthorized(request: Request, token: string | null): Response | undefined {
  if (token === null) return undefined
  const [, given = ''] = /^Bearer (.+)$/i.exec(request.headers.get('authorization') ?? '') ?? []
  const [a, b] = [Buffer.from(given), Buffer.from(token)]
  if (a.length === b.length && timingSafeEqual(a, b)) return undefined
  return new Response('Unauthorized', { status: 401, headers: { 'www-authenticate': 'Bearer' } })
}

function problem(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status })
}

function listen(server: HttpServer, port: number): Promise<void> {
  return new Promise((done, failed) => {
    server.once('error', failed)
    server.listen(port, '127.0.0.1', done)
  })
}
