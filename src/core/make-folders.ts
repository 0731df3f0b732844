import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { isSystemError } from './errors.ts'

/**
 * A folder with all its parents, private to the user. Not Node's own `recursive`: that never ends where the system says
 * of an existing parent that it does not exist, as /proc does.
 */
export function makeFolders(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (!isSystemError(error)) throw error
    if (error.code === 'EEXIST') return
    const parent = dirname(path)
    if (error.code !== 'ENOENT' || parent === path) throw error
    makeFolders(parent)
    mkdirSync(path, { mode: 0o700 })
  }
}
