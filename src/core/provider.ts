import type { AnyTool } from './tool.ts'

/** A source of tools. When two offer the same name, the higher priority wins while it is available. */
export interface Provider {
  /** Unique: `builtin`, `cli`, `mcp:filesystem`. */
  readonly id: string
  readonly displayName: string
  readonly priority: number
  /** Its definitions are written in Kogu: their schemas are known to be good, and not built before somebody asks. */
  readonly isPartOfKogu?: true
  /**
   * Begins to offer tools. `onTools` is called with the whole list, once before this returns and again whenever the list
   * changes, until `signal` is aborted. A provider that throws, takes too long or offers nothing before it returns is
   * down: what it offered last stays known, and it is started again after a while.
   */
  start(signal: AbortSignal, onTools: OnTools): void | Promise<void>
  /** Ends everything it started. Called after every start, also a failed one. */
  close(): void | Promise<void>
}

/** `problems`: tools of the source that cannot be offered, one sentence each. They never hide the others. */
export type OnTools = (tools: readonly AnyTool[], problems?: readonly string[]) => void

/** The priorities of the kinds of provider; ties go to the one that was added first. */
export const PRIORITY = { builtin: -100, cli: 50, custom: 75, script: 75, dynamic: 75, mcp: 100 } as const

/** A provider of tools that are always there. */
export function localProvider(
  id: string,
  displayName: string,
  priority: number,
  tools: readonly AnyTool[],
): Provider {
  return { id, displayName, priority, start: (_signal, onTools) => onTools(tools), close: () => undefined }
}
