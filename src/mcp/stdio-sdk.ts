import { type Readable, Writable } from 'node:stream'
import type { Server } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { createAskingParts, createServer } from './create-server.ts'
import type { DoorParts } from './door-parts.ts'

export interface SdkOptions {
  readonly parts: DoorParts
  readonly input: Readable
  /** The first thing that it will say was said: the answer to an introduction. */
  readonly isGreeted: boolean
  readonly onError: (message: string) => void
}

export interface StdioSdk {
  /** Tells the client that the list of tools is another one. */
  announce(): void
  close(): Promise<void>
}

/** The SDK on standard output, for everything that is not answered directly. Loaded when there is something for it. */
export function openSdk({ parts, input, isGreeted, onError }: SdkOptions): StdioSdk {
  const asking = createAskingParts()
  const servers = new Set<Server>()
  const handle = serveStdio(
    () => {
      const server = createServer({ ...parts, ...asking })
      servers.add(server)
      server.onclose = () => servers.delete(server)
      return server
    },
    {
      transport: new StdioServerTransport(input, isGreeted ? withoutFirst(process.stdout) : process.stdout),
      onerror: error => onError(error.message),
    },
  )
  return {
    announce() {
      // When a client does not want to hear of it, there is nobody to tell.
      for (const server of servers) server.sendToolListChanged().catch(() => undefined)
    },
    async close() {
      await handle.close()
      await asking.held.close()
    },
  }
}

/** The SDK writes one message at a time. */
function withoutFirst(output: Writable): Writable {
  let isFirst = true
  return new Writable({
    write(chunk, encoding, done) {
      if (!isFirst) return void output.write(chunk, encoding, done)
      isFirst = false
      done()
    },
  })
}
