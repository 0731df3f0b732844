import type { Table } from './read-source.ts'
import type { ParsedConfig } from './schema.ts'
import { isPatternOf, isTable, leaves, valueAt } from './tables.ts'

/**
 * How a source that may only tighten (the managed file, a file that is not trusted) changes a setting: the stricter of
 * both values holds. A setting that is not in this table has no stricter side, and such a source cannot set it.
 */
const STRICTER: Readonly<Record<string, (current: unknown, proposed: unknown) => unknown>> = {
  mode: stricterMode,
  'permissions.default': firstOf(['deny', 'ask']),
  'permissions.approval_timeout': smaller,
  'permissions.remember_max': smaller,
  'limits.max_turns': smaller,
  'limits.max_time': smaller,
  'limits.max_cost': smaller,
  'limits.max_tokens': smaller,
  'limits.on_limit': firstOf(['stop', 'ask']),
  'limits.budget.day': smaller,
  'limits.budget.month': smaller,
  'tools.providers': common,
  'tools.*.enabled': firstOf([false, true]),
  'tools.dynamic.max_tools': smaller,
  'tools.dynamic.timeout': smaller,
  'tools.dynamic.memory': smaller,
  'tools.dynamic.strict': firstOf([true, false]),
  'mcp.*.enabled': firstOf([false, true]),
  'mcp.*.tools.off': both,
  'reviewers.needed': larger,
  'reviewers.on_deny': firstOf(['deny', 'human']),
  'reviewers.on_error': firstOf(['deny', 'human']),
  'agents.max_depth': smaller,
  'agents.max_parallel': smaller,
  'sandbox.required': firstOf([true, false]),
  'sandbox.network': lessNetwork,
  'sandbox.memory': smaller,
  'sandbox.processes': smaller,
  'sandbox.cpu': smaller,
  'sandbox.file_size': smaller,
  'sandbox.writable_caches': common,
  'sandbox.background_write': common,
  'sandbox.env': common,
  'audit.sync': firstOf(['always', 'batch']),
  'server.allowed_hosts': common,
  'redaction.patterns': both,
}

export interface Tightened {
  /** What to set, as it would be written. */
  readonly applied: { path: string[]; value: unknown }[]
  /** Keys that the source set and that did not count, because they have no stricter side or would loosen. */
  readonly refused: string[][]
}

/** What `data` (`parsed`, when its units are converted) sets that is stricter than the configuration so far. */
export function tighten(current: ParsedConfig, data: Table, parsed: ParsedConfig): Tightened {
  const applied: { path: string[]; value: unknown }[] = []
  const refused: string[][] = []
  for (const { path, value: written } of leaves(data)) {
    const pattern = Object.keys(STRICTER).find(candidate => isPatternOf(candidate, path))
    const stricter = pattern === undefined ? undefined : STRICTER[pattern]
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

/**
 * Modes have no full order: `auto` refuses edits that `accept-edits` lets through, and lets through what a reviewer
 * approves. Only these two are certain: `read-only` is below all, and `ask` puts a person before every change.
 */
function stricterMode(current: unknown, proposed: unknown): unknown {
  if (proposed === 'read-only') return proposed
  return proposed === 'ask' && current !== 'read-only' ? proposed : current
}

/** The values from the strictest to the loosest. */
function firstOf(order: readonly unknown[]): (current: unknown, proposed: unknown) => unknown {
  return (current, proposed) => order.find(value => value === current || value === proposed)
}

function smaller(current: unknown, proposed: unknown): unknown {
  return typeof current === 'number' && typeof proposed === 'number' ? Math.min(current, proposed) : proposed
}

function larger(current: unknown, proposed: unknown): unknown {
  return typeof current === 'number' && typeof proposed === 'number' ? Math.max(current, proposed) : proposed
}

/** What both lists have; a list that is not there stands for everything. */
function common(current: unknown, proposed: unknown): unknown {
  if (!Array.isArray(current) || !Array.isArray(proposed)) return proposed
  return current.filter(item => proposed.includes(item))
}

function both(current: unknown, proposed: unknown): unknown {
  if (!Array.isArray(current) || !Array.isArray(proposed)) return proposed
  return [...new Set([...current, ...proposed])]
}

function lessNetwork(current: unknown, proposed: unknown): unknown {
  if (current === false || proposed === false) return false
  if (current === true) return proposed
  if (proposed === true) return current
  return common(current, proposed)
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
