import { toWarning, type Warning } from './config-error.ts'
import { joinKey } from './positions.ts'
import type { Source, Table } from './read-source.ts'
import { isPatternAbove, leaves, valueAt, withoutPath } from './tables.ts'

/**
 * What a project's file may not set even when it is trusted: where secrets come from and go to, programs that run
 * outside every call, and what the person decided for all projects. `without` is what is taken
 * out: a reviewer without its command would be half a reviewer.
 */
const NOT_FROM_PROJECTS: readonly { pattern: string; without: string }[] = [
  { pattern: 'providers.*.base_url', without: 'providers.*.base_url' },
  { pattern: 'providers.*.api_key', without: 'providers.*.api_key' },
  { pattern: 'server', without: 'server' },
  { pattern: 'notify.command', without: 'notify.command' },
  { pattern: 'permissions.default', without: 'permissions.default' },
  { pattern: 'reviewers.*.command', without: 'reviewers.*' },
  { pattern: 'mcp.*.env.*.command', without: 'mcp.*.env.*' },
  { pattern: 'mcp.*.headers.*.command', without: 'mcp.*.headers.*' },
  { pattern: 'telemetry', without: 'telemetry' },
  { pattern: 'data', without: 'data' },
]

/** Takes out the keys that do not count here, with a warning for each. */
export function withoutForeignKeys(source: Source, data: Table): { data: Table; warnings: Warning[] } {
  const warnings: Warning[] = []
  let rest = data
  for (const { path } of leaves(data)) {
    const entry = NOT_FROM_PROJECTS.find(({ pattern }) => isPatternAbove(pattern, path))
    const key = path.slice(0, entry?.without.split('.').length)
    // One warning for `server`, however many keys it has.
    if (entry === undefined || valueAt(rest, key) === undefined) continue
    rest = withoutPath(rest, key)
    const detail = `'${joinKey(key)}' does not count in a project's file.`
    const hint = 'Set it in your own file; `kogu config path` says where that is.'
    warnings.push(toWarning(detail, source.place(key), hint))
  }
  return { data: rest, warnings }
}
