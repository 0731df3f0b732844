import { ToolError } from '../../core/errors.ts'
import type { ToolContext, ToolOutput } from '../../core/tool.ts'
import { type Connection, connect } from './connection.ts'
import { type OpenServerParts, openOnLayer } from './open-server.ts'
import type { McpRecord } from './record.ts'
import type { McpServerConfig } from './server-config.ts'
import { pinOf, readDefinitions, type ToolDefinition } from './tool-definition.ts'

export interface LayerCall {
  readonly server: McpServerConfig
  readonly version: string
  readonly record: McpRecord
  readonly tool: ToolDefinition
  readonly input: Record<string, unknown>
}

/**
 * One call of a server that may change the workspace: a process of its own on a layer, so that what it changed is known to
 * be this call's. What the rules let through is brought over and can be undone; of a call that fails nothing is kept.
 */
export async function callOnLayer(
  parts: OpenServerParts,
  { server, version, record, tool, input }: LayerCall,
  context: ToolContext,
): Promise<ToolOutput> {
  const layer = await openOnLayer(parts, server, record, tool.name, context)
  const connection = await connect({
    server,
    version,
    knownEra: record.era,
    open: async () => layer.opened,
    onToolsChanged: () => undefined,
    signal: context.signal,
  })
  let output: ToolOutput
  try {
    await requireApproved(connection, server, tool)
    output = await connection.call(tool, input, context)
    layer.keep()
  } finally {
    await connection.close()
  }
  const notes = await layer.settled()
  return notes.length === 0
    ? output
    : { ...output, text: [output.text, ...notes.map(note => `[${note}]`)].join('\n') }
}

/** Each process could say something else. */
async function requireApproved(
  connection: Connection,
  { name }: McpServerConfig,
  tool: ToolDefinition,
): Promise<void> {
  const { tools } = readDefinitions(await connection.listTools())
  const found = tools.find(each => each.name === tool.name)
  if (found !== undefined && pinOf(found) === pinOf(tool)) return
  throw new ToolError('conflict', `The MCP server '${name}' has changed this tool since it was approved.`, {
    hint: `See: kogu mcp tools ${name}`,
  })
}
