import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { ToolError } from '../core/errors.ts'
import { absolutePath } from '../core/real-path.ts'

/** The path of a file to be written. A folder is refused before anybody is asked about it. */
export function filePath() {
  return z
    .string()
    .min(1)
    .refine(
      path => !/^\.{1,2}$|\/\.{0,2}$/.test(path),
      'must name a file; a slash or dot at the end names a folder,',
    )
}

/** The absolute form of a file tool's path, for `access`. A `~` that no folder is called by was meant for a shell. */
export function toolPath(path: string, cwd: string): string {
  if (path.startsWith('~') && /^~(?:\/|$)/.test(path) && !existsSync(join(cwd, '~'))) {
    throw new ToolError(
      'invalid_input',
      `'~' is not expanded, and there is no folder of that name: ${path}`,
      {
        hint: `For your home folder pass ${join(homedir(), path.slice(1))}; for a new folder that is called '~' pass ./${path}.`,
      },
    )
  }
  return absolutePath(path, cwd)
}
