import type { Environment } from './config/environment.ts'
import { type Database, openDatabase } from './store/database/database.ts'

/** The database of a machine: the person's own by DATABASE_URL, otherwise the embedded one. */
export function openRunDatabase({ directories, variables }: Environment): Promise<Database> {
  const url = variables.DATABASE_URL
  return openDatabase({
    folder: directories.data,
    cache: directories.cache,
    ...(url === undefined || url === '' ? {} : { url }),
  })
}
