import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment } from './config/environment.ts'
import { ToolError } from './core/errors.ts'
import { type Database, openDatabase } from './store/database/database.ts'

/** Whether the embedded one has to be made first. */
export function isNewDatabase({ directories, variables }: Environment): boolean {
  return (variables.DATABASE_URL ?? '') === '' && !existsSync(join(directories.data, 'pg/PG_VERSION'))
}

/** The database of a machine: the person's own by DATABASE_URL, otherwise the embedded one. */
export async function openRunDatabase({ directories, variables }: Environment): Promise<Database> {
  const url = variables.DATABASE_URL
  // What is no address would be taken for the name of a host, and looked up.
  if (url !== undefined && url !== '' && !/^postgres(ql)?:\/\//.test(url)) {
    throw new ToolError('invalid_input', 'DATABASE_URL is not the address of a PostgreSQL server.', {
      hint: 'Use postgresql://user@host/database, or unset it to use the server that comes with Kogu.',
    })
  }
  return openDatabase({
    folder: directories.data,
    cache: directories.cache,
    ...(url === undefined || url === '' ? {} : { url }),
  })
}
