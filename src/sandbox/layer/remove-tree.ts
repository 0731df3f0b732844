import { randomUUID } from 'node:crypto'
import { chmodSync, type Dirent, lstatSync, readdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'

type Entry = Dirent<NonSharedBuffer>

/**
 * Removes everything in a folder that a command has filled, however it did: folders that nobody may read, names that are
 * no text, and folders nested so deeply that no path leads to the innermost. Each folder is lifted to the top before it
 * is emptied, so that all paths stay short.
 */
export function emptyFolder(root: string): void {
  chmodSync(root, 0o700)
  // A name that no command can have taken before.
  const prefix = `${root}/kogu-${randomUUID()}-`
  let lifted = 0
  const waiting: Buffer[] = []
  const take = (folder: Buffer, entry: Entry): void => {
    const path = within(folder, entry.name)
    if (!entry.isDirectory()) {
      unlinkSync(path)
      return
    }
    // To move a folder, one must be allowed to write in it.
    chmodSync(path, 0o700)
    lifted += 1
    const place = Buffer.from(`${prefix}${lifted}`)
    renameSync(path, place)
    waiting.push(place)
  }
  const empty = (folder: Buffer): void => {
    for (const entry of entriesOf(folder)) take(folder, entry)
  }
  empty(Buffer.from(root))
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    empty(next)
    rmdirSync(next)
  }
}

/** As `emptyFolder`, and the folder itself. */
export function removeFilledFolder(root: string): void {
  const found = lstatSync(root, { throwIfNoEntry: false })
  if (found === undefined) return
  // A link that came with a clone: what it leads to is not ours.
  if (!found.isDirectory()) {
    unlinkSync(root)
    return
  }
  emptyFolder(root)
  rmdirSync(root)
}

function entriesOf(folder: Buffer): Entry[] {
  return readdirSync(folder, { withFileTypes: true, encoding: 'buffer' })
}

function within(folder: Buffer, name: Buffer): Buffer {
  return Buffer.concat([folder, Buffer.from('/'), name])
}
