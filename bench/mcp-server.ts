import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import * as z from 'zod'

/** A server that speaks MCP on its standard input and output. */
export interface McpServer {
  /** Throws when the tool says that it failed, because a failure would be measured as fast. */
  call(tool: string, input: Record<string, unknown>): Promise<string>
  readonly pid: number
  close(): Promise<void>
}

const answer = z.object({
  id: z.number(),
  result: z
    .object({
      isError: z.boolean().optional(),
      content: z.array(z.object({ text: z.string().optional() })).optional(),
    })
    .optional(),
  error: z.object({ message: z.string() }).optional(),
})

type Answer = z.output<typeof answer>

export async function startMcpServer(
  script: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: Record<string, string> } = {},
): Promise<McpServer> {
  const server = spawn(process.execPath, [script, ...args], { stdio: ['pipe', 'pipe', 'ignore'], ...options })
  const exited = once(server, 'exit')
  const waiting = new Map<number, (answer: Answer) => void>()
  createInterface({ input: server.stdout }).on('line', line => {
    // Its own requests and notifications have no answer's shape.
    const parsed = answer.safeParse(JSON.parse(line))
    if (parsed.success) waiting.get(parsed.data.id)?.(parsed.data)
  })
  let last = 0
  const send = (message: object): void => {
    server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }
  const request = async (method: string, params: object): Promise<NonNullable<Answer['result']>> => {
    last += 1
    const id = last
    const { promise, resolve } = Promise.withResolvers<Answer>()
    waiting.set(id, resolve)
    send({ id, method, params })
    const { result, error } = await promise
    waiting.delete(id)
    if (result === undefined) throw new Error(`${method} failed: ${error?.message}`)
    return result
  }
  await request('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'kogu-bench', version: '0' },
  })
  send({ method: 'notifications/initialized' })
  return {
    pid: server.pid ?? 0,
    async call(tool, input) {
      const { isError, content } = await request('tools/call', { name: tool, arguments: input })
      const text = content?.[0]?.text ?? ''
      if (isError === true) throw new Error(`${tool} failed: ${text}`)
      return text
    },
    async close() {
      server.kill()
      await exited
    },
  }
}
