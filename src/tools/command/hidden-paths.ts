import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { ToolError } from '../../core/errors.ts'
import type { Permit } from '../../core/permit.ts'

/** More entries than this are not looked through before a command: it would take longer than the command. */
const MOST_ENTRIES = 300_000

/**
 * Files and folders that a command must not see although they lie in folders it may read. For lines that only read, what
 * would be asked about is hidden as well: nobody was asked.
 */
export async function findHidden(permit: Permit, workspace: string): Promise<string[]> {
  const { command } = permit
  if (command === undefined) return []
  const { deniesReading } = command
  const found = [...command.hidden]
  if (command.plan !== null) {
    for (const tree of command.trees) found.push(...(await listWhere(tree, path => !permit.mayRead(path))))
  } else if (deniesReading !== undefined) {
    found.push(...command.deniedRoots, ...(await listWhere(workspace, deniesReading)))
  }
  return found
}

/** The topmost entries of a tree for which `isHidden` holds. Links are not followed. */
async function listWhere(root: string, isHidden: (path: string) => boolean): Promise<string[]> {
  if (lstatSync(root, { throwIfNoEntry: false })?.isDirectory() !== true) return []
  const found: string[] = []
  const folders = [root]
  let seen = 0
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name)
      seen += 1
      if (isHidden(path)) found.push(path)
      else if (entry.isDirectory()) folders.push(path)
    }
    if (seen > MOST_ENTRIES) {
      throw new ToolError('failed', `${root} holds too many files to check them all for secrets.`, {
        hint: 'Name a smaller folder, or use grep_search.',
      })
    }
    if (folders.length % 50 === 0) await setImmediate()
  }
  return found
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    // Not readable for us, and so not for the command.
    return []
  }
}
