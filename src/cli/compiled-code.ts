import { lstatSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import type { Environment } from '../config/environment.ts'
import { makeFolders } from '../core/make-folders.ts'

/**
 * Saves a third of the time that loading takes. Whoever can write there decides what Kogu runs: so it is neither /tmp,
 * where Node would put it and where another user can be first, nor ~/.cache, which approved commands may write.
 */
export function keepCompiledCode({ directories, uid }: Pick<Environment, 'directories' | 'uid'>): void {
  const folder = join(directories.state, 'compiled')
  try {
    makeFolders(folder)
    const found = lstatSync(folder)
    if (found.isDirectory() && (uid === undefined || found.uid === uid)) enableCompileCache(folder)
  } catch {
    // A home that cannot be written: everything is compiled anew.
  }
}
