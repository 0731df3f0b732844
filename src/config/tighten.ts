import { keyEntry } from './key-table.ts'
import type { Table } from './read-source.ts'
import type { ParsedConfig } from './schema.ts'
import { isTable, leaves, valueAt } from './tables.ts'

export interface Tightened {
  /** What to set, as it would be written. */
  readonly applied: { path: string[]; value: unknown }[]
  /** Keys that the source set and that did not count, because they have no stricter side or would loosen. */
  readonly refused: string[][]
}

/**
 * For a source that may only tighten (the managed file, a file that is not trusted): the stricter of both values holds, as
 * the table of settings says. What `data` (`parsed`, when its units are converted) sets that is stricter than the
 * configuration so far.
 */
export function tighten(
  current: ParsedConfig,
  data: Table,
  parsed: ParsedConfig,
  source: 'managed' | 'untrusted',
): Tightened {
  const applied: { path: string[]; value: unknown }[] = []
  const refused: string[][] = []
  for (const { path, value: written } of leaves(data)) {
    const stricter = keyEntry(path)?.[source]
    const before = valueAt(current, path)
    const proposed = valueAt(parsed, path)
    if (isTable(written) || isSame(proposed, before)) continue
    const value = stricter?.(before, proposed)
    if (value === undefined || isSame(value, before) || !canHold(current, path)) refused.push(path)
    else applied.push({ path, value: isSame(value, proposed) ? written : value })
  }
  return { applied, refused }
}

/** `mcp.x.enabled = false` about a server that nobody has configured would make half a server of it. */
function canHold(config: ParsedConfig, path: readonly string[]): boolean {
  return path[0] === 'tools' || valueAt(config, path.slice(0, -1)) !== undefined
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
