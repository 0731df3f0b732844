import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { ToolError } from '../core/errors.ts'
import { absolutePath } from '../core/real-path.ts'
import { shownPath } from './result-path.ts'

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
  if (path.length > SURELY_SHORT) refuseLongName(path)
  return absolutePath(path, cwd)
}

/** Three bytes of UTF-8 for each character are still a name that every file system takes. */
const SURELY_SHORT = 85

function refuseLongName(path: string): void {
  const long = path.split('/').find(name => Buffer.byteLength(name) > 255)
  if (long === undefined) return
  const size = Buffer.byteLength(long)
  throw new ToolError('invalid_input', `A name in the path is too long: ${size} bytes, at most 255.`, {
    hint: `Shorten the name that begins with '${shownPath(long.slice(0, 40))}'.`,
  })
}
