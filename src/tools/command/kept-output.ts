import { hash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { lineage } from '../../core/run.ts'
import type { ToolContext } from '../../core/tool.ts'

// The whole output of a command that printed more than was shown, or goes on in the background. A person may have approved what it shows, for one run and
// no other, and ids of calls are no secret: so it is kept under a name that only whoever made the call can say.

type Asker = Pick<ToolContext, 'caller' | 'run'>

export function keptOutputName(call: string, asker: Asker): string {
  return `${call}~${ownerOf(asker)}.output`
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

export function isOwner(owner: string | undefined, asker: Asker): boolean {
  return isProgramItself(asker) || owner === ownerOf(asker)
}

/** The run with all below it. A token that names no run has another one for every call, so it is the token. */
export function ownerOf({ caller, run }: Asker): string {
  const root = lineage(run).at(-1)?.id ?? ''
  return hash('sha256', caller.startsWith('http:') && /^run_/.test(root) ? caller : root).slice(0, 16)
}

/** Started by the person, who can read all of it. */
function isProgramItself({ caller }: Asker): boolean {
  return caller === 'cli' || caller === 'library'
}
