import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ToolError } from '../core/errors.ts'

/** A program of ours that runs as its own process: beside this file in the sources, at the top of the users' bundle. */
export function findOwnProgram(name: string): string {
  const candidates = [`./${name}.ts`, `./${name}.js`, `../${name}.js`]
  const paths = candidates.map(candidate => fileURLToPath(new URL(candidate, import.meta.url)))
  const found = paths.find(path => existsSync(path))
  if (found !== undefined) return found
  throw new ToolError('failed', `A part of Kogu is missing: ${name}.`, { hint: 'Install Kogu again.' })
}

/** Node's arguments for them; sources run as they are written. The signal would open an inspector to whoever sends it. */
export const OWN_PROGRAM_FLAGS = ['--disable-warning=ExperimentalWarning', '--disable-sigusr1']
