import type { Stats } from 'node:fs'
import { relative } from 'node:path'
import { type ProjectPart, toProjectPart } from './authority.ts'
import { type Checked, checkSource } from './check-source.ts'
import { combine, type Ready } from './combine.ts'
import { ConfigError, toWarning, type Warning } from './config-error.ts'
import type { Environment } from './environment.ts'
import { type ConfigFlags, type Contributions, type PlannedFile, planFiles } from './layers.ts'
import { fromFlag, fromModeFlag, fromVariable } from './overrides.ts'
import { withoutForeignKeys } from './project-keys.ts'
import { readSource, type Source } from './read-source.ts'
import type { Layer } from './rule-schema.ts'
import type { Config } from './schema.ts'
import { isTrusted, type Trust, trustOf } from './trust.ts'
import { findWorkspace, type Workspace } from './workspace-root.ts'

export interface LoadOptions {
  readonly cwd: string
  /** `cwd` was named by the person (`--cwd`), so that it may be the home folder. */
  readonly named?: boolean
  readonly environment: Environment
  readonly flags?: ConfigFlags
  readonly draft?: DraftFile
}

/** A file of the project as it might be: read in the place of the one that is there. */
export interface DraftFile {
  readonly of: string
  readonly path: string
  /** Whether the project's other files are trusted as they are. The draft counts as if it were. */
  readonly othersTrusted: boolean
}

export interface LoadedConfig {
  readonly config: Config
  readonly workspace: Workspace
  /** Every file that was looked for, the lowest rank first. */
  readonly files: readonly ConfigFile[]
  readonly warnings: readonly Warning[]
  /** Who set what; see keys.ts. */
  readonly contributions: Contributions
  readonly trust: Trust
  /** What trusting the project's files would mean. */
  readonly projectPart: ProjectPart
}

interface ConfigFile {
  readonly path: string
  readonly layer: Layer
  /** untrusted: only settings that make things stricter are used. */
  readonly status: 'loaded' | 'missing' | 'untrusted' | 'ignored' | 'invalid'
}

/** Reads all layers. Throws a ConfigError when any of them cannot be used: a lost file could hold a deny. */
export function loadConfig(options: LoadOptions): LoadedConfig {
  const inspected = inspectConfig(options)
  if (inspected.loaded === undefined) throw inspected.errors[0] ?? new Error('The configuration is invalid.')
  return inspected.loaded
}

export interface Inspected {
  readonly files: readonly ConfigFile[]
  readonly errors: readonly ConfigError[]
  readonly warnings: readonly Warning[]
  /** Undefined when there are errors. */
  readonly loaded: LoadedConfig | undefined
}

/** The same, with all errors instead of the first; for `kogu config validate` and `kogu doctor`. */
export function inspectConfig({ cwd, named, environment, flags = {}, draft }: LoadOptions): Inspected {
  const workspace = findWorkspace(cwd, environment, named)
  const found = planFiles(workspace.root, environment, flags)
    .map(file => (file.path === draft?.of ? { ...file, path: draft.path, required: true } : file))
    .map(file => readPlanned(file, environment))
  const overrides = readOverrides(environment, flags)
  const errors = [...found, ...overrides].flatMap(entry => entry.errors)
  const projects = found.flatMap(({ ready }) =>
    ready !== undefined && isProject(ready.source) ? [ready] : [],
  )
  const projectPart = toProjectPart(
    projects.map(({ source, data }) => ({ name: relative(workspace.root, source.file), data })),
  )
  const trust = trustOf(environment, workspace.root, projectPart)
  const files = found.map(entry => toConfigFile(entry, trust))
  const warnings = [...found, ...overrides].flatMap(entry => entry.warnings)
  if (errors.length > 0) return { files, errors, warnings, loaded: undefined }

  const sources = [...found, ...overrides].flatMap(({ ready }) => ready ?? [])
  const isManaged = ({ source }: Ready) => source.layer === 'managed'
  const ranked = [...sources.filter(ready => !isManaged(ready)), ...sources.filter(isManaged)]
  const combined = combine(ranked.map(ready => withTrust(ready, trust, draft)))
  const all = [...warnings, ...combined.warnings]
  const { config, contributions } = combined
  return {
    files,
    errors,
    warnings: all,
    loaded: { config, workspace, files, warnings: all, contributions, trust, projectPart },
  }
}

interface Found {
  readonly file: PlannedFile | undefined
  readonly ready: Ready | undefined
  readonly ignored: boolean
  readonly errors: readonly ConfigError[]
  readonly warnings: readonly Warning[]
}

function readPlanned(file: PlannedFile, environment: Environment): Found {
  const nothing = { file, ready: undefined, ignored: false, errors: [], warnings: [] }
  try {
    const read = readSource(file.path, file.layer)
    if (read === undefined) {
      if (!file.required) return nothing
      throw new ConfigError('There is no such file.', { file: file.path })
    }
    const doubt = doubtAbout(file, read.stats, environment)
    if (doubt !== undefined && file.layer === 'managed') {
      return { ...nothing, ignored: true, warnings: [toWarning(`Ignored: ${doubt}`, { file: file.path })] }
    }
    const checked = fromChecked(file, read.source, checkSource(read.source), doubt === undefined)
    if (doubt === undefined) return checked
    return {
      ...checked,
      warnings: [
        ...checked.warnings,
        toWarning(`Only the settings of this file that make things stricter are used: ${doubt}`, {
          file: file.path,
        }),
      ],
    }
  } catch (error) {
    if (error instanceof ConfigError) return { ...nothing, errors: [error] }
    throw error
  }
}

function fromChecked(
  file: PlannedFile | undefined,
  source: Source,
  checked: Checked,
  trusted: boolean,
): Found {
  const { warnings } = checked
  if (!checked.ok) return { file, ready: undefined, ignored: false, errors: checked.errors, warnings }
  const { data, warnings: more } = isProject(source)
    ? withoutForeignKeys(source, checked.data)
    : { data: checked.data, warnings: [] }
  const ready: Ready = { source, data, parsed: checked.parsed, trusted }
  return { file, ready, ignored: false, errors: [], warnings: [...warnings, ...more] }
}

/** Why a file outside of the project may not be what the person or the administrator wrote. */
function doubtAbout(file: PlannedFile, stats: Stats, environment: Environment): string | undefined {
  const { layer } = file
  const { uid, insideCall } = environment
  // Named on the command line, and that command line was written by an agent.
  if (file.required && insideCall !== undefined) return 'it was named inside a Kogu call.'
  if (isProjectLayer(layer) || uid === undefined) return undefined
  const administrative = layer === 'managed' || layer === 'system'
  if (administrative && stats.uid !== 0) return 'it does not belong to root.'
  if (!administrative && stats.uid !== uid && stats.uid !== 0) return 'it belongs to somebody else.'
  if ((stats.mode & (administrative ? 0o022 : 0o002)) !== 0) return 'other users can write it.'
  return undefined
}

/**
 * Flags and variables come from whoever started this process. When that was a Kogu call, it was an agent, and what it
 * says may only tighten.
 */
function readOverrides(environment: Environment, flags: ConfigFlags): Found[] {
  const trusted = environment.insideCall === undefined
  const { mode, set = [] } = flags
  const readers = [
    ...environment.overrides.map(override => () => fromVariable(override)),
    ...set.map(assignment => () => fromFlag(assignment)),
    ...(mode === undefined ? [] : [() => fromModeFlag(mode)]),
  ]
  return readers.map((read): Found => {
    try {
      const source = read()
      // A misspelt flag was meant for this very command; a variable may be older than this version.
      return fromChecked(undefined, source, checkSource(source, source.layer === 'flag'), trusted)
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      return { file: undefined, ready: undefined, ignored: false, errors: [error], warnings: [] }
    }
  })
}

function withTrust(ready: Ready, trust: Trust, draft?: DraftFile): Ready {
  if (!isProject(ready.source)) return ready
  if (draft === undefined) return { ...ready, trusted: isTrusted(trust) }
  return { ...ready, trusted: draft.othersTrusted || ready.source.file === draft.path }
}

function toConfigFile(found: Found, trust: Trust): ConfigFile {
  const { path = '', layer = 'built-in' } = found.file ?? {}
  const status = (): ConfigFile['status'] => {
    if (found.ignored) return 'ignored'
    if (found.errors.length > 0) return 'invalid'
    if (found.ready === undefined) return 'missing'
    return withTrust(found.ready, trust).trusted ? 'loaded' : 'untrusted'
  }
  return { path, layer, status: status() }
}

function isProject(source: Source): boolean {
  return isProjectLayer(source.layer)
}

function isProjectLayer(layer: Layer): boolean {
  return layer === 'project' || layer === 'local'
}
