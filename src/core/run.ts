import type { Receipts } from './files.ts'
import type { Label } from './tool.ts'

/** Calls that belong together: one agent run, one batch, one MCP connection. Holds what later calls depend on. */
export interface Run {
  readonly id: string
  readonly receipts: Receipts
  /** What entered this run so far. */
  readonly labels: Label[]
  /** Where commands of this run stand, once one of them went somewhere. */
  cwd?: string
  /** What commands of this run exported. */
  readonly variables: Map<string, string>
}

export function createRun(id: string): Run {
  return { id, receipts: new Map<string, string>(), labels: [], variables: new Map() }
}
