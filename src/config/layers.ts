import { basename, dirname, join } from 'node:path'
import type { Environment } from './environment.ts'
import { joinKey } from './positions.ts'
import type { Source, Table } from './read-source.ts'
import type { Layer } from './rule-schema.ts'
import { emptyTable, isPatternOf, isTable, leaves } from './tables.ts'

/** The flags that have to do with configuration. */
export interface ConfigFlags {
  /** A file that is read in the place of the user's own. */
  readonly config?: string
  /** `key=value`, in the order given. */
  readonly set?: readonly string[]
  readonly mode?: string
  /** `config.<profile>.toml` beside the user's file, on top of it. */
  readonly profile?: string
}

export interface PlannedFile {
  readonly path: string
  readonly layer: Layer
  /** It was named on the command line, so that its absence is an error. */
  readonly required: boolean
}

/** The files to read, the lowest rank first. `managed` is apart: it comes last and can only tighten. */
export function planFiles(root: string, environment: Environment, flags: ConfigFlags): PlannedFile[] {
  const { config, system } = environment.directories
  const own = flags.config ?? join(config, 'config.toml')
  const plan: PlannedFile[] = [
    { path: join(system, 'config.toml'), layer: 'system', required: false },
    { path: own, layer: 'user', required: flags.config !== undefined },
  ]
  if (flags.profile !== undefined) {
    // A profile is a name, not a path.
    const name = basename(flags.profile)
    plan.push({ path: join(dirname(own), `config.${name}.toml`), layer: 'user', required: true })
  }
  return [...plan, ...planProjectFiles(root), managedFile(environment)]
}

/** `kogu.toml` and `.kogu/config.toml` are one layer; where both say something, the latter wins. */
function planProjectFiles(root: string): PlannedFile[] {
  return [
    { path: join(root, 'kogu.toml'), layer: 'project', required: false },
    { path: join(root, '.kogu', 'config.toml'), layer: 'project', required: false },
    { path: join(root, '.kogu', 'local.toml'), layer: 'local', required: false },
  ]
}

function managedFile(environment: Environment): PlannedFile {
  return { path: join(environment.directories.system, 'managed.toml'), layer: 'managed', required: false }
}

/** What one source said about one key, as written. */
export interface Contribution {
  readonly source: Source
  readonly value: unknown
}

/** Dotted key → who set it, the winner first. */
export type Contributions = Map<string, Contribution[]>

/** Lists of which every layer's entries count: each of them can only veto or hide, so none may take another's away. */
const JOINED_LISTS = ['hooks', 'redaction.patterns']

/** Tables that are one value: half of one and half of another would be something that nobody wrote. */
const WHOLE_TABLES = [
  'tools.custom.*',
  'providers.*.api_key',
  'providers.*.models.*.price',
  'mcp.*.env.*',
  'mcp.*.headers.*',
]

/** Puts a source over what lower layers said: tables merge by key, everything else is replaced. */
export function mergeSource(target: Table, source: Source, data: Table, contributions: Contributions): void {
  mergeTable(target, data, [], contributions)
  for (const { path, value } of leaves(data)) addContribution(contributions, path, { source, value })
}

export function addContribution(
  contributions: Contributions,
  path: readonly string[],
  entry: Contribution,
): void {
  const key = joinKey(path)
  contributions.set(key, [entry, ...(contributions.get(key) ?? [])])
}

function mergeTable(target: Table, data: Table, path: readonly string[], contributions: Contributions): void {
  for (const key of Object.keys(data)) {
    const here = [...path, key]
    const value = data[key]
    const current = Object.hasOwn(target, key) ? target[key] : undefined
    const isHere = (pattern: string) => isPatternOf(pattern, here)
    if (isTable(value) && !WHOLE_TABLES.some(isHere)) {
      const child = isTable(current) ? current : emptyTable()
      target[key] = child
      mergeTable(child, value, here, contributions)
    } else if (Array.isArray(value) && Array.isArray(current) && JOINED_LISTS.some(isHere)) {
      target[key] = [...current, ...value]
    } else {
      target[key] = value
      if (isTable(current)) forgetBelow(contributions, here)
    }
  }
}

/** What lower layers said about parts of a table that is replaced as a whole is not overridden but gone. */
function forgetBelow(contributions: Contributions, path: readonly string[]): void {
  const prefix = `${joinKey(path)}.`
  for (const key of contributions.keys()) if (key.startsWith(prefix)) contributions.delete(key)
}
