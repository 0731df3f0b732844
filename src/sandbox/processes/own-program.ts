import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ToolError } from '../../core/errors.ts'

/**
 * A program of ours that runs as its own process. Its name is a path below `sandbox/`, where it lies in the sources; in the
 * users' bundle it lies at the top.
 */
export function findOwnProgram(name: string): string {
  const bundled = `${basename(name)}.js`
  const candidates = [`../${name}.ts`, `./${bundled}`, `../${bundled}`]
  const paths = candidates.map(candidate => fileURLToPath(new URL(candidate, import.meta.url)))
  const found = paths.find(path => existsSync(path))
  if (found !== undefined) return found
  throw new ToolError('failed', `A part of Kogu is missing: ${name}.`, { hint: 'Install Kogu again.' })
}

/** Node's arguments for them; sources run as they are written. The signal would open an inspector to whoever sends it. */
export const OWN_PROGRAM_FLAGS = ['--disable-warning=ExperimentalWarning', '--disable-sigusr1']
