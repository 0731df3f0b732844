import { existsSync, type FSWatcher, watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import { PRIORITY, type Provider } from '../../core/provider.ts'
import type { Script } from './find-scripts.ts'

export interface ScriptProviderOptions {
  /** They need not be there yet. */
  readonly folders: readonly string[]
  /** Changes when a person trusts a script. */
  readonly trustFile: string
  /** Runs JavaScript and TypeScript. */
  readonly node: string
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
      for (const folder of folders) follow(folder, watchers, again)
      follow(dirname(trustFile), watchers, name => {
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

/** Watches a folder; as long as it is not there, the nearest one above it, for the name that leads to it. */
function follow(folder: string, watchers: Set<FSWatcher>, changed: (name: string | null) => void): void {
  let at = folder
  let awaited: string | undefined
  while (!existsSync(at) && dirname(at) !== at) {
    awaited = basename(at)
    at = dirname(at)
  }
  try {
    const watcher = watch(at, { persistent: false }, (_, name) => {
      if (awaited === undefined) return changed(name)
      if (name !== awaited) return
      watcher.close()
      watchers.delete(watcher)
      follow(folder, watchers, changed)
      // What was put into it before it was watched counts too.
      changed(null)
    })
    watcher.on('error', () => watcher.close())
    watchers.add(watcher)
  } catch {
    // The machine has no watcher left: its scripts come with the next start.
  }
}
