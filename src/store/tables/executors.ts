import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import type pg from 'pg'
import type { Database, Queries } from '../database/database.ts'
import { holdConnection } from '../database/hold-connection.ts'

// Liveness by advisory lock: each process that works on runs holds the lock of its own name on a connection of its own. The
// server frees it when that connection ends, however it ends; whoever can take the lock of another knows that it is gone.

export interface Executor {
  readonly id: string
  close(): Promise<void>
}

export async function registerExecutor(database: Database, id: string): Promise<Executor> {
  const held = await holdConnection(database, async client => {
    await client.query('SELECT pg_advisory_lock($1)', [lockKey(id)])
  })
  await database.query(
    'INSERT INTO executors (id, lock_key, pid, host) VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO NOTHING',
    [id, lockKey(id), process.pid, hostname()],
  )
  return {
    id,
    async close() {
      await database.query('DELETE FROM executors WHERE id = $1', [id])
      await held.close()
    },
  }
}

/** Whether nobody holds the lock of this executor. */
export async function isGone(database: Database, id: string): Promise<boolean> {
  const client: pg.Client = await database.connect()
  try {
    const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS free', [lockKey(id)])
    return rows[0]?.free === true
  } finally {
    // With the connection goes the lock.
    await client.end()
  }
}

export async function forgetExecutor({ query }: Queries, id: string): Promise<void> {
  await query('DELETE FROM executors WHERE id = $1', [id])
}

/** 63 bits of a hash, as text: JavaScript's numbers are too short for it. */
function lockKey(id: string): string {
  return (createHash('sha256').update(`kogu executor ${id}`).digest().readBigInt64BE(0) >> 1n).toString()
}
