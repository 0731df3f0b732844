import { hash } from 'node:crypto'
import { ToolError } from '../../core/errors.ts'
import type { Database } from './database.ts'
import { LOCKS } from './locks.ts'
import { MIGRATIONS } from './migrations.ts'

/** Applies what is missing, in order, each in a transaction. There is no way back: an older Kogu refuses newer tables. */
export async function migrate(database: Database): Promise<void> {
  const applied = await readApplied(database)
  check(applied)
  if (applied.length === MIGRATIONS.length) return
  await database.transaction(async ({ query }) => {
    await query('SELECT pg_advisory_xact_lock($1)', [LOCKS.migration])
    await query(`CREATE TABLE IF NOT EXISTS schema_migrations (
      version INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at TIMESTAMPTZ NOT NULL DEFAULT NOW())`)
    const rows = await query<{ version: number }>('SELECT version FROM schema_migrations')
    const known = new Set(rows.map(row => row.version))
    for (const { version, name, sql } of MIGRATIONS) {
      if (known.has(version)) continue
      await query(sql)
      await query('INSERT INTO schema_migrations (version, name, checksum) VALUES ($1, $2, $3)', [
        version,
        name,
        checksum(sql),
      ])
    }
  })
}

interface Applied {
  version: number
  name: string
  checksum: string
}

async function readApplied({ query }: Database): Promise<Applied[]> {
  const [found] = await query<{ there: boolean }>(
    "SELECT to_regclass('schema_migrations') IS NOT NULL AS there",
  )
  if (found?.there !== true) return []
  return query<Applied>('SELECT version, name, checksum FROM schema_migrations ORDER BY version')
}

function check(applied: readonly Applied[]): void {
  for (const row of applied) {
    const migration = MIGRATIONS.find(candidate => candidate.version === row.version)
    if (migration === undefined) {
      throw new ToolError(
        'failed',
        `The database was made by a newer Kogu (migration ${row.version}, ${row.name}).`,
        {
          hint: 'Install that version, or point DATABASE_URL to another database.',
        },
      )
    }
    if (checksum(migration.sql) !== row.checksum) {
      throw new ToolError(
        'failed',
        `The tables were created by a different version of migration ${row.version} (${row.name}).`,
        {
          hint: 'This Kogu was built from changed sources: use the one that made the database, or another database.',
        },
      )
    }
  }
}

function checksum(sql: string): string {
  return hash('sha256', sql).slice(0, 32)
}
