import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { ToolError } from '../../core/errors.ts'
import { isInside } from '../../core/real-path.ts'

/** The folders of PATH in which the agent cannot put a program of its own. */
export function trustedPath(folders: readonly string[], workspace: string): string[] {
  return folders.filter(folder => {
    if (!isAbsolute(folder)) return false
    try {
      const real = realpathSync.native(folder)
      return !isInside(real, workspace) && !isInside(real, '/tmp') && !isInside(real, '/var/tmp')
    } catch {
      // Not there: nothing to be found in it.
      return false
    }
  })
}

/** Full path of a program, as the shell would find it. */
export function findProgram(name: string, folders: readonly string[]): string {
  const found = name.includes('/') ? name : findInPath(name, folders)
  if (found !== undefined) return found
  throw new ToolError('not_found', `The program '${name}' was not found.`, {
    hint: 'Check the spelling, or install it.',
  })
}

/** A program by its name or full path, if it lies where the agent cannot put one of its own. */
export function findTrusted(name: string, folders: readonly string[], workspace: string): string | undefined {
  if (!isAbsolute(name)) return findInPath(name, trustedPath(folders, workspace))
  return isProgram(name) && trustedPath([dirname(name)], workspace).length > 0 ? name : undefined
}

/** The first folder's program of this name. */
export function findInPath(name: string, folders: readonly string[]): string | undefined {
  return folders.map(folder => join(folder, name)).find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    // Not there, or not a program.
    return false
  }
}
