import { once } from 'node:events'
import type { Runtime } from '../runtime.ts'
import { aboutKogu } from './about.ts'
import { answerDirectly, type DirectClient, type DirectDoor } from './direct-calls.ts'
import { createDoorParts, type DoorParts, trackCall } from './door-parts.ts'
import { type Greeting, isInitialized, readGreeting } from './greeting.ts'
import type { StdioSdk } from './stdio-sdk.ts'
import { type NameSet, offeredTools } from './tool-list.ts'

export interface StdioOptions {
  readonly version: string
  readonly names: NameSet
  readonly budget: number
  readonly mayApprove: boolean
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
  const parts: DoorParts = {
    ...createDoorParts(runtime, options),
    run() {
      opened ??= runtime.openRun(options.run === undefined ? {} : { id: options.run }).then(run => run.id)
      return opened
    },
  }
  // As bytes: a string is converted while it is written, and the write takes half as long again.
  const write = (message: object): void =>
    void process.stdout.write(Buffer.from(`${JSON.stringify(message)}\n`))
  let sdk: Promise<StdioSdk> | undefined
  const client = meetClient(parts, write, isGreeted => {
    sdk = import('./stdio-sdk.ts').then(({ openSdk }) =>
      openSdk({ parts, input: direct.rest, isGreeted, onError: options.onError }),
    )
  })
  const direct = answerDirectly(
    options.stdin,
    { write, cork: () => process.stdout.cork(), uncork: () => process.stdout.uncork() },
    client,
  )
  const stopListening = runtime.registry.onChange(() => {
    if (sdk !== undefined) void sdk.then(each => each.announce())
    // Before a client is there, there is nobody to tell.
    else if (client.isReady()) write({ method: 'notifications/tools/list_changed', jsonrpc: '2.0' })
  })
  try {
    await untilOver(options)
  } finally {
    stopListening()
    // Ends what runs; each call has to come to its end on record.
    direct.close()
    await (await sdk)?.close()
    parts.memory.stop()
    await Promise.allSettled(parts.running)
  }
}

interface MetClient extends DirectClient {
  /** Whether it has heard our answer. */
  isReady(): boolean
}

/** Answers a client that introduces itself, and keeps what it said for the SDK, which may be needed later. */
function meetClient(
  parts: DoorParts,
  write: (message: object) => void,
  loadSdk: (isGreeted: boolean) => void,
): MetClient {
  let greeting: Greeting | undefined
  let isReady = false
  let isForSdk = false
  const heard: Buffer[] = []
  let door: DirectDoor | undefined
  return {
    greet(line) {
      if (isForSdk) return false
      if (greeting !== undefined) {
        if (isReady || !isInitialized(line)) return false
        isReady = true
        heard.push(line)
        return true
      }
      greeting = readGreeting(line)
      if (greeting === undefined) return false
      heard.push(line)
      const { id, protocolVersion, client, canAsk } = greeting
      write({ result: { protocolVersion, ...aboutKogu(parts.version) }, jsonrpc: '2.0', id })
      const track = (work: Promise<unknown>): void => trackCall(parts, work)
      door = {
        ...parts,
        client,
        canAsk: canAsk && parts.mayApprove,
        track,
        listTools: () => offeredTools(parts),
      }
      return true
    },
    door: () => door,
    missed() {
      isForSdk = true
      loadSdk(greeting !== undefined)
      return heard
    },
    isReady: () => isReady,
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
