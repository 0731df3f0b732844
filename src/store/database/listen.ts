import type { Database } from './database.ts'
import { holdConnection } from './hold-connection.ts'

/** Calls `onNotify` whenever somebody says something on these channels, and after a lost connection: something may have. */
export function listenTo(
  database: Pick<Database, 'connect'>,
  channels: readonly string[],
  onNotify: () => void,
): Promise<{ close(): Promise<void> }> {
  return holdConnection(database, async client => {
    client.on('notification', () => onNotify())
    for (const channel of channels) await client.query(`LISTEN ${channel}`)
    onNotify()
  })
}
