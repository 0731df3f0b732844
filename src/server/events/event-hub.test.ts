import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { type Database, openDatabase } from '../../store/database/database.ts'
import { insertWorkspaceEvents, newestEvent } from '../../store/tables/run-events.ts'
import { openEventHub } from './event-hub.ts'

let server: TestDatabase
let database: Database
const PLACE = { workspace: '/w', workspaceId: 'a' }

beforeAll(async () => {
  server = await createTestDatabase()
  database = await openDatabase({ folder: tmpdir(), cache: tmpdir(), url: server.url })
}, 60_000)
afterAll(async () => {
  await database.close()
  await server.close()
})

function happen(run: string, count: number): Promise<void> {
  const at = new Date().toISOString()
  const event = { type: 'run.created', run, task: '', agent: null } as const
  const events = Array.from({ length: count }, () => ({ id: randomUUID(), at, event }))
  return insertWorkspaceEvents(database, PLACE, events)
}

test('the events of one run are found behind any number of others', async () => {
  const hub = await openEventHub(database, PLACE)
  const before = hub.newest
  await happen('other', 1_200)
  await happen('mine', 1)
  const newest = await newestEvent(database)
  while (hub.newest < newest) await hub.wait(hub.newest, AbortSignal.timeout(1_000))
  expect((await hub.read(before, 'mine')).map(({ seq }) => seq)).toEqual([newest])
  await hub.close()
})

test('events that come while the database is away arrive when it is back, however long that takes', async () => {
  let failures = 3
  const connect = async () => {
    const client = await database.connect()
    if (clients.length === 0 || failures === 0) {
      clients.push(client)
      return client
    }
    failures -= 1
    await client.end()
    throw new Error('It is away.')
  }
  const clients: Awaited<ReturnType<Database['connect']>>[] = []
  const hub = await openEventHub({ ...database, connect }, PLACE)
  const { rows } = (await clients[0]?.query('SELECT pg_backend_pid() AS pid')) ?? { rows: [] }
  await database.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid])
  await happen('late', 1)
  const newest = await newestEvent(database)
  while (hub.newest < newest) await hub.wait(hub.newest, AbortSignal.timeout(1_000))
  expect(failures).toBe(0)
  await hub.close()
}, 20_000)
