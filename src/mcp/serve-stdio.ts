import { once } from 'node:events'
import type { Server } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio as serve } from '@modelcontextprotocol/server/stdio'
import type { Runtime } from '../runtime.ts'
import { createServer, createServerParts, doorOf, type ServerParts } from './create-server.ts'
import { answerDirectly, type DirectDoor } from './direct-calls.ts'

export interface StdioOptions {
  readonly version: string
  readonly names: ServerParts['names']
  readonly budget: number
  /** Continue this run, or begin it; a new one otherwise. */
  readonly run?: string
  readonly signal: AbortSignal
  readonly stdin: NodeJS.ReadStream
  readonly onError: (message: string) => void
}

/** Between two looks at whether whoever started us is still there. */
const PARENT_MS = 5000

/** Serves MCP on standard input and output until the input ends, a signal comes, or whoever started us is gone. */
export async function serveStdio(runtime: Runtime, options: StdioOptions): Promise<void> {
  let opened: Promise<string> | undefined
  const parts: ServerParts = {
    ...createServerParts(runtime, options),
    run() {
      opened ??= runtime.openRun(options.run === undefined ? {} : { id: options.run }).then(run => run.id)
      return opened
    },
  }
  const servers = new Set<ReturnType<typeof createServer>>()
  let door: { readonly server: Server; readonly direct: DirectDoor } | undefined
  const direct = answerDirectly(
    options.stdin,
    message => process.stdout.write(`${JSON.stringify(message)}\n`),
    // Known as soon as it has been greeted.
    () => (door?.server.getClientVersion() === undefined ? undefined : door.direct),
  )
  const handle = serve(
    ({ era }) => {
      const server = createServer(parts)
      servers.add(server)
      server.onclose = () => {
        servers.delete(server)
        door = undefined
      }
      if (era === 'legacy') door = { server, direct: doorOf(server, parts) }
      return server
    },
    {
      transport: new StdioServerTransport(direct.rest, process.stdout),
      onerror: error => options.onError(error.message),
    },
  )
  const stopListening = runtime.registry.onChange(() => {
    // Before a client is there, or when it does not want to hear of it, there is nobody to tell.
    for (const server of servers) server.sendToolListChanged().catch(() => undefined)
  })
  try {
    await untilOver(options)
  } finally {
    stopListening()
    // Ends what runs; each call has to come to its end on record.
    direct.close()
    await handle.close()
    await parts.held.close()
    parts.memory.stop()
    await Promise.allSettled(parts.running)
  }
}

async function untilOver({ signal, stdin }: StdioOptions): Promise<void> {
  const over = new AbortController()
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid !== parent) over.abort()
  }, PARENT_MS)
  try {
    await Promise.race([
      once(stdin, 'end', { signal: over.signal }),
      once(stdin, 'close', { signal: over.signal }),
      once(signal, 'abort', { signal: over.signal }),
    ])
  } catch (error) {
    if (!over.signal.aborted) throw error
  } finally {
    clearInterval(watch)
    over.abort()
  }
}
