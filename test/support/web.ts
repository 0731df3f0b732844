import { createServer, type Socket } from 'node:net'
import { ToolError } from '../../src/core/errors.ts'
import { validateInput } from '../../src/core/input.ts'
import type { AnyTool, ToolOutput } from '../../src/core/tool.ts'
import type { RuleDefinition } from '../../src/permissions/rules/rules.ts'
import { createTestEngine } from '../../src/permissions/testing.ts'
import { type Network, open } from '../../src/tools/web/connection.ts'
import type { WebLimits } from '../../src/tools/web/web-client.ts'
import { webFetchTool } from '../../src/tools/web/web-fetch.ts'
import { createWebParts } from '../../src/tools/web/web-parts.ts'

/** A public address in the tests' internet. Nothing is ever sent to the real one. */
export const PUBLIC = '93.184.215.14'

/** A server of raw bytes: it may say what no HTTP server would. */
export interface RawServer {
  readonly port: number
  /** What clients asked for, as it came. */
  readonly requests: string[]
  close(): Promise<void>
}

export type Answer = (socket: Socket, path: string, request: string) => void

export async function startRawServer(answer: Answer): Promise<RawServer> {
  const requests: string[] = []
  const open = new Set<Socket>()
  const server = createServer(socket => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    socket.on('error', () => socket.destroy())
    let head = ''
    socket.on('data', chunk => {
      const before = head.includes('\r\n\r\n')
      head += chunk.toString('latin1')
      if (before || !head.includes('\r\n\r\n')) return
      requests.push(head)
      answer(socket, /^\S+ (\S+)/.exec(head)?.[1] ?? '', head)
    })
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    port: address.port,
    requests,
    close: () =>
      new Promise(done => {
        for (const socket of open) socket.destroy()
        server.close(() => done())
      }),
  }
}

export interface TestInternet extends Network {
  /** Names and what they stand for; an array of arrays answers differently each time. */
  readonly names: Map<string, readonly string[] | (() => readonly string[])>
  readonly lookups: string[]
  readonly dialled: string[]
}

/** An internet of one machine: every public address is the loopback server, and the guard is the real one. */
export function testInternet(port: number): TestInternet {
  const names = new Map<string, readonly string[] | (() => readonly string[])>()
  const lookups: string[] = []
  const dialled: string[] = []
  return {
    names,
    lookups,
    dialled,
    async lookup(host) {
      lookups.push(host)
      const found = names.get(host)
      return typeof found === 'function' ? found() : (found ?? (host.endsWith('.test') ? [PUBLIC] : []))
    },
    async dial(address, wanted, signal) {
      dialled.push(`${address}:${wanted}`)
      if (address !== PUBLIC) throw new ToolError('failed', `the test's internet has no ${address}`)
      return open('127.0.0.1', port, signal)
    },
    // The server speaks plain HTTP: what encryption proves is tested by itself.
    secure: async socket => socket,
  }
}

export interface WebCaller {
  fetch(input: Record<string, unknown>, signal?: AbortSignal): Promise<ToolOutput>
}

/** `web_fetch` with the real engine in front of it. */
export function webCaller(
  network: Network,
  options: { rules?: Omit<RuleDefinition, 'origin'>[]; limits?: Partial<WebLimits>; now?: () => number } = {},
): WebCaller {
  const { limits, now } = options
  const parts = createWebParts({
    network,
    ...(limits === undefined ? {} : { limits }),
    ...(now === undefined ? {} : { now }),
  })
  const call = toolCaller(webFetchTool(parts), options.rules)
  return { fetch: call }
}

/** Calls a tool as a run would: validated, judged, and run with the permit it got. */
export function toolCaller(tool: AnyTool, rules: Omit<RuleDefinition, 'origin'>[] = []) {
  const test = createTestEngine(rules)
  return async (
    wanted: Record<string, unknown>,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<ToolOutput> => {
    const input = validateInput(tool, wanted)
    const access = await tool.access(input, { cwd: test.root, workspace: test.root, receipts: new Map() })
    const request = test.request(tool.name, access, { tool, input, risk: tool.risk })
    const judgement = await test.engine.judge(request)
    if (judgement.decision.outcome !== 'allow') {
      throw new ToolError(judgement.hard ? 'forbidden' : 'denied', judgement.decision.reason)
    }
    return tool.run(input, {
      callId: 'call',
      caller: 'test',
      run: request.run,
      cwd: test.root,
      workspace: test.root,
      signal,
      permit: judgement.permit,
      progress: () => undefined,
      reportEffects: () => undefined,
      keepChanges: async () => ({ keep: true }),
      call: () => Promise.reject(new Error('no calls in this test')),
      // Web tools touch no files and start no programs.
      files: undefined as never,
      processes: undefined as never,
    })
  }
}

/** A complete answer. */
export function respond(
  socket: Socket,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
  status = '200 OK',
): void {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const lines = Object.entries({
    'content-type': 'text/html',
    'content-length': String(bytes.length),
    ...headers,
  })
  socket.write(`HTTP/1.1 ${status}\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`)
  socket.end(bytes)
}
