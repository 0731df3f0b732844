import type { ConfigLayer } from '../../components/config-file/config-file-drawer.tsx'
import { setTomlKey } from '../../components/config-file/toml-edit.ts'
import type { Setting } from '../../components/setting.tsx'

/** The file it is set in, or else the person's own. */
export function layerOf(setting: Setting | undefined): ConfigLayer {
  const layer = setting?.origin.layer
  return layer === 'project' || layer === 'local' ? layer : 'user'
}

/**
 * The file with a line for the setting, to be changed by hand. A line that is there stays as it is: what the page knows of it
 * may be without its secret. Of a table or a list the file is opened as it is.
 */
export function withSetting(text: string, setting: Setting): string {
  const { key, value, text: said, origin, overrides } = setting
  const isThere = [origin, ...overrides].some(({ layer }) => layer === layerOf(setting))
  if (isThere || !isPlain(value)) return text
  const table = key.includes('.') ? key.slice(0, key.lastIndexOf('.')) : ''
  return setTomlKey(text, table, key.slice(key.lastIndexOf('.') + 1), said ?? value)
}

function isPlain(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}
