/** What `GET /api/mcp/servers` answers. */
export interface McpServer {
  readonly name: string
  readonly trust: 'trusted' | 'not trusted' | 'changed' | 'off'
  readonly state: 'off' | 'untrusted' | 'changed' | 'connecting' | 'auth' | 'failed' | 'ready'
  readonly kind: 'stdio' | 'http'
  readonly sandbox: boolean | null
  readonly describes: readonly string[]
  readonly config_hash: string
  readonly tools: number
  readonly held: number
  readonly off: number
  readonly new_tools: readonly string[]
  readonly changed_tools: readonly string[]
  readonly p50Ms: number | null
  readonly tokens: number
  readonly calls: number
  readonly failures: number
  readonly problems: readonly string[]
  readonly installed: string | null
}

/** What `GET /api/mcp/servers/NAME` answers. */
export interface McpDetail extends McpServer {
  readonly tool_list: readonly McpTool[]
  readonly off_patterns: readonly string[]
  readonly log: string
  readonly analysis: {
    readonly outcome: 'allow' | 'ask' | 'deny'
    readonly reasons: readonly string[]
  } | null
}

export interface McpTool {
  readonly name: string
  readonly full_name: string
  readonly state: 'approved' | 'new' | 'changed' | 'off'
  readonly off_by: readonly string[]
  readonly description: string
  readonly annotations: unknown
  readonly definition: Readonly<Record<string, unknown>>
  readonly pin: string
  readonly diff: string | null
  readonly tokens: number
}

/** Of `GET /api/tools/verdicts`. */
export interface ToolVerdict {
  readonly tool: string
  readonly outcome: 'allow' | 'ask' | 'deny'
}

/** Of `GET /api/usage/tools`. */
export interface ToolUse {
  readonly tool: string
  readonly calls: number
  readonly p50Ms: number
  readonly p95Ms: number
}
