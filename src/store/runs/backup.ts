import { type FileHandle, open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { isSystemError, ToolError } from '../../core/errors.ts'
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
  const out = await openNew(file)
  let rows = 0
  // All tables as they were at one moment: a run that goes on meanwhile must not leave rows that refer to others.
  await database.transaction(async ({ query }) => {
    await query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ')
    const lines = async function* (): AsyncGenerator<string> {
      yield `${JSON.stringify({ format: 'kogu.backup/1', migration: MIGRATIONS.length, at: new Date().toISOString() })}\n`
      for (const table of TABLES) {
        for (const { row } of await query<{ row: unknown }>(
          `SELECT to_jsonb(t) AS row FROM ${table} t ORDER BY 1`,
        )) {
          rows += 1
          yield `${JSON.stringify({ table, row })}\n`
        }
      }
    }
    await pipeline(lines, createGzip(), out.createWriteStream())
  })
  return rows
}

async function openNew(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'wx', 0o600)
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EEXIST') throw error
    throw new ToolError('conflict', `${file} exists already.`, { hint: 'Name another file.' })
  }
}

/** Into an empty database only: two histories cannot be mixed. Runs that were being worked on can be resumed. */
export async function restore(database: Database, file: string): Promise<number> {
  const [found] = await database.query<{ runs: number }>('SELECT count(*)::int AS runs FROM workflow_runs')
  if ((found?.runs ?? 0) > 0) {
    throw new ToolError('conflict', 'This database has runs already.', {
      hint: 'Restore into an empty one: another XDG_DATA_HOME or DATABASE_URL.',
    })
  }
  const input = (await open(file)).createReadStream()
  const unpacked = createGunzip()
  // What goes wrong with the file is an error of whoever reads the lines.
  input.on('error', error => unpacked.destroy(error))
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
    for await (const line of linesOf(input.pipe(unpacked), file)) {
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

/** A file that is something else, or a part of one, is said to be that. */
async function* linesOf(input: Readable, file: string): AsyncGenerator<string> {
  try {
    let rest = ''
    for await (const chunk of input.setEncoding('utf8')) {
      const lines = `${rest}${chunk}`.split('\n')
      rest = lines.pop() ?? ''
      yield* lines
    }
  } catch (error) {
    if (!isSystemError(error) || !error.code?.startsWith('Z_')) throw error
    throw new ToolError('invalid_input', `${file} is not a whole backup of Kogu: ${error.message}.`)
  }
}

function parseLine(line: string, file: string): { table: string; row: unknown } | undefined {
  const value = parseJson(line)
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

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
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
