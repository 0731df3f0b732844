import { Client, type ElicitResult } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { PROGRAM, type Sandboxed } from './kogu.ts'

export interface ConnectOptions {
  readonly era?: 'legacy' | 'auto'
  readonly args?: readonly string[]
  /** Absent: a client that cannot ask. */
  readonly answer?: (message: string) => ElicitResult
  readonly onToolsChanged?: () => void
}

export const ERAS = ['legacy', 'auto'] as const

/** A client of the SDK, connected to `kogu mcp` in the box. */
export async function connectToKogu(box: Sandboxed, options: ConnectOptions = {}): Promise<Connected> {
  const { era = 'legacy', args = [], answer, onToolsChanged } = options
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAM, 'mcp', ...args],
    cwd: box.workspace,
    env: box.env,
    stderr: 'inherit',
  })
  const client = new Client(
    { name: 'test-client', version: '1' },
    {
      capabilities: answer === undefined ? {} : { elicitation: { form: {} } },
      versionNegotiation: { mode: era, probe: { timeoutMs: 30_000 } },
      ...(onToolsChanged === undefined
        ? {}
        : { listChanged: { tools: { onChanged: () => onToolsChanged() } } }),
    },
  )
  if (answer !== undefined) {
    client.setRequestHandler('elicitation/create', async request => answer(request.params.message))
  }
  await client.connect(transport)
  return { client, pid: transport.pid ?? 0, call: (name, input) => callText(client, name, input) }
}

export interface Connected {
  readonly client: Client
  readonly pid: number
  call(name: string, input: Record<string, unknown>): Promise<{ isError: boolean; text: string }>
}

export async function callText(client: Client, name: string, input: Record<string, unknown>) {
  const { content, isError } = await client.callTool({ name, arguments: input })
  const text = content.map(part => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n')
  return { isError: isError === true, text }
}
