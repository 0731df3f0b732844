import type { FSWatcher } from 'node:fs'
import { followFolder } from '../core/follow-folder.ts'
import { type OnTools, PRIORITY, type Provider } from '../core/provider.ts'
import type { AnyTool } from '../core/tool.ts'
import { type DynamicTool, isServerTool } from './definition.ts'
import { dynamicTools } from './five-tools.ts'
import type { DynamicParts } from './parts.ts'
import type { StoredTool } from './store.ts'

/**
 * The five tools, and every tool that was made with them; the list is told anew whenever it changes, by this Kogu or
 * another one.
 */
export function dynamicProvider(parts: DynamicParts): Provider {
  const own = dynamicTools(parts).map(tool => ({ ...tool, isPartOfKogu: true as const }))
  const watchers = new Set<FSWatcher>()
  return {
    id: 'dynamic',
    displayName: 'Dynamic tools',
    priority: PRIORITY.dynamic,
    async start(signal, onTools: OnTools) {
      const { toTool } = parts.store.list().length === 0 ? {} : await import('./created-tool.ts')
      const tell = (make: typeof toTool): void => {
        if (signal.aborted) return
        const all = parts.store.list()
        const stored = all.filter(({ tool }) => tool.quarantined === undefined)
        const problems = [...parts.store.problems(), ...all.flatMap(({ tool }) => quarantineOf(tool, parts))]
        const made = make === undefined ? [] : stored.flatMap(each => makeOne(make, each, parts, problems))
        onTools([...own, ...made], problems)
      }
      parts.store.onChange(async () => tell((await import('./created-tool.ts')).toTool))
      for (const folder of parts.store.folders) followFolder(folder, watchers, () => parts.store.list())
      tell(toTool)
    },
    close() {
      for (const watcher of watchers) watcher.close()
      watchers.clear()
      parts.store.flush()
    },
  }
}

/** Whoever calls it by its name is told why it is not there. */
function quarantineOf({ name, quarantined }: DynamicTool, { texts }: DynamicParts): string[] {
  return quarantined === undefined ? [] : [`'${name}': ${texts.errors.quarantined(quarantined)}`]
}

/** One that cannot be used hides no other. */
function makeOne(
  make: (stored: StoredTool, parts: DynamicParts) => AnyTool,
  stored: StoredTool,
  parts: DynamicParts,
  problems: string[],
): AnyTool[] {
  try {
    if (isServerTool(stored.tool.name)) throw new Error('names with __ are for the tools of MCP servers')
    return [make(stored, parts)]
  } catch (error) {
    problems.push(`${stored.tool.name} is skipped: ${error instanceof Error ? error.message : String(error)}`)
    return []
  }
}
