import { toVisible } from '../core/visible.ts'
import { ConfigError } from './config-error.ts'
import { keyEntry } from './key-table.ts'
import type { LoadedConfig } from './load.ts'
import { joinKey, splitKey } from './positions.ts'

/** Settings that somebody set and that nothing reads: a restriction among them would be a false comfort. */
export function unreadKeys({ contributions }: LoadedConfig): ConfigError[] {
  return [...contributions].flatMap(([key, [highest]]) => {
    const path = splitKey(key) ?? []
    if (highest === undefined || keyEntry(path)?.reader !== null) return []
    const hint = /^tools\.[^.]+\./.test(key)
      ? 'Of a tool, only `enabled` is read, and the settings of [tools.run_command].'
      : 'Remove it.'
    const message = `'${toVisible(joinKey(path))}' has no effect: this version of Kogu does not read it.`
    return [new ConfigError(message, highest.source.place(path), { hint })]
  })
}
