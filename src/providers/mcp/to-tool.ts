import { MCP_CALL } from '../../core/access.ts'
import { fromJsonSchema } from '../../core/json-schema.ts'
import type { JsonSchema } from '../../core/schema.ts'
import type { AnyTool, ToolContext, ToolOutput } from '../../core/tool.ts'
import { isLocalUrl, type McpServerConfig } from './server-config.ts'
import { cleanText, type ToolDefinition, toolName } from './tool-definition.ts'
import { headerProblem } from './tool-headers.ts'

export type CallServer = (
  definition: ToolDefinition,
  input: Record<string, unknown>,
  context: ToolContext,
) => Promise<ToolOutput>

export interface WayToServer {
  readonly call: CallServer
  /** The command line of a server that is started for each call. */
  line(): string
}

/**
 * A server's tool as one of ours. Always of high risk: what a server says about its own tools is a claim. Throws when its
 * schema cannot be used.
 */
export function toTool(config: McpServerConfig, definition: ToolDefinition, way: WayToServer): AnyTool {
  const { name: server, url, sandbox } = config
  const { name, title, description = '' } = definition
  const problem = url === undefined ? undefined : headerProblem(definition.inputSchema)
  if (problem !== undefined) throw new Error(problem)
  const input = fromJsonSchema(cleanSchema(definition.inputSchema))
  const output = outputSchema(definition.outputSchema)
  // Said wherever the call appears: in questions, explanations and the record.
  const isOpen = url === undefined && !sandbox
  return {
    name: toolName(server, name),
    // Otherwise a server gets around `hub__delete_*` with a name that is so long that it loses its beginning.
    fullName: `${server}__${name}`,
    aliases: [],
    parameterAliases: {},
    title: cleanText(title ?? name, 200),
    description: cleanText(
      description === '' ? `The tool ${name} of the MCP server ${server}.` : description,
    ),
    category: 'Composite',
    risk: 'high',
    label: { origin: 'mcp', trusted: false, source: server },
    input,
    ...(output === undefined ? {} : { output }),
    access: () => [
      {
        kind: 'custom',
        name: MCP_CALL,
        details: `${server}${isOpen ? ' (WITHOUT A SANDBOX)' : ''}: ${name}`,
      },
      // So that its changes are held to the rules about files, as those of every command that was approved.
      ...(config.workspace === 'layer' ? [{ kind: 'execute' as const, command: way.line() }] : []),
      // Rules about hosts hold for servers too. Whether one of this machine is contacted was decided with the trust.
      ...(url === undefined || isLocalUrl(url) ? [] : [{ kind: 'network' as const, url, method: 'POST' }]),
    ],
    run: (given, context) => way.call(definition, given, context),
  }
}

/** A result is not checked against it, so that one that cannot be used is no reason to leave the tool out. */
function outputSchema(schema: unknown): AnyTool['output'] {
  try {
    return schema === undefined ? undefined : fromJsonSchema(cleanSchema(schema))
  } catch {
    return undefined
  }
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Input is an object whatever the schema says; descriptions in it are foreign words too. */
function cleanSchema(schema: unknown): JsonSchema {
  if (schema === undefined) throw new Error('it has no schema')
  if (!isSchema(schema)) throw new Error('its schema is not an object')
  if (schema.type !== undefined && schema.type !== 'object') throw new Error('its input is not an object')
  // Parsed from JSON, so that what comes out is a schema as well.
  return { ...(clean(schema) as JsonSchema), type: 'object' }
}

/** Foreign words in JSON, as they may be shown. */
export function clean(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value, 10_000)
  if (Array.isArray(value)) return value.map(clean)
  if (typeof value !== 'object' || value === null) return value
  // A header that repeats a value is between the server and us: nobody who calls through Kogu has to send it.
  const kept = Object.entries(value).filter(([key]) => key !== 'x-mcp-header')
  return Object.fromEntries(kept.map(([key, item]) => [key, clean(item)]))
}
