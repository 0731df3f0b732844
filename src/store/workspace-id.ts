import { randomUUID } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isSystemError } from '../core/errors.ts'
import { makeFolders } from '../core/make-folders.ts'

/** The id of a workspace, made when it is first needed and kept with its state. A copy of the folder is another one's. */
export function workspaceId(stateFolder: string): string {
  const file = join(stateFolder, 'workspace-id')
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'ENOENT') throw error
  }
  makeFolders(stateFolder)
  const draft = `${file}.${randomUUID()}`
  writeFileSync(draft, `${randomUUID()}\n`, { mode: 0o600 })
  try {
    linkSync(draft, file)
  } catch (error) {
    // Another Kogu was faster.
    if (!isSystemError(error) || error.code !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
  return readFileSync(file, 'utf8').trim()
}
