// What the conformance suite starts with the address of its own server: our connection, as the provider uses it.
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { connect } from '../../src/providers/mcp/connection.ts'
import { readDefinitions } from '../../src/providers/mcp/tool-definition.ts'

const url = process.argv.at(-1) ?? ''
const { MCP_CONFORMANCE_CONTEXT: given, MCP_CONFORMANCE_PROTOCOL_VERSION: revision } = process.env
const context = JSON.parse(given ?? '{}') as {
  toolCalls?: { name: string; arguments?: Record<string, unknown> }[]
}
const connection = await connect({
  server: {
    name: 'conformance',
    enabled: true,
    url,
    env: {},
    headers: {},
    on: [],
    off: [],
    startMs: 10_000,
    timeoutMs: 10_000,
    era: revision === '2026-07-28' ? 'modern' : 'legacy',
    sandbox: true,
    hosts: [],
    write: [],
  },
  version: '0',
  open: async () => ({
    transport: new StreamableHTTPClientTransport(new URL(url)),
    over: async () => undefined,
  }),
  onToolsChanged: () => undefined,
})
const { tools } = readDefinitions(await connection.listTools())
const fallback = tools.map(({ name }) => ({ name, arguments: name === 'add_numbers' ? { a: 5, b: 3 } : {} }))
for (const call of context.toolCalls ?? fallback) {
  const live = { signal: new AbortController().signal, progress: () => undefined }
  await connection.call(call.name, call.arguments ?? {}, live).catch((error: unknown) => console.error(error))
}
await connection.close()
