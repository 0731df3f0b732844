import { lstatSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { ToolError } from '../../core/errors.ts'
import { isKernelPath, lookAt, type Resolved, resolvePath } from '../../core/real-path.ts'

/** A file's path that ends like a folder's would be cut to something else than was asked for. */
export function refuseFolderSpelling(path: string): void {
  const last = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
  const windowsTrap = process.platform === 'win32' && /[. ]$/.test(path)
  if ((sep === '/' ? path.endsWith('/') : last === '') || last === '.' || last === '..' || windowsTrap) {
    throw new ToolError('invalid_input', `This names a folder, not a file: ${path}`, {
      hint: 'Remove the trailing slash or dot.',
    })
  }
}

export function refuseSystemPath(path: string): void {
  if (isKernelPath(path)) {
    throw new ToolError('forbidden', `Tools cannot access /proc, /sys or /dev: ${path}`)
  }
}

/** Follows every link of an absolute path, also of one whose last parts do not exist. Nothing is created. */
export function followLinks(absolute: string): Resolved {
  refuseSystemPath(absolute)
  const resolved = resolvePath(absolute, file => {
    throw notAFolder(file)
  })
  refuseSystemPath(resolved.real)
  return resolved
}

/**
 * The place of a file in a path without links. Undefined: it is a link itself, or its folder is missing. What its folders
 * are is not looked at: the caller pins them.
 */
export function placeWithoutLinks(absolute: string): Resolved | undefined {
  refuseSystemPath(absolute)
  const found = lookAt(absolute)
  if (found !== undefined)
    return found.isSymbolicLink() ? undefined : { real: absolute, existing: absolute, missing: [] }
  const folder = dirname(absolute)
  if (lookAt(folder)?.isDirectory() !== true) return undefined
  return { real: absolute, existing: folder, missing: [basename(absolute)] }
}

/** The same for the place of an entry that may itself be a link: only its folder's links are followed. */
export function followParent(absolute: string): Resolved {
  const parent = dirname(absolute)
  if (parent === absolute) return followLinks(absolute)
  const name = absolute.slice(parent.length).replace(/^[/\\]/, '')
  const folder = followLinks(parent)
  const real = join(folder.real, name)
  refuseSystemPath(real)
  if (folder.missing.length === 0) {
    if (!lstatSync(folder.real).isDirectory()) throw notAFolder(folder.real)
    if (lstatSync(real, { throwIfNoEntry: false }) !== undefined) return { real, existing: real, missing: [] }
  }
  return { real, existing: folder.existing, missing: [...folder.missing, name] }
}

function notAFolder(path: string): ToolError {
  return new ToolError('not_found', `Not a folder: ${path}`)
}
