import type { Receipts } from './files.ts'
import type { Label } from './tool.ts'

/** Calls that belong together: one agent run, one batch, one MCP connection. Holds what later calls depend on. */
export interface Run {
  readonly id: string
  /** Of files that were seen as a whole. */
  readonly receipts: Receipts
  /** Files of which only a part was seen, by real path. */
  readonly partialViews: Map<string, PartialView>
  /** What was read, by real path, for showing what changed since. Bounded, and gone with the process. */
  readonly contents: Map<string, Uint8Array>
  /** What entered this run so far. */
  readonly labels: Label[]
  /** Where commands of this run stand, once one of them went somewhere. */
  cwd?: string
  /** What commands of this run exported. */
  readonly variables: Map<string, string>
}

export interface PartialView {
  /** Of the content that the lines are of. */
  readonly sha256: string
  /** In order, without overlap. */
  readonly lines: readonly LineRange[]
}

/** Lines counted from 0; the second is the first one behind them. */
export type LineRange = readonly [number, number]

export function createRun(id: string): Run {
  return {
    id,
    receipts: new Map<string, string>(),
    partialViews: new Map(),
    contents: new Map(),
    labels: [],
    variables: new Map(),
  }
}
