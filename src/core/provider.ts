import type { AnyTool, ToolContext, ToolOutput } from './tool.ts'

/** A source of tools. When two offer the same name, the higher priority wins while it is available. */
export interface Provider {
  /** Unique: `builtin`, `cli`, `mcp:filesystem`. */
  readonly id: string
  readonly displayName: string
  readonly priority: number
  isAvailable(): boolean | Promise<boolean>
  discoverTools(): readonly AnyTool[] | Promise<readonly AnyTool[]>
  /** Throws ProviderUnavailable only when it has done nothing yet. */
  execute(tool: AnyTool, input: unknown, context: ToolContext): Promise<ToolOutput>
}

/** The priorities of the kinds of provider; ties go to the one that was added first. */
export const PRIORITY = { builtin: -100, cli: 50, custom: 75, script: 75, dynamic: 75, mcp: 100 } as const

/** A provider of tools that are always there and run themselves. */
export function localProvider(
  id: string,
  displayName: string,
  priority: number,
  tools: readonly AnyTool[],
): Provider {
  return {
    id,
    displayName,
    priority,
    isAvailable: () => true,
    discoverTools: () => tools,
    execute: (tool, input, context) => tool.run(input, context),
  }
}
