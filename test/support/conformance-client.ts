// What the conformance suite starts with the address of its own server: our connection, as the provider uses it.
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { connect } from '../../src/providers/mcp/connection.ts'
import type { McpServerConfig } from '../../src/providers/mcp/server-config.ts'
import { toTool } from '../../src/providers/mcp/to-tool.ts'
import { readDefinitions } from '../../src/providers/mcp/tool-definition.ts'

const url = process.argv.at(-1) ?? ''
const { MCP_CONFORMANCE_CONTEXT: given, MCP_CONFORMANCE_PROTOCOL_VERSION: revision } = process.env
const context = JSON.parse(given ?? '{}') as {
  toolCalls?: { name: string; arguments?: Record<string, unknown> }[]
}
const server: McpServerConfig = {
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
  workspace: 'read-only',
  hosts: [],
  write: [],
}
const connection = await connect({
  server,
  version: '0',
  open: async () => ({
    transport: new StreamableHTTPClientTransport(new URL(url)),
    over: async () => undefined,
    errors: () => '',
  }),
  onToolsChanged: () => undefined,
  signal: new AbortController().signal,
})
const { tools } = readDefinitions(await connection.listTools())
const way = { call: async () => ({ text: '' }), line: () => '' }
// What the provider leaves out is not called.
const usable = tools.flatMap(definition => {
  try {
    return [{ definition, schema: toTool(server, definition, way).input.json }]
  } catch {
    return []
  }
})
const inputs: Readonly<Record<string, Record<string, unknown>>> = {
  add_numbers: { a: 5, b: 3 },
  // As a model would see it.
  json_schema_echo: {
    schema: usable.find(({ definition }) => definition.name === 'json_schema_2020_12_tool')?.schema,
  },
}
const fallback = usable.map(({ definition: { name } }) => ({ name, arguments: inputs[name] ?? {} }))
for (const call of context.toolCalls ?? fallback) {
  const tool = usable.find(({ definition }) => definition.name === call.name)?.definition
  if (tool === undefined) continue
  const live = {
    signal: new AbortController().signal,
    progress: () => undefined,
    // A person who sends the form as it stands.
    elicit: async () => ({ action: 'accept' as const, content: {} }),
  }
  await connection.call(tool, call.arguments ?? {}, live).catch((error: unknown) => console.error(error))
}
await connection.close()
