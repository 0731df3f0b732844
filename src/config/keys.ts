import { ToolError } from '../core/errors.ts'
import { closest } from '../core/suggest.ts'
import { keyEntry } from './key-table.ts'
import { knownKeys } from './known-keys.ts'
import type { Contribution } from './layers.ts'
import type { LoadedConfig } from './load.ts'
import { joinKey, splitKey } from './positions.ts'
import type { Layer } from './rule-schema.ts'
import { isTable, leaves, valueAt } from './tables.ts'

export interface KeyInfo {
  /** As TOML writes it: `providers.local.models."qwen3.5"`. */
  readonly key: string
  /** The value that counts: durations in milliseconds, sizes in bytes. */
  readonly value: unknown
  readonly origin: KeyOrigin
  /** What lower layers said, the highest first. */
  readonly overrides: readonly KeyOrigin[]
}

interface KeyOrigin {
  readonly layer: Layer
  /** Path of the file, the flag or the variable; undefined for a built-in default. */
  readonly file?: string
  readonly line?: number
  /** The value as written there. */
  readonly written?: unknown
}

/** One setting or a whole section. A setting that exists but has no value has the value undefined. */
export function getKey(loaded: LoadedConfig, key: string): KeyInfo {
  const path = splitKey(key)
  const value = path === undefined ? undefined : valueAt(loaded.config, path)
  const isKnown = value !== undefined || (path !== undefined && isNamed(path))
  if (path === undefined || !isKnown) {
    const near = closest(
      key,
      listKeys(loaded).map(info => info.key),
    )
    throw new ToolError('not_found', `There is no setting '${key}'.`, {
      hint: near === undefined ? 'List the settings with: kogu config list' : `Did you mean '${near}'?`,
    })
  }
  return toInfo(loaded, path, value)
}

/** Every setting that has a value, in the order of the schema. Rules are not settings; they are listed by themselves. */
export function listKeys(loaded: LoadedConfig): KeyInfo[] {
  return (
    leaves(loaded.config)
      .filter(({ path, value }) => !isRuleList(path) && !(isTable(value) && Object.keys(value).length === 0))
      // A setting that nothing reads would promise something.
      .filter(({ path }) => keyEntry(path)?.reader !== null)
      .map(({ path, value }) => toInfo(loaded, path, value))
  )
}

function toInfo(loaded: LoadedConfig, path: readonly string[], value: unknown): KeyInfo {
  const key = joinKey(path)
  const origins = (loaded.contributions.get(key) ?? []).map(entry => toOrigin(entry, path))
  const [origin = { layer: 'built-in' as const }, ...overrides] = origins
  return { key, value, origin, overrides }
}

function toOrigin({ source, value }: Contribution, path: readonly string[]): KeyOrigin {
  const line = source.place(path).position?.line
  return { layer: source.layer, file: source.file, ...(line === undefined ? {} : { line }), written: value }
}

function isNamed(path: readonly string[]): boolean {
  return knownKeys(path.slice(0, -1)).includes(path.at(-1) ?? '')
}

function isRuleList(path: readonly string[]): boolean {
  return path[0] === 'permissions' && (path[1] === 'rules' || path[1] === 'ordered')
}
