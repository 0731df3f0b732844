import { mkdirSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { isSystemError, ToolError } from '../../core/errors.ts'

/** Ports of this machine's loopback that lead into a sandbox. */
export interface HostPorts {
  /** Nobody is let in any more, and who is in is cut off. */
  close(): void
}

const MOST_CONNECTIONS = 1000

/**
 * Each port leads to the socket of its number in `folder`, which is made here, seen by no command, and filled by the
 * relay of the sandbox (network-relay.ts). All of them or none; nothing is open to other machines. The folder stays:
 * a sandbox that is being put up may be about to mount it, and sockets without a listener lead nowhere.
 */
export async function openHostPorts(folder: string, ports: readonly number[]): Promise<HostPorts> {
  if (ports.length === 0) return { close: () => undefined }
  mkdirSync(folder, { mode: 0o700 })
  const clients = new Set<Socket>()
  const servers: Server[] = []
  const close = (): void => {
    for (const server of servers) server.close()
    for (const client of clients) client.destroy()
  }
  try {
    for (const port of ports) {
      const serve = (client: Socket): void => {
        clients.add(client)
        client.on('close', () => clients.delete(client))
        pair(client, connect({ path: join(folder, String(port)), allowHalfOpen: true }))
      }
      servers.push(await listen(port, serve))
    }
    return { close }
  } catch (error) {
    close()
    throw error
  }
}

function listen(port: number, serve: (client: Socket) => void): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, serve)
  server.maxConnections = MOST_CONNECTIONS
  return new Promise((resolve, reject) => {
    server.once('error', error => {
      const taken = isSystemError(error) && error.code === 'EADDRINUSE'
      const why = taken ? 'another program uses it' : error.message
      reject(new ToolError('failed', `Port ${port} of this machine cannot be opened: ${why}.`))
    })
    server.listen({ host: '127.0.0.1', port }, () => resolve(server))
  })
}

/** As in network-relay.ts, which can import nothing. */
function pair(client: Socket, sandbox: Socket): void {
  client.pipe(sandbox)
  sandbox.pipe(client)
  const end = (): void => {
    client.destroy()
    sandbox.destroy()
  }
  client.on('error', end)
  sandbox.on('error', end)
}
