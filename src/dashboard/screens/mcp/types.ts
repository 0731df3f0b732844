/** What `GET /api/mcp/servers` answers. */
export interface McpServer {
  readonly name: string
  readonly trust: 'trusted' | 'not trusted' | 'changed' | 'off'
  readonly available: boolean
  readonly kind: 'stdio' | 'http'
  readonly sandbox: boolean | null
  readonly describes: readonly string[]
  readonly config_hash: string
  readonly tools: number
  readonly held: number
  readonly tokens: number
  readonly calls: number
  readonly failures: number
  readonly problems: readonly string[]
  readonly installed: string | null
}

export interface McpTool {
  readonly name: string
  readonly full_name: string
  readonly state: 'approved' | 'new' | 'changed'
  readonly description: string
  readonly annotations: unknown
  readonly definition: Readonly<Record<string, unknown>>
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
