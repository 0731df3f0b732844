import { lstatSync } from 'node:fs'
import { join } from 'node:path'

// Kogu's state lies in the workspace, and a workspace may be a clone: a repository can bring a `.kogu` along, with records
// that were written to attack and links that lead elsewhere, and a pull can add to the one that is there. What a file or
// folder is on this disk (its number, and when it was made) no repository knows in advance, so records that decide
// something say which one they belong to.

/** What a file or folder is on this disk: kept by renaming and writing, lost by copying. */
export function identityOf(path: string): string {
  const { ino, birthtimeNs } = lstatSync(path, { bigint: true })
  return `${ino.toString(36)}-${birthtimeNs.toString(36)}`
}

/** Whether nothing but folders leads from `root` to what is below it. What is missing will be made. */
export function hasNoLinks(root: string, names: readonly string[]): boolean {
  return [root, ...names.map(name => join(root, name))].every(isFolderOrMissing)
}

export function isFolderOrMissing(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== false
}
