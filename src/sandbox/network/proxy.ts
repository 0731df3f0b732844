import { lookup } from 'node:dns/promises'
import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, isIP, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HostRefusal, JudgeHost } from '../../core/command.ts'

export interface FilteringProxy {
  readonly socketPath: string
  /** `host:port` of those that were contacted, and of those that were refused with the reason. */
  readonly contacted: ReadonlySet<string>
  readonly refused: ReadonlyMap<string, HostRefusal>
  close(): Promise<void>
}

/**
 * The only way out of a sandbox with a network: an HTTP proxy on a Unix socket. Names are looked up here, once; what was
 * judged is what is connected to, so that a name cannot stand for one address when it is checked and another afterwards.
 */
export async function startProxy(judge: JudgeHost): Promise<FilteringProxy> {
  // A folder of its own: a socket's path may have no more than 107 bytes.
  const folder = mkdtempSync(join(tmpdir(), 'kogu-proxy-'))
  const socketPath = join(folder, 'socket')
  const contacted = new Set<string>()
  const refused = new Map<string, HostRefusal>()
  const open = new Set<Socket>()
  const resolve = async (host: string, port: number): Promise<string> => {
    const unseen = judge(host, port, [])
    // A lookup is a message to whoever answers for the name, so a name that is refused is not looked up.
    const addresses = unseen === null ? await addressesOf(host) : []
    const refusal = unseen ?? (addresses.length === 0 ? UNKNOWN_NAME : judge(host, port, addresses))
    if (refusal !== null) {
      refused.set(toAddress(host, port), refusal)
      throw new Refused(`Kogu does not let this command contact ${toAddress(host, port)}: ${refusal.reason}`)
    }
    contacted.add(toAddress(host, port))
    return addresses[0] ?? ''
  }
  // Loaded here: it costs every start 40 ms, and few commands contact anybody.
  const { createServer } = await import('node:http')
  const server = createServer((incoming, answer) => {
    forward(incoming, answer, resolve).catch(error => refuse(answer, error))
  })
  server.on('connect', (incoming: IncomingMessage, socket: Socket, head: Buffer) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    socket.on('error', () => socket.destroy())
    tunnel(incoming, socket, head, resolve).catch(error => {
      socket.end(`HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\n\r\n${messageOf(error)}\n`)
    })
  })
  await new Promise<void>((done, failed) => server.once('error', failed).listen(socketPath, done))
  return {
    socketPath,
    contacted,
    refused,
    async close() {
      for (const socket of open) socket.destroy()
      server.closeAllConnections()
      await new Promise(done => server.close(done))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

class Refused extends Error {}

const UNKNOWN_NAME: HostRefusal = { reason: 'its name is not known', canBeAllowed: false }

function toAddress(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

type Resolve = (host: string, port: number) => Promise<string>

async function tunnel(
  incoming: IncomingMessage,
  socket: Socket,
  head: Buffer,
  resolve: Resolve,
): Promise<void> {
  const { hostname } = new URL(`http://${incoming.url ?? ''}`)
  // Not from the URL, which leaves out the usual port.
  const target = Number(/:(\d{1,5})$/.exec(incoming.url ?? '')?.[1] ?? 443)
  const address = await resolve(plainHost(hostname), target)
  const upstream = connect(target, address)
  upstream.on('error', () => socket.destroy())
  socket.on('close', () => upstream.destroy())
  upstream.on('connect', () => {
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    upstream.write(head)
    upstream.pipe(socket).pipe(upstream)
  })
}

async function forward(incoming: IncomingMessage, answer: ServerResponse, resolve: Resolve): Promise<void> {
  const url = new URL(incoming.url ?? '')
  if (url.protocol !== 'http:') throw new Refused('Only plain http requests are proxied this way.')
  const port = Number(url.port === '' ? 80 : url.port)
  const address = await resolve(plainHost(url.hostname), port)
  const { 'proxy-connection': _, 'proxy-authorization': __, ...headers } = incoming.headers
  const path = `${url.pathname}${url.search}`
  const { request } = await import('node:http')
  const upstream = request(
    { host: address, port, method: incoming.method, path, headers: { ...headers, host: url.host } },
    response => {
      try {
        answer.writeHead(response.statusCode ?? 502, withoutHopByHop(response.headers))
      } catch (error) {
        // A status or header that nobody may send.
        response.destroy()
        refuse(answer, error)
        return
      }
      response.pipe(answer)
    },
  )
  upstream.on('error', error => refuse(answer, error))
  incoming.pipe(upstream)
}

/** What is between the two ends of one connection is not for the next one. */
function withoutHopByHop(headers: IncomingMessage['headers']): IncomingMessage['headers'] {
  const { connection: _, trailer: __, upgrade: ___, 'transfer-encoding': ____, ...others } = headers
  return others
}

async function addressesOf(host: string): Promise<string[]> {
  if (isIP(host) !== 0) return [host]
  try {
    return (await lookup(host, { all: true })).map(entry => entry.address)
  } catch {
    // No such name, or nobody to ask.
    return []
  }
}

function plainHost(hostname: string): string {
  return hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase()
}

function refuse(answer: ServerResponse, error: unknown): void {
  if (!answer.headersSent)
    answer.writeHead(error instanceof Refused ? 403 : 502, { 'content-type': 'text/plain' })
  answer.end(`${messageOf(error)}\n`)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
