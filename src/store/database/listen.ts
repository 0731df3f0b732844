import type pg from 'pg'
import type { Database } from './database.ts'

/** Calls `onNotify` whenever somebody says something on these channels, and after a lost connection: something may have. */
export async function listenTo(
  database: Database,
  channels: readonly string[],
  onNotify: () => void,
): Promise<{ close(): Promise<void> }> {
  const held: { client?: pg.Client; closed: boolean } = { closed: false }
  const hold = async (): Promise<void> => {
    const client = await database.connect()
    held.client = client
    client.on('notification', () => onNotify())
    client.on('end', () => {
      if (!held.closed && held.client === client) hold().catch(() => undefined)
    })
    for (const channel of channels) await client.query(`LISTEN ${channel}`)
    onNotify()
  }
  await hold()
  return {
    async close() {
      held.closed = true
      await held.client?.end()
    },
  }
}
