import { existsSync, type FSWatcher } from 'node:fs'
import { basename, dirname } from 'node:path'
import { followFolder } from '../../core/follow-folder.ts'
import { PRIORITY, type Provider } from '../../core/provider.ts'
import type { Script, ScriptMachine } from './find-scripts.ts'

export interface ScriptProviderOptions {
  /** They need not be there yet. */
  readonly folders: readonly string[]
  /** Changes when a person trusts a script. */
  readonly trustFile: string
  readonly machine: ScriptMachine
  /** Whether a person has seen and trusted a script with this content. */
  isTrusted(script: Script): boolean
}

/** Scripts of the workspace as tools. A new or changed one is picked up at once, and held until somebody trusts it. */
export function createScriptProvider(options: ScriptProviderOptions): Provider {
  const { folders, trustFile } = options
  const watchers = new Set<FSWatcher>()
  return {
    id: 'script',
    displayName: 'Scripts',
    priority: PRIORITY.script,
    async start(signal, onTools) {
      const offer = async (): Promise<void> => {
        // What reads scripts is loaded where there are some.
        if (!folders.some(folder => existsSync(folder))) return onTools([], [])
        const { toTools } = await import('./script-tools.ts')
        if (signal.aborted) return
        const { tools, problems } = toTools(options)
        onTools(tools, problems)
      }
      const again = (): void => void offer().catch(() => undefined)
      for (const folder of folders) followFolder(folder, watchers, again)
      followFolder(dirname(trustFile), watchers, name => {
        if (name === basename(trustFile)) again()
      })
      await offer()
    },
    close() {
      for (const watcher of watchers) watcher.close()
      watchers.clear()
    },
  }
}
