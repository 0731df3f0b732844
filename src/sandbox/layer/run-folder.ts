import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ToolError } from '../../core/errors.ts'
import { isLocked, tryLock } from '../../core/lock-file.ts'
import { isFolderOrMissing } from '../../core/made-here.ts'
import { removeFilledFolder } from './remove-tree.ts'

// Where the commands of one run keep their /tmp, and each background command its own. The folder of a run without a name
// belongs to one process, that of a background command to its supervisor, which says so in `NAME.owner` before the folder exists: when the process was killed, the next one knows that nobody needs it any more.

/** No other process can continue such a run, or own such a command. */
const GENERATED = /^(run_[0-9a-f-]{36}|background-[0-9a-f]{8})$/

export function openRunFolder(temporary: string, runId: string): string {
  const folder = join(temporary, runId)
  mkdirSync(dirname(folder), { recursive: true, mode: 0o700 })
  // Held until the folder is removed or this process ends.
  if (GENERATED.test(runId) && !existsSync(folder)) tryLock(ownerOf(folder))
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // Else it would be their /tmp, to read and to write, whatever a link of a clone leads to.
  if (!isFolderOrMissing(folder))
    throw new ToolError('failed', `${folder} is a link.`, { hint: 'Remove it.' })
  return folder
}

/** Throws when somebody else's files are in it. */
export function removeRunFolder(temporary: string, runId: string): void {
  const folder = join(temporary, runId)
  removeFilledFolder(folder)
  rmSync(ownerOf(folder), { force: true })
}

/** Runs whose process was killed. */
export function findAbandonedRuns(temporary: string): string[] {
  if (!existsSync(temporary)) return []
  const ids = new Set(readdirSync(temporary).map(name => name.replace(/\.owner$/, '')))
  return [...ids].filter(id => GENERATED.test(id) && !isLocked(ownerOf(join(temporary, id))))
}

function ownerOf(folder: string): string {
  return `${folder}.owner`
}
