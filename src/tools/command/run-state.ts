import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isInside, realPathOf } from '../../core/real-path.ts'
import type { Run } from '../../core/run.ts'
import { isKept } from './environment.ts'

// A command writes down where it ended and what it exported, in a folder that only this call has. The file is the
// command's: it may be a link to a secret, a pipe that nobody writes to, or say anything. Nothing in it is believed.

/** Where the command sees the folder. */
export const STATE_FOLDER = '/run/kogu-state'
const NAME = 'state'

export function saveFolder(): string {
  return `s=$?; pwd -P > ${STATE_FOLDER}/${NAME}; exit $s`
}

/** The line runs as bash would run it; where it ends up and what it exported is written down when it ends. */
export function shellFrame(): string {
  return `trap 'kogu_status=$?; { ${WRITE_STATE}; } 2>/dev/null; exit $kogu_status' EXIT; eval "$1"`
}

/** By what bash does itself: one more process would take longer than many a line. */
const WRITE_STATE = [
  `compgen -e > ${STATE_FOLDER}/names`,
  `mapfile -t kogu_names < ${STATE_FOLDER}/names`,
  `{ pwd -P; for kogu_name in "\${kogu_names[@]}"; do printf "%s=%s\\0" "$kogu_name" "\${!kogu_name-}"; done; } > ${STATE_FOLDER}/${NAME}`,
].join('; ')

const MOST_BYTES = 256 * 1024
const MOST_VARIABLES = 50
const MOST_VARIABLE_BYTES = 32 * 1024

/**
 * The next command of the run starts where this one ended, with what it exported in so many words: a file that it
 * started (`. ./env.sh`) could set what a later line obeys, and no person who is asked about either would see it.
 */
export function rememberState(
  run: Run,
  workspace: string,
  text: string | undefined,
  exports: readonly string[],
): void {
  const end = text?.indexOf('\n') ?? -1
  if (text === undefined || end === -1) return
  const folder = text.slice(0, end)
  if (isFolderInside(folder, workspace)) run.cwd = folder
  let bytes = 0
  for (const [name, value] of run.variables) bytes += name.length + value.length
  for (const pair of text.slice(end + 1).split('\0')) {
    const equals = pair.indexOf('=')
    const name = pair.slice(0, Math.max(0, equals))
    const value = pair.slice(equals + 1)
    if (!exports.includes(pair) || !isKept(name)) continue
    const known = run.variables.get(name)
    const added = value.length + (known === undefined ? name.length : -known.length)
    if (known === undefined && run.variables.size >= MOST_VARIABLES) continue
    if (bytes + added > MOST_VARIABLE_BYTES) continue
    bytes += added
    run.variables.set(name, value)
  }
}

function isFolderInside(folder: string, workspace: string): boolean {
  if (!isInside(folder, workspace)) return false
  try {
    return lstatSync(folder).isDirectory() && realPathOf(folder) === folder
  } catch {
    // Not there, or not for us to look at: the run stays where it was.
    return false
  }
}

/** What a command wrote down, as it is. */
export function readState(stateFolder: string): string | undefined {
  let file: number
  try {
    file = openSync(join(stateFolder, NAME), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch {
    // The command ended before it was written, or put something else there: the run stays as it was.
    return undefined
  }
  try {
    const stat = fstatSync(file)
    if (!stat.isFile() || stat.size > MOST_BYTES || stat.nlink > 1) return undefined
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}
