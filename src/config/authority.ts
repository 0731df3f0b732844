import { createHash } from 'node:crypto'
import { toVisible } from '../core/visible.ts'
import { joinKey, type KeyPath } from './positions.ts'
import type { Table } from './read-source.ts'
import { isTable, leaves } from './tables.ts'

/** What a project's files say that a person has to agree to: file name → its settings, as plain JSON. */
export type ProjectPart = Record<string, Table>

/** Everything else may widen what an agent can do, or weaken what is recorded; a new section is on the safe side. */
const HARMLESS = ['version', 'language', 'ui']

/** Files without such settings are left out. */
export function toProjectPart(files: readonly { name: string; data: Table }[]): ProjectPart {
  const part: ProjectPart = {}
  for (const { name, data } of files) {
    const kept = Object.entries(data).filter(([key]) => !HARMLESS.includes(key))
    if (kept.length > 0) part[name] = toPlain(Object.fromEntries(kept)) as Table // a table stays a table
  }
  return part
}

/** Equal for equal settings, whatever their order and the comments between them. */
export function hashPart(part: ProjectPart): string {
  return createHash('sha256')
    .update(JSON.stringify(toPlain(part)))
    .digest('hex')
}

/** One setting to review. */
export interface AuthorityLine {
  /** `allow` first: what runs without a question. `restrict` counts even without trust. */
  readonly kind: 'allow' | 'command' | 'setting' | 'restrict'
  /** Name of the file in the workspace. */
  readonly file: string
  readonly path: KeyPath
  readonly text: string
}

/** What a person has to review before trusting: one line per setting, nothing left out. */
export function describeProjectAuthority(part: ProjectPart): AuthorityLine[] {
  const lines = Object.entries(part).flatMap(([file, data]) => describeFile(file, data))
  const order = ['allow', 'command', 'setting', 'restrict']
  return lines.toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))
}

export interface AuthorityChange {
  readonly change: 'added' | 'removed' | 'reordered'
  readonly text: string
}

/** What is different from what was trusted. A change shows as one line removed and one added. */
export function compareParts(before: ProjectPart, after: ProjectPart): AuthorityChange[] {
  const describe = (part: ProjectPart) =>
    describeProjectAuthority(part).map(line => `${line.file}: ${line.text}`)
  const old = describe(before)
  const now = describe(after)
  const changes: AuthorityChange[] = [
    ...old.filter(text => !now.includes(text)).map(text => ({ change: 'removed' as const, text })),
    ...now.filter(text => !old.includes(text)).map(text => ({ change: 'added' as const, text })),
  ]
  if (changes.length > 0 || hashPart(before) === hashPart(after)) return changes
  return [{ change: 'reordered', text: 'The same settings in another order; the first match counts.' }]
}

function describeFile(file: string, data: Table): AuthorityLine[] {
  return leaves(data).flatMap(({ path, value }): AuthorityLine[] => {
    const key = path.join('.')
    if (
      ['permissions.rules', 'permissions.rule', 'hooks', 'tools.mcp.servers'].includes(key) &&
      Array.isArray(value)
    ) {
      return value.map((entry: unknown, index) => describeEntry(file, [...path, index], entry))
    }
    const kind = isCommand(path) ? 'command' : 'setting'
    return [{ kind, file, path, text: `${joinKey(path)} = ${show(value)}` }]
  })
}

/** A rule, a hook or a server: one line with all its keys, so that no change goes unseen. */
function describeEntry(file: string, path: KeyPath, entry: unknown): AuthorityLine {
  const fields = isTable(entry) ? leaves(entry) : []
  const rest = fields.map(field => `${joinKey(field.path)}=${show(field.value)}`).join(' ')
  if (path[0] === 'hooks') return { kind: 'command', file, path, text: `hook ${rest}` }
  if (path[0] === 'tools') return { kind: 'command', file, path, text: `MCP server ${rest}` }
  const verdict = isTable(entry) ? (entry.decision ?? entry.action) : undefined
  return { kind: verdict === 'allow' ? 'allow' : 'restrict', file, path, text: `rule ${rest}` }
}

function isCommand(path: readonly string[]): boolean {
  return path.at(-1) === 'command' || (path[0] === 'tools' && path[1] === 'cli' && path[2] === 'aliases')
}

function show(value: unknown): string {
  return toVisible(JSON.stringify(value))
}

/** Keys in order, dates as text, numbers that JSON cannot say as text. */
function toPlain(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  if (Array.isArray(value)) return value.map(toPlain)
  if (!isTable(value)) return value
  const sorted = Object.keys(value).toSorted()
  return Object.fromEntries(sorted.map(key => [key, toPlain(value[key])]))
}
