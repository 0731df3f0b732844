import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Database } from './database.ts'

const PAUSE_MS = 200

/**
 * A connection of one's own that is made ready again whenever it was lost, for as long as it takes: a server that was away
 * has forgotten locks and listeners. Only the first attempt fails loudly.
 */
export async function holdConnection(
  database: Pick<Database, 'connect'>,
  prepare: (client: pg.Client) => Promise<void>,
): Promise<{ close(): Promise<void> }> {
  const stopped = new AbortController()
  const held: { client?: pg.Client } = {}
  const hold = async (): Promise<void> => {
    const client = await database.connect()
    held.client = client
    if (stopped.signal.aborted) return client.end()
    const lost = new Promise(resolve => client.once('end', resolve))
    await prepare(client).catch(async (error: unknown) => {
      await client.end().catch(() => undefined)
      throw error
    })
    void lost.then(holdAgain)
  }
  const holdAgain = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      try {
        return await hold()
      } catch {
        await sleep(PAUSE_MS, undefined, { signal: stopped.signal }).catch(() => undefined)
      }
    }
  }
  await hold()
  return {
    async close() {
      stopped.abort()
      await held.client?.end()
    },
  }
}
