import { createReadStream, createWriteStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { ToolError } from '../../core/errors.ts'
import type { Database } from '../database/database.ts'
import { MIGRATIONS } from '../database/migrations.ts'

// A backup is gzipped JSON lines: a header, then every row of every table, in an order in which references exist before they
// are needed. It is the same for the embedded server and for one's own, and can be read without PostgreSQL.

/** A test compares them with the tables that there are. */
export const TABLES = [
  'llm_providers',
  'workflows',
  'agents',
  'agent_tool_permissions',
  'workflow_runs',
  'agent_executions',
  'agent_messages',
  'orchestration_runs',
  'tool_executions',
  'claims',
  'approvals',
  'run_events',
  'usage',
  'run_messages',
  'saved_versions',
] as const

const BATCH = 500

export async function backup(database: Database, file: string): Promise<number> {
  let rows = 0
  const lines = async function* (): AsyncGenerator<string> {
    yield `${JSON.stringify({ format: 'kogu.backup/1', migration: MIGRATIONS.length, at: new Date().toISOString() })}\n`
    for (const table of TABLES) {
      // One statement, so that a table is seen as it was at one moment.
      const found = await database.query<{ row: unknown }>(
        `SELECT to_jsonb(t) AS row FROM ${table} t ORDER BY 1`,
      )
      for (const { row } of found) {
        rows += 1
        yield `${JSON.stringify({ table, row })}\n`
      }
    }
  }
  await pipeline(lines, createGzip(), createWriteStream(file, { mode: 0o600, flags: 'wx' }))
  return rows
}

/** Into an empty database only: two histories cannot be mixed. Runs that were being worked on can be resumed. */
export async function restore(database: Database, file: string): Promise<number> {
  const [found] = await database.query<{ runs: number }>('SELECT count(*)::int AS runs FROM workflow_runs')
  if ((found?.runs ?? 0) > 0) {
    throw new ToolError('conflict', 'This database has runs already.', {
      hint: 'Restore into an empty one: another XDG_DATA_HOME or DATABASE_URL.',
    })
  }
  let rows = 0
  await database.transaction(async ({ query }) => {
    await query('DELETE FROM llm_providers')
    let batch: { table: string; rows: unknown[] } = { table: '', rows: [] }
    const write = async (): Promise<void> => {
      if (batch.rows.length === 0) return
      await query(
        `INSERT INTO ${batch.table} SELECT * FROM jsonb_populate_recordset(NULL::${batch.table}, $1) ON CONFLICT DO NOTHING`,
        [JSON.stringify(batch.rows)],
      )
      rows += batch.rows.length
    }
    for await (const line of createInterface({ input: createReadStream(file).pipe(createGunzip()) })) {
      const entry = parseLine(line, file)
      if (entry === undefined) continue
      if (entry.table !== batch.table || batch.rows.length === BATCH) {
        await write()
        batch = { table: entry.table, rows: [] }
      }
      batch.rows.push(entry.row)
    }
    await write()
    await query("SELECT setval('run_events_seq_seq', (SELECT coalesce(max(seq), 1) FROM run_events))")
    await query(
      "SELECT setval('run_messages_sequence_seq', (SELECT coalesce(max(sequence), 1) FROM run_messages))",
    )
    await query(
      "UPDATE workflow_runs SET executor = NULL, status = 'pending', stop_reason = 'restored' WHERE status = 'running'",
    )
  })
  return rows
}

function parseLine(line: string, file: string): { table: string; row: unknown } | undefined {
  const value: unknown = JSON.parse(line)
  const entry = typeof value === 'object' && value !== null ? value : {}
  if ('format' in entry) {
    const supported =
      entry.format === 'kogu.backup/1' && 'migration' in entry && entry.migration === MIGRATIONS.length
    if (!supported) throw new ToolError('invalid_input', `${file} is a backup of another version of Kogu.`)
    return undefined
  }
  const table = 'table' in entry ? TABLES.find(known => known === entry.table) : undefined
  // The name becomes part of a statement.
  if (table === undefined || !('row' in entry))
    throw new ToolError('invalid_input', `${file} is not a backup of Kogu.`)
  return { table, row: entry.row }
}

/** Deletes runs that ended before a date, with all that belongs to them, and what the engine kept of their turns. */
export async function prune(database: Database, before: Date): Promise<number> {
  const gone = await database.query<{ id: string }>(
    `DELETE FROM workflow_runs WHERE status IN ('completed', 'failed', 'cancelled') AND completed_at < $1 RETURNING id`,
    [before],
  )
  await database.query('DELETE FROM run_events WHERE workflow_run_id IS NULL AND at < $1', [before])
  await database.query(`DELETE FROM tool_executions WHERE execution_id IS NULL AND created_at < $1`, [before])
  const [engine] = await database.query<{ there: boolean }>(
    "SELECT to_regclass('dbos.workflow_status') IS NOT NULL AS there",
  )
  if (engine?.there === true) {
    await database.query(
      `DELETE FROM dbos.workflow_status WHERE name = 'turn' AND created_at < $1
         AND (status IN ('SUCCESS', 'ERROR', 'CANCELLED') OR executor_id NOT IN (SELECT id FROM executors))`,
      [before.getTime()],
    )
  }
  return gone.length
}
