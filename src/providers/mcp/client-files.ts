/** Where MCP clients keep their servers: below the workspace, or below the home folder with `~`. */
export interface ClientFile {
  readonly path: string
  /** Where in the file its servers are. */
  readonly key: string
}

export const CLIENT_FILES = {
  claude: { path: '.mcp.json', key: 'mcpServers' },
  codex: { path: '~/.codex/config.toml', key: 'mcp_servers' },
  gemini: { path: '.gemini/settings.json', key: 'mcpServers' },
  opencode: { path: 'opencode.json', key: 'mcp' },
  cursor: { path: '.cursor/mcp.json', key: 'mcpServers' },
  vscode: { path: '.vscode/mcp.json', key: 'servers' },
} as const satisfies Record<string, ClientFile>

/** Further files that are read for an import and never written. */
export const MORE_CLIENT_FILES: readonly ClientFile[] = [
  { path: '~/.claude.json', key: 'mcpServers' },
  { path: '~/.cursor/mcp.json', key: 'mcpServers' },
  { path: '~/.gemini/settings.json', key: 'mcpServers' },
]
