import { ConfigError, type Place } from '../config/config-error.ts'
import type { LoadedConfig } from '../config/load.ts'
import { joinKey } from '../config/positions.ts'
import { positionInString } from '../config/string-position.ts'
import type { Processes } from '../core/processes.ts'
import { localProvider, PRIORITY } from '../core/provider.ts'
import type { Registry } from '../core/registry.ts'
import type { AnyTool } from '../core/tool.ts'
import { scriptFolders, scriptMachine } from '../providers/script/script-folders.ts'
import { createScriptProvider } from '../providers/script/script-provider.ts'
import type { Places } from '../store/places.ts'
import { openScriptTrust, scriptTrustFile } from '../store/script-trust.ts'
import { findTrusted } from '../tools/command/find-program.ts'
import { grepSearchTool } from '../tools/grep-search.ts'
import { createRipgrep } from '../tools/search/ripgrep.ts'
import type { RuntimeOptions } from './compose.ts'

// The providers that the configuration and the workspace ask for, beside the builtin one. Each is loaded only where there
// is something for it to offer.

export async function addConfiguredProviders(
  registry: Registry,
  { loaded, environment }: RuntimeOptions,
  { places, processes }: { readonly places: Places; readonly processes: Processes },
): Promise<void> {
  const { config, workspace } = loaded
  if (config.tools.cli.enabled && isProviderOn(config, 'cli')) {
    const { createCliProvider } = await import('../providers/cli/cli-provider.ts')
    await registry.add(
      createCliProvider({
        aliases: config.tools.cli.aliases,
        findProgram: name => findTrusted(name, environment.path, workspace.root),
        // Kogu's own search, whoever built its ripgrep: what it finds is the workspace's, as without the alias.
        searchWith: path => ({ ...grepSearchTool(createRipgrep(processes, path)), isPartOfKogu: true }),
        builtin: new Set(registry.list().map(({ tool }) => tool.name)),
      }),
    )
  }
  const custom = await customTools(loaded)
  if (custom.length > 0) await registry.add(localProvider('custom', 'Custom tools', PRIORITY.custom, custom))
  if (places.inWorkspace && config.tools.scripts.enabled) {
    const { state } = environment.directories
    await registry.add(
      createScriptProvider({
        folders: scriptFolders(places.state, workspace.root, config.tools.scripts.folders),
        trustFile: scriptTrustFile(state),
        machine: scriptMachine(workspace.root, environment),
        isTrusted: openScriptTrust(state, workspace.root).isTrusted,
      }),
    )
  }
}

/** `[tools] providers` names those of builtin and cli that are on; both when it is left out. */
export function isProviderOn({ tools }: LoadedConfig['config'], name: 'builtin' | 'cli'): boolean {
  return tools.providers === undefined || tools.providers.includes(name)
}

/** Commands of the configuration as tools; a template that cannot be used stops everything, with its line and column. */
async function customTools({ config, contributions }: LoadedConfig): Promise<AnyTool[]> {
  if (Object.keys(config.tools.custom).length === 0) return []
  const { loadCustomTools } = await import('../providers/custom/load-custom-tools.ts')
  return loadCustomTools(config.tools.custom, (name, message, offset = 0) => {
    const path = ['tools', 'custom', name, 'command']
    const source = contributions.get(joinKey(path))?.[0]?.source
    const place: Place = source?.place(path, 'value') ?? { file: 'configuration' }
    const { text, position } = place
    const at =
      text === undefined || position === undefined
        ? {}
        : { position: positionInString(text, position, offset) }
    throw new ConfigError(`Custom tool '${name}': ${message}`, { ...place, ...at })
  })
}
