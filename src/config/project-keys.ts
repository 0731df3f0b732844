import { toVisible } from '../core/visible.ts'
import { toWarning, type Warning } from './config-error.ts'
import { joinKey } from './positions.ts'
import type { Source, Table } from './read-source.ts'
import { isPatternAbove, leaves, withoutPaths } from './tables.ts'

/**
 * What a project's file may not set even when it is trusted: where secrets come from and go to, programs that run
 * outside every call, and what the person decided for all projects. `without` is what is taken out: a reviewer without
 * its command would be half a reviewer.
 */
const NOT_FROM_PROJECTS: readonly { pattern: string; without: string }[] = [
  { pattern: 'providers.*.base_url', without: 'providers.*.base_url' },
  { pattern: 'providers.*.api_key', without: 'providers.*.api_key' },
  { pattern: 'server', without: 'server' },
  { pattern: 'tools.web_search.searxng_url', without: 'tools.web_search.searxng_url' },
  { pattern: 'notify.command', without: 'notify.command' },
  // It gets links that sign a browser in.
  { pattern: 'notify.webhook', without: 'notify.webhook' },
  { pattern: 'permissions.default', without: 'permissions.default' },
  // With `auto_approve` a plan passes that nobody voted for.
  { pattern: 'quorum.hil', without: 'quorum.hil' },
  { pattern: 'quorum.approves', without: 'quorum.approves' },
  { pattern: 'reviewers.*.command', without: 'reviewers.*' },
  { pattern: 'mcp.*.env.*.command', without: 'mcp.*.env.*' },
  { pattern: 'mcp.*.headers.*.command', without: 'mcp.*.headers.*' },
]

/** Takes out the keys that do not count here, with a warning for each. */
export function withoutForeignKeys(source: Source, data: Table): { data: Table; warnings: Warning[] } {
  const found = new Map<string, string[]>()
  for (const { path } of leaves(data)) {
    const entry = NOT_FROM_PROJECTS.find(({ pattern }) => isPatternAbove(pattern, path))
    if (entry === undefined) continue
    // One warning for `server`, however many keys it has.
    const key = path.slice(0, entry.without.split('.').length)
    found.set(joinKey(key), key)
  }
  if (found.size === 0) return { data, warnings: [] }
  const keys = [...found.values()]
  return {
    data: withoutPaths(data, keys),
    warnings: keys.slice(0, MOST_WARNINGS).map(key => toKeyWarning(source, key)),
  }
}

/** A hostile file must not be able to push everything else off the screen. */
const MOST_WARNINGS = 20

function toKeyWarning(source: Source, key: readonly string[]): Warning {
  const detail = `'${toVisible(joinKey(key))}' has no effect in a project's file.`
  return toWarning(
    detail,
    source.place(key),
    'Set it in your own file; `kogu config path` says where that is.',
  )
}
