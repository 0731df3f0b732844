import {
  chmodSync,
  constants,
  copyFileSync,
  lchownSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  renameSync,
  type Stats,
} from 'node:fs'
import { join } from 'node:path'
import { removeFilledFolder } from './remove-tree.ts'

/**
 * Puts a copy with files and folders of its own in the place of the upper directory. A command may have handed descriptors
 * on its files to another sandbox that lives on (over a Unix socket in a folder that both may write), and that one could
 * change what was judged, or what is in the workspace by then. Nobody holds a descriptor on the copy.
 */
export function copyAfresh(folder: string): void {
  const [upper, fresh, left] = [join(folder, 'upper'), join(folder, 'fresh'), join(folder, 'left')]
  copyFolder(Buffer.from(upper), Buffer.from(fresh), new Map())
  renameSync(upper, left)
  renameSync(fresh, upper)
  try {
    removeFilledFolder(left)
  } catch {
    // Whoever holds it open keeps writing there. It goes with the layer, or with the next start.
  }
}

type Links = Map<number, Buffer>

function copyFolder(from: Buffer, to: Buffer, links: Links): void {
  const stat = lstatSync(from)
  mkdirSync(to, { mode: 0o700 })
  for (const { name } of readdirSync(from, { withFileTypes: true, encoding: 'buffer' })) {
    copyEntry(within(from, name), within(to, name), links)
  }
  keepLooks(to, stat)
}

function copyEntry(from: Buffer, to: Buffer, links: Links): void {
  const stat = lstatSync(from)
  // Links, marks of what was deleted, pipes: there is nothing in them that could be changed.
  const same = stat.isFile() ? links.get(stat.ino) : from
  if (stat.isDirectory()) copyFolder(from, to, links)
  else if (same !== undefined) linkSync(same, to)
  else {
    copyFileSync(from, to, constants.COPYFILE_FICLONE)
    keepLooks(to, stat)
    if (stat.nlink > 1) links.set(stat.ino, to)
  }
}

function keepLooks(path: Buffer, { mode, uid, gid, atimeMs, mtimeMs }: Stats): void {
  if (process.getuid?.() === 0) lchownSync(path, uid, gid)
  chmodSync(path, mode & 0o7777)
  lutimesSync(path, atimeMs / 1000, mtimeMs / 1000)
}

function within(folder: Buffer, name: Buffer): Buffer {
  return Buffer.concat([folder, Buffer.from('/'), name])
}
