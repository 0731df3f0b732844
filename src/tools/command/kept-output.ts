import { hash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { lineage } from '../../core/run.ts'
import type { ToolContext } from '../../core/tool.ts'

// The whole output of a command that printed more than was shown. A person may have approved what it shows, for one run and
// no other, and ids of calls are no secret: so it is kept under a name that only whoever made the call can say.

type Asker = Pick<ToolContext, 'caller' | 'run'>

export function keptOutputName(call: string, asker: Asker): string {
  return `${call}~${hash('sha256', ownerOf(asker)).slice(0, 16)}.output`
}

/** Undefined when nothing is kept, or it is somebody else's. */
export function findKeptOutput(folder: string, call: string, asker: Asker): string | undefined {
  const name = isProgramItself(asker)
    ? (existsSync(folder) ? readdirSync(folder) : []).find(each => each.startsWith(`${call}~`))
    : keptOutputName(call, asker)
  if (name === undefined) return undefined
  const path = join(folder, name)
  return existsSync(path) ? path : undefined
}

/** The run with all below it. A token that names no run has another one for every call, so it is the token. */
function ownerOf({ caller, run }: Asker): string {
  const root = lineage(run).at(-1)?.id ?? ''
  return caller.startsWith('http:') && /^run_/.test(root) ? caller : root
}

/** Started by the person, who can read all of it. */
function isProgramItself({ caller }: Asker): boolean {
  return caller === 'cli' || caller === 'library'
}
