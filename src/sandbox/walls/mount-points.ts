import { chmodSync, lstatSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { removeFilledFolder } from '../layer/remove-tree.ts'
import type { Mount } from './mounts.ts'

/**
 * Makes the places in the private /tmp at which something is mounted. An earlier command may have put links there, which
 * bubblewrap would follow: the workspace would then be seen as /usr/bin, for example. Whatever else is in the way of a
 * mount is removed. Nobody else may change the folder from here until bubblewrap is done.
 */
export function makeMountPoints(mounts: readonly Mount[]): void {
  for (const [index, mount] of mounts.entries()) {
    // The deepest one above it: they are sorted, parents before children.
    const parent = mounts.slice(0, index).findLast(({ path }) => mount.path.startsWith(`${path}/`))
    if (parent?.kind !== 'temporary' || parent.source === undefined) continue
    const names = relative(parent.path, mount.path).split('/')
    const place = join(parent.source, ...names)
    for (const depth of names.keys()) {
      const path = join(parent.source, ...names.slice(0, depth + 1))
      if (path === place && !isFolder(mount)) makeFile(path)
      else makeFolder(path)
    }
  }
}

function isFolder({ kind, path, source = path }: Mount): boolean {
  return kind === 'temporary' || kind === 'private' || statSync(source).isDirectory()
}

function makeFolder(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found?.isDirectory() === true) {
    if ((found.mode & 0o700) !== 0o700) chmodSync(path, 0o700)
    return
  }
  if (found !== undefined) rmSync(path)
  mkdirSync(path, { mode: 0o700 })
}

function makeFile(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found?.isFile() === true) return
  if (found?.isDirectory() === true) removeFilledFolder(path)
  else if (found !== undefined) rmSync(path)
  writeFileSync(path, '', { flag: 'wx', mode: 0o600 })
}
