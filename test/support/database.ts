import { randomUUID } from 'node:crypto'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { isConnectionLost } from '../../src/store/database/database.ts'
import { DATABASE_USER, useEmbeddedPostgres } from '../../src/store/database/embedded-postgres.ts'

/** One embedded server for all test files, each with a database of its own: starting a server takes a second or two. */
export interface TestDatabase {
  /** For `DATABASE_URL`. */
  readonly url: string
  close(): Promise<void>
}

export async function createTestDatabase(): Promise<TestDatabase> {
  const folder = join(tmpdir(), `kogu-test-postgres-${userInfo().uid}`)
  const lease = await useEmbeddedPostgres({ folder, cache: join(folder, 'cache') })
  const name = `test_${randomUUID().replaceAll('-', '')}`
  const admin = async (sql: string): Promise<void> => {
    const client = await connect(lease.place)
    await client.query(sql)
    await client.end()
  }
  await admin(`CREATE DATABASE ${name} STRATEGY wal_log`)
  return {
    url: `postgresql://${DATABASE_USER}@localhost/${name}?host=${encodeURIComponent(lease.place)}`,
    async close() {
      await admin(`DROP DATABASE ${name} WITH (FORCE)`)
      lease.release()
    },
  }
}

/** A server that has just been started says so for a moment. */
async function connect(host: string): Promise<pg.Client> {
  for (let attempt = 1; ; attempt += 1) {
    const client = new pg.Client({ host, user: DATABASE_USER, database: 'postgres' })
    try {
      await client.connect()
      return client
    } catch (error) {
      if (!isConnectionLost(error) || attempt === 200) throw error
      await sleep(50)
    }
  }
}
