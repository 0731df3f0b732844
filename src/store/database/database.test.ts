import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { findServerPlace } from '../../sandbox/servers/server-place.ts'
import { TABLES } from '../runs/backup.ts'
import { type Database, DatabaseUnavailable, openDatabase } from './database.ts'
import { embeddedAddress } from './embedded-postgres.ts'
import { peekDatabase } from './peek.ts'

// One server for the whole file: starting one takes a second.
let folder = ''
let database: Database
const open = () => openDatabase({ folder, cache: join(folder, 'cache'), lingerMs: 200 })

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kogu-db-'))
  database = await open()
})

afterAll(async () => {
  await database.close()
  await gone(() => existsSync(join(folder, 'pg/postmaster.pid')))
  rmSync(folder, { recursive: true, force: true })
})

const serverPid = (): number => Number(readFileSync(join(folder, 'pg/postmaster.pid'), 'utf8').split('\n')[0])

const gone = (there: () => boolean): Promise<void> =>
  vi.waitUntil(() => !there(), { timeout: 30_000, interval: 20 }).then(() => undefined)

describe('the database', () => {
  test('has every table of the requirements with its constraints', async () => {
    const rows = await database.query<{ name: string }>(
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1",
    )
    expect(rows.map(row => row.name)).toEqual(
      expect.arrayContaining([
        'agent_executions',
        'agent_messages',
        'agent_tool_permissions',
        'agents',
        'llm_providers',
        'orchestration_runs',
        'tool_executions',
        'workflow_runs',
        'workflows',
      ]),
    )
    const indexes = await database.query<{ name: string }>(
      "SELECT indexname AS name FROM pg_indexes WHERE indexname LIKE 'idx_%'",
    )
    expect(indexes.map(row => row.name)).toEqual(
      expect.arrayContaining(['idx_tool_executions_execution_id', 'idx_agent_tool_permissions_agent_id']),
    )
    await expect(
      database.query(
        "INSERT INTO workflow_runs (workflow_id, workspace, task, status) SELECT gen_random_uuid(), '', '', 'odd'",
      ),
    ).rejects.toThrow(/check constraint/)
  })

  test('is shared: a second user finds the same server and the same rows', async () => {
    const second = await open()
    await database.query("INSERT INTO workflows (user_id, name) VALUES ('me', 'shared')")
    expect(await second.query("SELECT name FROM workflows WHERE name = 'shared'")).toEqual([
      { name: 'shared' },
    ])
    await second.close()
  })

  test('stays away from the network', async () => {
    const [row] = await database.query<{ listen: string }>(
      "SELECT current_setting('listen_addresses') AS listen",
    )
    expect(row?.listen).toBe('')
  })

  test('a server that is killed with SIGKILL is started again, and committed rows are there', async () => {
    await database.query("INSERT INTO workflows (user_id, name) VALUES ('me', 'before the kill')")
    const started = async () => {
      const rows = await database.query<{ time: string }>(
        "SELECT pg_postmaster_start_time()::text AS time FROM workflows WHERE name = 'before the kill'",
      )
      expect(rows).toHaveLength(1)
      return rows[0]?.time
    }
    const before = await started()
    process.kill(serverPid(), 'SIGKILL')
    // The connection's own process outlives the server for a moment and may still answer: ask until a new server does.
    while ((await started()) === before);
    await database.query("INSERT INTO workflows (user_id, name) VALUES ('me', 'after the kill')")
  })

  test('a server that is stopped is away for a client that waits, and there for others when it goes on', async () => {
    const postmaster = serverPid()
    const children = readdirSync('/proc').filter(pid => {
      const path = `/proc/${pid}/stat`
      return (
        /^\d+$/.test(pid) && existsSync(path) && readFileSync(path, 'utf8').split(' ')[3] === `${postmaster}`
      )
    })
    const all = [postmaster, ...children.map(Number)]
    const { hurried } = database
    for (const pid of all) process.kill(pid, 'SIGSTOP')
    const patient = database.query('SELECT 2 AS two')
    const away = [
      hurried.query('SELECT 1'),
      hurried.transaction(({ query }) => query('SELECT 1')),
      hurried.together(({ query }) => [query('SELECT 1')]),
    ]
    const told = await Promise.allSettled(away)
    for (const pid of all) process.kill(pid, 'SIGCONT')
    for (const each of told) expect(each).toMatchObject({ reason: expect.any(DatabaseUnavailable) })
    expect(await patient).toEqual([{ two: 2 }])
    // What takes long on a server that answers is waited for.
    expect(await hurried.query('SELECT 3 AS three FROM pg_sleep(4)')).toEqual([{ three: 3 }])
  }, 30_000)

  test('a transaction starts on a living connection, though the pool holds one that was just cut', async () => {
    const [row] = await database.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    process.kill(row?.pid ?? 0, 'SIGTERM')
    expect(await database.transaction(({ query }) => query('SELECT 1 AS one'))).toEqual([{ one: 1 }])
  })

  test('a transaction that fails leaves nothing behind', async () => {
    await expect(
      database.transaction(async ({ query }) => {
        await query("INSERT INTO workflows (user_id, name) VALUES ('me', 'half')")
        throw new Error('stop')
      }),
    ).rejects.toThrow('stop')
    expect(await database.query("SELECT 1 FROM workflows WHERE name = 'half'")).toEqual([])
  })

  test('a backup holds every table but those of the moment', async () => {
    const found = await database.query<{ name: string }>(
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'",
    )
    const momentary = ['schema_migrations', 'executors']
    expect(new Set(found.map(({ name }) => name))).toEqual(new Set([...TABLES, ...momentary]))
  })

  test('statements that are sent together are done together or not at all', async () => {
    const insert = (name: string) =>
      `INSERT INTO workflows (user_id, name) VALUES ('me', '${name}') ON CONFLICT DO NOTHING`
    const count = async (): Promise<number> =>
      (await database.query("SELECT 1 FROM workflows WHERE name LIKE 'together%'")).length
    const [row] = await database.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    process.kill(row?.pid ?? 0, 'SIGTERM')
    await database.together(({ query }) => [query(insert('together 1')), query(insert('together 2'))])
    expect(await count()).toBe(2)
    const wrong = database.together(({ query }) => [query(insert('together 3')), query('SELECT 1 / 0')])
    await expect(wrong).rejects.toThrow('division by zero')
    const unmade = database.together(({ query }) => [
      query(insert('together 4')),
      (async () => {
        throw new Error('could not be made')
      })(),
    ])
    await expect(unmade).rejects.toThrow('could not be made')
    expect(await count()).toBe(2)
  })

  test('tables of a newer Kogu, or of another text, are refused', async () => {
    await database.query("INSERT INTO schema_migrations (version, name, checksum) VALUES (99, 'future', 'x')")
    await expect(open()).rejects.toThrow('made by a newer Kogu (migration 99, future)')
    await database.query('DELETE FROM schema_migrations WHERE version = 99')
    await database.query("UPDATE schema_migrations SET checksum = 'other' || checksum WHERE version = 1")
    await expect(open()).rejects.toThrow('a different version of migration 1')
    await database.query('UPDATE schema_migrations SET checksum = substr(checksum, 6) WHERE version = 1')
  })

  test('without sockets it is reached on the loopback address, with a password that only its owner can read', async () => {
    const own = mkdtempSync(join(tmpdir(), 'kogu-db-tcp-'))
    const cache = join(own, 'cache')
    const tcp = await openDatabase({ folder: own, cache, lingerMs: 50, transport: 'tcp' })
    const [row] = await tcp.query<{ listen: string; sockets: string; address: string }>(
      `SELECT current_setting('listen_addresses') AS listen, current_setting('unix_socket_directories') AS sockets,
         inet_server_addr()::text AS address`,
    )
    expect(row).toEqual({ listen: '127.0.0.1', sockets: '', address: '127.0.0.1/32' })
    expect(statSync(join(own, 'password')).mode & 0o777).toBe(0o600)
    const address = embeddedAddress(own, findServerPlace(own) ?? '')
    for (const password of ['', 'guessed']) {
      const intruder = new pg.Client({ ...address, password })
      await expect(intruder.connect()).rejects.toThrow(/password/)
    }
    const peek = await peekDatabase({ folder: own })
    expect(await peek?.query('SELECT 1 AS one')).toEqual([{ one: 1 }])
    await peek?.close()
    const started = async (): Promise<unknown> =>
      (await tcp.query<{ time: string }>('SELECT pg_postmaster_start_time()::text AS time'))[0]?.time
    const before = await started()
    process.kill(Number(readFileSync(join(own, 'pg/postmaster.pid'), 'utf8').split('\n')[0]), 'SIGKILL')
    while ((await started()) === before);
    await tcp.close()
    await gone(() => existsSync(join(own, 'pg/postmaster.pid')))
    rmSync(own, { recursive: true, force: true })
  })

  test('stops some time after its last user is gone', async () => {
    const other = mkdtempSync(join(tmpdir(), 'kogu-db-'))
    const alone = await openDatabase({ folder: other, cache: join(other, 'cache'), lingerMs: 50 })
    expect(existsSync(join(other, 'pg/postmaster.pid'))).toBe(true)
    await alone.close()
    await gone(() => existsSync(join(other, 'pg/postmaster.pid')))
    expect(existsSync(join(other, 'pg/postmaster.pid'))).toBe(false)
    rmSync(other, { recursive: true, force: true })
  })
})
