import type * as z from 'zod'
import { closest } from '../core/suggest.ts'
import { toVisible } from '../core/visible.ts'
import { ConfigError, toWarning, type Warning } from './config-error.ts'
import { knownKeys } from './known-keys.ts'
import { type ParseResult, parseConfig } from './parse-config.ts'
import { joinKey, type KeyPath } from './positions.ts'
import type { Source, Table } from './read-source.ts'
import type { ParsedConfig } from './schema.ts'
import { isTable, valueAt, withoutPaths } from './tables.ts'

/** A typo in one of these switches protection off, so that an unknown key is an error there and not a warning. */
const STRICT_SECTIONS = ['permissions', 'sandbox', 'server', 'hooks']

const MOST_UNKNOWN_KEYS = 100

export type Checked =
  | { ok: true; data: Table; parsed: ParsedConfig; warnings: Warning[] }
  | { ok: false; errors: ConfigError[]; warnings: Warning[] }

/** Checks one source by itself. Unknown keys that do no harm are taken out of its data and reported. */
export function checkSource(source: Source, unknownIsError = false): Checked {
  const warnings: Warning[] = []
  const errors: ConfigError[] = []
  let result = parseConfig(source.data)
  const unknown = result.ok ? [] : unknownKeys(result)
  if (unknown.length > MOST_UNKNOWN_KEYS) {
    const message = `This has ${unknown.length} keys that Kogu does not know; it is probably not a Kogu configuration.`
    return { ok: false, errors: [new ConfigError(message, source.place([]))], warnings }
  }
  for (const path of unknown) {
    const { message, hint, isError } = judgeUnknown(path)
    const place = source.place(path)
    if (isError || unknownIsError) errors.push(new ConfigError(message, place, { hint }))
    else warnings.push(toWarning(message, place, hint))
  }
  const data = unknown.length === 0 ? source.data : withoutPaths(source.data, unknown)
  if (data !== source.data) result = parseConfig(data)
  if (!result.ok) errors.push(...result.issues.flatMap(issue => toErrors(source, issue)))
  if (errors.length > 0 || !result.ok) {
    return { ok: false, errors: errors.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)), warnings }
  }
  return { ok: true, data, parsed: result.config, warnings }
}

function unknownKeys({ issues, unknownSections }: Extract<ParseResult, { ok: false }>): KeyPath[] {
  const inside = issues.flatMap(issue =>
    issue.code === 'unrecognized_keys' ? issue.keys.map(key => [...toPath(issue.path), key]) : [],
  )
  return [...unknownSections.map(name => [name]), ...inside]
}

function judgeUnknown(path: KeyPath): { message: string; hint: string | undefined; isError: boolean } {
  const near = closest(String(path.at(-1)), knownKeys(path.slice(0, -1)))
  const message = `Unknown key '${toVisible(joinKey(path))}'`
  // `[permission]` or `[[hook]]` loses a whole section: as dangerous as a typo inside it.
  const section = path.length === 1 ? near : path[0]
  return {
    message: `${message}.`,
    hint: near === undefined ? undefined : `Did you mean '${near}'?`,
    isError: typeof section === 'string' && STRICT_SECTIONS.includes(section),
  }
}

function toErrors(source: Source, issue: z.core.$ZodIssue): ConfigError[] {
  if (issue.code === 'invalid_union') return fromUnion(source, issue)
  const path = toPath(issue.path)
  const place = source.place(path, 'value')
  // Said about the key here, not about a parent whose line stands in for a missing key.
  const key = path.length === 0 ? '' : `${toVisible(joinKey(path))}: `
  const isMissing = valueAt(source.data, path) === undefined
  return [
    new ConfigError(`${key}${plainMessage(issue, isMissing)}`, place, { hint: hintFor(source, path, issue) }),
  ]
}

/** Of the alternatives, the one that came furthest is the one that was meant. */
function fromUnion(source: Source, issue: z.core.$ZodIssueInvalidUnion): ConfigError[] {
  const depth = (issues: readonly z.core.$ZodIssue[]) => Math.max(...issues.map(inner => inner.path.length))
  const wrongType = (issues: readonly z.core.$ZodIssue[]) =>
    issues.some(inner => inner.code === 'invalid_type' && inner.path.length === 0)
  const best = issue.errors
    .filter(issues => issues.length > 0 && !wrongType(issues))
    .toSorted((a, b) => depth(b) - depth(a))[0]
  if (best === undefined) {
    const place = source.place(toPath(issue.path), 'value')
    return [new ConfigError(`${toVisible(joinKey(toPath(issue.path)))}: ${issue.message}`, place)]
  }
  return best.flatMap(inner => toErrors(source, { ...inner, path: [...issue.path, ...inner.path] }))
}

function plainMessage(issue: z.core.$ZodIssue, isMissing: boolean): string {
  if (issue.code === 'unrecognized_keys') return `Unknown key '${toVisible(issue.keys.join("', '"))}'.`
  if (isMissing && (issue.code === 'invalid_type' || issue.code === 'invalid_value'))
    return 'This key is missing.'
  if (issue.code === 'custom' || isOwnMessage(issue)) return issue.message
  if (issue.code === 'invalid_value') return `Must be one of ${issue.values.map(quote).join(', ')}.`
  if (issue.code === 'invalid_type') return `Must be ${article(issue.expected)}.`
  return `${issue.message}.`
}

/** Ours are sentences; zod's own have no full stop. */
function isOwnMessage(issue: z.core.$ZodIssue): boolean {
  return /[.\])}]$/.test(issue.message) && !/^(Invalid|Too|Unrecognized)/.test(issue.message)
}

function quote(value: unknown): string {
  return typeof value === 'string' ? `"${value}"` : String(value)
}

function article(expected: string): string {
  const names: Record<string, string> = {
    string: 'a string',
    number: 'a number',
    int: 'a whole number',
    boolean: 'true or false',
    array: 'a list',
    object: 'a table',
    record: 'a table',
  }
  return names[expected] ?? expected
}

/** `tools.sugest_enhanced_tools = true` is read as settings of a tool of that name. */
function hintFor(source: Source, path: KeyPath, issue: z.core.$ZodIssue): string | undefined {
  if (issue.code !== 'invalid_type' || isTable(valueAt(source.data, path))) return undefined
  const key = String(path.at(-1) ?? '')
  const known = knownKeys(path.slice(0, -1))
  const near = known.includes(key) ? undefined : closest(key, known)
  return near === undefined ? undefined : `Did you mean '${near}'?`
}

function toPath(path: readonly PropertyKey[]): KeyPath {
  return path.map(part => (typeof part === 'number' ? part : String(part)))
}
