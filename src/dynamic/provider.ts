import { type OnTools, PRIORITY, type Provider } from '../core/provider.ts'
import { dynamicTools } from './five-tools.ts'
import type { DynamicParts } from './parts.ts'

/** The five tools, and every tool that was made with them; the list is told anew whenever it changes. */
export function dynamicProvider(parts: DynamicParts): Provider {
  const own = dynamicTools(parts).map(tool => ({ ...tool, isPartOfKogu: true as const }))
  return {
    id: 'dynamic',
    displayName: 'Dynamic tools',
    priority: PRIORITY.dynamic,
    async start(signal, onTools: OnTools) {
      const { toTool } = parts.store.list().length === 0 ? {} : await import('./created-tool.ts')
      const tell = (make: typeof toTool): void => {
        if (signal.aborted) return
        const stored = parts.store.list().filter(({ tool }) => tool.quarantined === undefined)
        const made = make === undefined ? [] : stored.map(({ tool }) => make(tool, parts))
        onTools([...own, ...made], parts.store.problems())
      }
      parts.store.onChange(async () => tell((await import('./created-tool.ts')).toTool))
      tell(toTool)
    },
    close: () => parts.store.flush(),
  }
}
