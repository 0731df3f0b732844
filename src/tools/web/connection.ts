import { lookup } from 'node:dns/promises'
import { connect, isIP, type Socket } from 'node:net'
import { ToolError } from '../../core/errors.ts'

/** How names are looked up and connections made. Tests put loopback servers in the place of the internet here. */
export interface Network {
  /** All addresses that a name stands for. */
  lookup(host: string): Promise<readonly string[]>
  /** A connection to exactly this address. */
  dial(address: string, port: number, signal: AbortSignal): Promise<Socket>
  /** Encrypts a connection, and proves that it leads to this host. */
  secure(socket: Socket, host: string, signal: AbortSignal): Promise<Socket>
}

/** The real one. */
export const INTERNET: Network = {
  async lookup(host) {
    return (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address)
  },
  async dial(address, port, signal) {
    // Never a name: what was judged is what is connected to.
    if (isIP(address) === 0) throw new ToolError('failed', `'${address}' is not an address.`)
    const socket = await open(address, port, signal)
    if (isSameAddress(socket.remoteAddress, address)) return socket
    socket.destroy()
    throw new ToolError('forbidden', `The connection to ${address} leads to ${socket.remoteAddress}.`)
  },
  async secure(socket, host, signal) {
    const { connect: connectTls } = await import('node:tls')
    const name = isIP(host) === 0 ? { servername: host } : {}
    const secure = connectTls({ socket, host, ...name, ALPNProtocols: ['http/1.1'] })
    return settled(secure, 'secureConnect', signal)
  },
}

export function open(address: string, port: number, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted()
  return settled(connect({ host: address, port, autoSelectFamily: false }), 'connect', signal)
}

function settled<Kind extends Socket>(socket: Kind, event: string, signal: AbortSignal): Promise<Kind> {
  const { promise, resolve, reject } = Promise.withResolvers<Kind>()
  const abort = (): void => {
    socket.destroy()
    reject(signal.reason)
  }
  signal.addEventListener('abort', abort, { once: true })
  socket.once('error', reject)
  socket.once(event, () => {
    signal.removeEventListener('abort', abort)
    socket.removeListener('error', reject)
    resolve(socket)
  })
  return promise
}

/** By what they mean: an IPv6 address has many spellings. */
function isSameAddress(actual: string | undefined, wanted: string): boolean {
  return actual !== undefined && canonical(actual) === canonical(wanted)
}

function canonical(address: string): string {
  const plain = address.split('%')[0] ?? ''
  return isIP(plain) === 6 ? new URL(`http://[${plain}]`).hostname : plain
}
