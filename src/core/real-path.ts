import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve, sep } from 'node:path'
import { isSystemError, ToolError } from './errors.ts'

/**
 * The path that an operation on `path` would really touch: every link resolved, dangling ones too; what does not exist
 * yet hangs below its nearest existing ancestor. Nothing is created. Throws for a loop of links.
 */
export function realPathOf(path: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    if (!isSystemError(error)) throw error
    if (error.code === 'ELOOP') throw new ToolError('failed', `Too many links: ${path}`, { cause: error })
    if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
  }
  return resolveMissing(path, 0)
}

const MOST_LINKS = 40

function resolveMissing(path: string, links: number): string {
  if (links > MOST_LINKS) throw new ToolError('failed', `Too many links: ${path}`)
  const parent = dirname(path)
  if (parent === path) return path
  const realParent = realOr(parent, () => resolveMissing(parent, links + 1))
  const name = path.slice(parent.endsWith(sep) ? parent.length : parent.length + 1)
  const here = join(realParent, name)
  const target = linkTarget(here)
  if (target === undefined) return here
  // A dangling link: writing would create its target.
  const next = isAbsolute(target) ? target : resolve(realParent, target)
  return realOr(next, () => resolveMissing(next, links + 1))
}

function realOr(path: string, otherwise: () => string): string {
  try {
    // Most of them are missing, and a look is many times cheaper than an exception.
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return realpathSync.native(path)
  } catch {
    // Dangling, or below something that is no folder: worked out component by component.
  }
  return otherwise()
}

function linkTarget(path: string): string | undefined {
  try {
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
    return isLink ? readlinkSync(path) : undefined
  } catch {
    // Below something that is no folder, or not for us to look at.
    return undefined
  }
}

/** Absolute form of a path from a tool's input. Nothing in it is expanded: `~`, `%2e` and `$HOME` are file names. */
export function absolutePath(path: string, cwd: string): string {
  if (path === '') throw new ToolError('invalid_input', 'The path is empty.')
  if (path.includes('\0')) throw new ToolError('invalid_input', 'The path holds a NUL character.')
  return resolve(cwd, path)
}

/** Whether `path` is `folder` or lies below it. Both absolute and normalised. */
export function isInside(path: string, folder: string): boolean {
  if (path === folder) return true
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}
