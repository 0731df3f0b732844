export const SECTIONS = ['general', 'notifications', 'server', 'retention', 'others'] as const
export type Section = (typeof SECTIONS)[number]

const TABLES: Readonly<Record<string, Section>> = {
  ...{ version: 'general', language: 'general', mode: 'general', defaults: 'general', limits: 'general' },
  ...{ agents: 'general', ui: 'general', notify: 'notifications', server: 'server', telemetry: 'server' },
  ...{ retention: 'retention', redaction: 'retention', audit: 'retention', undo: 'retention' },
}

/** Which part of the settings a key belongs to, by its table. */
export function sectionOf(key: string): Section {
  const table = key.split('.')[0] ?? ''
  return (Object.hasOwn(TABLES, table) ? TABLES[table] : undefined) ?? 'others'
}
