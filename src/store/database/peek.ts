import pg from 'pg'
import { findServerPlace } from '../../sandbox/servers/server-place.ts'
import { type Queries, runQuery } from './database.ts'
import { embeddedAddress } from './embedded-postgres.ts'

export interface Peek extends Queries {
  close(): Promise<void>
}

const CONNECT_MS = 1_000

/** The database as it is: nothing is started, created or migrated. Undefined: the embedded server is not running. */
export async function peekDatabase(options: { folder: string; url?: string }): Promise<Peek | undefined> {
  const { folder, url } = options
  const place = url === undefined ? findServerPlace(folder) : undefined
  if (url === undefined && place === undefined) return undefined
  const address = place === undefined ? { connectionString: url } : embeddedAddress(folder, place)
  const client = new pg.Client({ ...address, connectionTimeoutMillis: CONNECT_MS, query_timeout: CONNECT_MS })
  client.on('error', () => undefined)
  try {
    await client.connect()
  } catch (error) {
    // A note that a keeper left behind: nobody listens there any more.
    if (url === undefined) return undefined
    throw error
  }
  return {
    query: (text, values) => runQuery(client, text, values),
    close: () => client.end(),
  }
}
