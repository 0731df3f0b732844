import { toVisible } from '../core/visible.ts'
import { ConfigError, toWarning, type Warning } from './config-error.ts'
import { addContribution, type Contributions, mergeSource } from './layers.ts'
import { parseConfig } from './parse-config.ts'
import { joinKey } from './positions.ts'
import type { Source, Table } from './read-source.ts'
import { collectRules, type SourceRules } from './rules.ts'
import type { Config, ParsedConfig } from './schema.ts'
import { emptyTable, isTable, setPath, valueAt, withoutPaths } from './tables.ts'
import { tighten } from './tighten.ts'

/** A source that was checked, and whether it may loosen. */
export interface Ready {
  readonly source: Source
  readonly data: Table
  readonly parsed: ParsedConfig
  readonly trusted: boolean
}

export interface Combined {
  readonly config: Config
  readonly contributions: Contributions
  readonly warnings: Warning[]
}

/**
 * Puts the sources together, the lowest rank first. One that may loosen is merged; of one that may not, what is stricter
 * than everything below it counts, and layers above it have their say as usual. The managed file comes last.
 */
export function combine(sources: readonly Ready[]): Combined {
  const contributions: Contributions = new Map()
  const warnings: Warning[] = []
  const collected: SourceRules[] = []
  const merged = emptyTable()
  for (const ready of sources) {
    const rules = collectRules(ready.source, ready.parsed, ready.trusted, mayLoosen(ready))
    collected.push(rules)
    if (mayLoosen(ready)) mergeSource(merged, ready.source, withoutRules(ready.data), contributions)
    else warnings.push(...applyTightening(merged, ready, rules.dropped, contributions))
  }
  return {
    config: toConfig(parseMerged(merged), collected),
    contributions,
    warnings: [...warnings, ...defaultActionWarnings(sources)],
  }
}

function mayLoosen({ source, trusted }: Ready): boolean {
  return trusted && source.layer !== 'managed'
}

/** Rules do not merge: those of all sources count, each with its own place. */
function withoutRules(data: Table): Table {
  if (!isTable(data.permissions)) return data
  const { rules: _rules, rule: _rule, default_action: _action, ...rest } = data.permissions
  return emptyTable({ ...data, permissions: emptyTable(rest) })
}

function parseMerged(merged: Table): ParsedConfig {
  const result = parseConfig(merged)
  if (result.ok) return result.config
  // Each source is valid by itself; this is for a combination that nobody has thought of.
  const issue = result.issues[0]
  const key = joinKey((issue?.path ?? []).map(String))
  throw new ConfigError(`The settings of several files conflict at '${key}': ${issue?.message}`, {
    file: 'configuration',
  })
}

function toConfig(parsed: ParsedConfig, collected: readonly SourceRules[]): Config {
  const { rules: _rules, rule: _rule, default_action: _action, ...rest } = parsed.permissions
  const permissions: Config['permissions'] = {
    ...rest,
    rules: collected.flatMap(({ rules }) => rules),
    ordered: collected.flatMap(({ ordered }) => ordered),
  }
  // Replaced in place: a copy would fill in the defaults of every section.
  const config: object = Object.defineProperty(parsed, 'permissions', {
    value: permissions,
    enumerable: true,
  })
  return config as Config // all other sections are the same in both
}

function applyTightening(
  merged: Table,
  ready: Ready,
  dropped: number,
  contributions: Contributions,
): Warning[] {
  const { source, parsed } = ready
  let data = withoutRules(ready.data)
  if (source.layer === 'managed' && data.hooks !== undefined) {
    // A hook can only veto or hide; the administrator's run besides everybody's own.
    mergeSource(merged, source, emptyTable({ hooks: data.hooks }), contributions)
    data = withoutPaths(data, [['hooks']])
  }
  const kind = source.layer === 'managed' ? 'managed' : 'untrusted'
  const { applied, refused } = tighten(parseMerged(merged), data, parsed, kind)
  for (const { path, value } of applied) {
    setPath(merged, path, value)
    addContribution(contributions, path, { source, value: valueAt(data, path) })
  }
  const allow = dropped === 0 ? [] : [`${dropped} allow ${dropped === 1 ? 'rule' : 'rules'}`]
  const keys = refused.slice(0, MOST_NAMED).map(path => toVisible(joinKey(path)))
  const more = refused.length > MOST_NAMED ? [`${refused.length - MOST_NAMED} more settings`] : []
  const ignored = [...allow, ...keys, ...more]
  if (ignored.length === 0) return []
  const [why, hint] = explainLimit(source)
  return [toWarning(`${why} Ignored: ${ignored.join(', ')}.`, { file: source.file }, hint)]
}

/** A hostile file must not be able to push everything else off the screen. */
const MOST_NAMED = 20

function explainLimit(source: Source): [why: string, hint: string] {
  switch (source.layer) {
    case 'managed':
      return [
        'The managed file can only make settings stricter.',
        'Remove them, or set them in config.toml beside it.',
      ]
    case 'project':
    case 'local':
      return ['This file is not trusted.', 'Review and trust it with: kogu config trust']
    case 'flag':
    case 'environment':
      return [
        'Inside a Kogu call this can only make settings stricter.',
        'Run the command yourself, outside of the agent.',
      ]
    case 'user':
    case 'system':
    case 'built-in':
      return ['This file can only make settings stricter.', 'Correct its owner and mode.']
  }
}

/** See collectRules: only the user's own file may allow by default. */
function defaultActionWarnings(sources: readonly Ready[]): Warning[] {
  return sources.flatMap(ready => {
    const isIgnored = valueAt(ready.data, ['permissions', 'default_action']) === 'allow' && mayLoosen(ready)
    if (!isIgnored || ready.source.layer === 'user') return []
    const place = ready.source.place(['permissions', 'default_action'])
    return [toWarning('\'permissions.default_action = "allow"\' has an effect only in your own file.', place)]
  })
}
