import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'
import { isSystemError, ToolError } from '../core/errors.ts'

/** As the kernel: a path that goes through more links than this is a loop or means to be one. */
const MAX_LINKS = 40

/** Their entries are doors to processes, kernel settings and hardware, not files. */
const SYSTEM_FOLDERS = ['/proc', '/sys', '/dev']

/** Where a path leads once every link in it is followed. */
export interface Resolved {
  /** No component of it was a link. */
  readonly real: string
  /** The deepest part of `real` that exists; `real` itself when nothing is missing. */
  readonly existing: string
  /** The names below `existing` that do not exist yet. */
  readonly missing: readonly string[]
}

/** Absolute form of a path as it was given, `..` taken by name. No `~`, `$VAR` or `%xx` is ever decoded. */
export function toAbsolute(cwd: string, path: string): string {
  if (path === '') throw new ToolError('invalid_input', 'The path is empty.')
  if (path.includes('\0')) throw new ToolError('invalid_input', 'The path holds a NUL character.')
  if (!path.isWellFormed()) throw new ToolError('invalid_input', 'The path is not well-formed Unicode.')
  return resolve(cwd, path)
}

/** A file's path that ends like a folder's would be cut to something else than was asked for. */
export function refuseFolderSpelling(path: string): void {
  const last = path.split(/[/\\]/).at(-1)
  const windowsTrap = process.platform === 'win32' && /[. ]$/.test(path)
  if ((sep === '/' ? path.endsWith('/') : last === '') || last === '.' || last === '..' || windowsTrap) {
    throw new ToolError('invalid_input', `This names a folder, not a file: ${path}`, {
      hint: 'Leave out the slash or dot at the end.',
    })
  }
}

function refuseSystemPath(path: string): void {
  if (SYSTEM_FOLDERS.some(folder => isBelow(folder, path))) {
    throw new ToolError('forbidden', `Files of /proc, /sys and /dev are not for tools: ${path}`)
  }
}

/** Whether `path` is `folder` or inside it. Both absolute and without `..`. */
export function isBelow(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

/** Follows every link of an absolute path, also of one whose last parts do not exist. Nothing is created. */
export function followLinks(absolute: string): Resolved {
  refuseSystemPath(absolute)
  const resolved = followExisting(absolute) ?? walk(absolute)
  refuseSystemPath(resolved.real)
  return resolved
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

function followExisting(absolute: string): Resolved | undefined {
  try {
    const real = realpathSync.native(absolute)
    return { real, existing: real, missing: [] }
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return undefined
    if (isSystemError(error) && error.code === 'ELOOP') throw tooManyLinks(absolute)
    if (isSystemError(error) && error.code === 'ENOTDIR') throw notAFolder(dirname(absolute))
    throw error
  }
}

function walk(absolute: string): Resolved {
  const pending = absolute.split(sep).filter(part => part !== '')
  let real = absolute.slice(0, absolute.indexOf(sep) + 1)
  const missing: string[] = []
  for (let links = 0; ; ) {
    const part = pending.shift()
    if (part === undefined) return { real: join(real, ...missing), existing: real, missing }
    if (part === '.') continue
    if (part === '..') {
      if (missing.length > 0) missing.pop()
      else real = dirname(real)
      continue
    }
    // Below something that does not exist nothing can be a link.
    const stat = missing.length > 0 ? undefined : lstatSync(join(real, part), { throwIfNoEntry: false })
    if (stat === undefined) {
      missing.push(part)
    } else if (stat.isSymbolicLink()) {
      links += 1
      if (links > MAX_LINKS) throw tooManyLinks(absolute)
      const target = readTarget(join(real, part))
      if (target.startsWith(sep)) real = sep
      pending.unshift(...target.split(sep).filter(name => name !== ''))
    } else if (pending.length > 0 && !stat.isDirectory()) {
      throw notAFolder(join(real, part))
    } else {
      real = join(real, part)
    }
  }
}

function readTarget(link: string): string {
  try {
    return readlinkSync(link)
  } catch (cause) {
    throw new ToolError('conflict', `The link was replaced by something else meanwhile: ${link}`, { cause })
  }
}

function notAFolder(path: string): ToolError {
  return new ToolError('not_found', `Not a folder: ${path}`)
}

function tooManyLinks(path: string): ToolError {
  return new ToolError('failed', `The path goes through a loop of links, or through too many: ${path}`)
}
