import { Client, type Transport } from '@modelcontextprotocol/client'
import * as z from 'zod'
import { ToolError } from '../../core/errors.ts'
import { LIMITS } from '../../core/limits.ts'
import type { ToolContext, ToolOutput } from '../../core/tool.ts'
import { answerForm, limitSilence, type Running } from './running-call.ts'
import type { McpServerConfig } from './server-config.ts'
import { type ToolResult, toOutput } from './to-output.ts'
import type { ToolDefinition } from './tool-definition.ts'

export interface OpenedTransport {
  readonly transport: Transport
  /** Why it is gone, as the rest of a sentence; undefined when it is not. */
  over(): Promise<string | undefined>
  /** The end of what it wrote to standard error; of a server elsewhere nothing. */
  errors(): string
}

/** What a server learns of, and may ask of, whoever calls. */
export type CallContext = Pick<ToolContext, 'signal' | 'progress' | 'elicit'>

export interface Connection {
  readonly era: 'legacy' | 'modern'
  readonly isOpen: boolean
  /** Definitions as they came. */
  listTools(): Promise<unknown[]>
  call(tool: ToolDefinition, input: Record<string, unknown>, context: CallContext): Promise<ToolOutput>
  close(): Promise<void>
}

export interface ConnectionOptions {
  readonly server: McpServerConfig
  readonly version: string
  readonly open: () => Promise<OpenedTransport>
  /** What the server spoke last time. */
  readonly knownEra?: 'legacy' | 'modern' | undefined
  readonly onToolsChanged: () => void
  /** Ends a start that is under way: whoever closes Kogu does not wait for a server that says nothing. */
  readonly signal: AbortSignal
}

const PROBE_MS = 3000
const LATEST = '2026-07-28'
const MOST_PAGES = 50

/** Connects, or throws an error that says why the server could not be reached. */
export async function connect(options: ConnectionOptions): Promise<Connection> {
  const { server } = options
  const opened = await options.open()
  const era = server.era === 'auto' ? (options.knownEra ?? 'auto') : server.era
  const client = new Client(
    { name: 'kogu', version: options.version },
    {
      // No sampling or roots: a server gets nothing of the model or the workspace but the call's own input.
      capabilities: { elicitation: { form: { applyDefaults: true } } },
      versionNegotiation: {
        mode: era === 'modern' ? { pin: LATEST } : era,
        probe: { timeoutMs: Math.min(PROBE_MS, server.startMs) },
      },
      // At once: until somebody has looked, nothing is called.
      listChanged: { tools: { onChanged: options.onToolsChanged, autoRefresh: false, debounceMs: 0 } },
    },
  )
  const running = new Set<Running>()
  client.setRequestHandler('elicitation/create', ({ params }) => answerForm(server.name, running, params))
  let isOpen = true
  client.onclose = () => {
    isOpen = false
  }
  const close = async (): Promise<void> => {
    isOpen = false
    await client.close().catch(() => undefined)
    await opened.transport.close().catch(() => undefined)
  }
  const words = async (error: unknown): Promise<string> => (await opened.over()) ?? describeFailure(error)
  try {
    await untilAborted(options.signal, () =>
      client.connect(opened.transport, { timeout: server.startMs, maxTotalTimeout: server.startMs }),
    )
  } catch (error) {
    const message = options.signal.aborted ? 'it was not waited for' : await words(error)
    await close()
    throw new Error(message, { cause: error })
  }
  return {
    era: client.getProtocolEra() === 'modern' ? 'modern' : 'legacy',
    get isOpen() {
      return isOpen
    },
    listTools: () => listTools(client, server),
    async call({ name, inputSchema }, input, { signal, progress, elicit }) {
      const silence = limitSilence(server.timeoutMs)
      const own: Running = { silence, ...(elicit === undefined ? {} : { elicit }) }
      running.add(own)
      try {
        const result = await client.callTool(
          { name, arguments: input },
          {
            signal: AbortSignal.any([signal, silence.signal]),
            timeout: LIMITS.runMs,
            // From it come the headers that repeat arguments. Its shape was checked when it was offered.
            toolDefinition: { name, inputSchema: inputSchema as { type: 'object' } },
            onprogress: ({ message, progress: done, total }) => {
              silence.end()
              progress(`${message ?? `${done}${total === undefined ? '' : ` of ${total}`}`}\n`)
            },
          },
        )
        // The SDK has checked its shape.
        return toOutput(result as ToolResult)
      } catch (error) {
        if (error instanceof ToolError || signal.aborted) throw error
        if (silence.signal.aborted) {
          const seconds = server.timeoutMs / 1000
          throw new ToolError(
            'timeout',
            `The MCP server '${server.name}' timed out: it did not answer for ${seconds} s.`,
          )
        }
        const message = await words(error)
        if (isOpen) throw new ToolError('failed', `The MCP server '${server.name}' answered: ${message}`)
        throw new ToolError(
          'failed',
          `The MCP server '${server.name}' was lost during the call: ${message}.`,
          {
            hint: 'The call may have had an effect, so it is not repeated automatically.',
            cause: error,
          },
        )
      } finally {
        running.delete(own)
        silence.close()
      }
    },
    close,
  }
}

/** The SDK's own signal does not reach the probe for the newer protocol. */
async function untilAborted(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  const aborted = Promise.withResolvers<never>()
  const end = (): void => aborted.reject(signal.reason)
  signal.throwIfAborted()
  signal.addEventListener('abort', end, { once: true })
  try {
    await Promise.race([work(), aborted.promise])
  } finally {
    signal.removeEventListener('abort', end)
  }
}

/** What the network or the protocol said, without the words of those who passed it on. */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const [, ms] = /^Version negotiation probe timed out after (\d+)ms/.exec(error.message) ?? []
  if (ms !== undefined) return `it did not answer within ${Number(ms) / 1000} s`
  return error.cause instanceof Error ? describeFailure(error.cause) : error.message
}

// Not the client's own: one bad schema would make it throw all tools away.
const page = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() })

async function listTools(client: Client, { startMs }: McpServerConfig): Promise<unknown[]> {
  const tools: unknown[] = []
  let cursor: string | undefined
  for (let number = 0; number < MOST_PAGES; number += 1) {
    const params = cursor === undefined ? {} : { cursor }
    const result = await client.request({ method: 'tools/list', params }, page, { timeout: startMs })
    tools.push(...result.tools)
    cursor = result.nextCursor
    if (cursor === undefined) return tools
  }
  return tools
}
