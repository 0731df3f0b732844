import { existsSync, lstatSync, readlinkSync, realpathSync, type Stats } from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { isSystemError, ToolError } from './errors.ts'

/** As the kernel: a path that goes through more links than this is a loop or means to be one. */
const MOST_LINKS = 40

/** Where a path leads once every link in it is followed. */
export interface Resolved {
  /** No component of it is a link. */
  readonly real: string
  /** The deepest part of `real` that exists; `real` itself when nothing is missing. */
  readonly existing: string
  /** The names below `existing` that do not exist yet. */
  readonly missing: readonly string[]
}

/**
 * The path that an operation on an absolute path would really touch: every link resolved, dangling ones too; what does
 * not exist yet hangs below its nearest existing ancestor. Nothing is created. Throws for a loop of links.
 */
export function realPathOf(path: string): string {
  return resolvePath(path).real
}

/** The same with what of it exists. `onFile`: the path goes on below something that is no folder. */
export function resolvePath(path: string, onFile?: (file: string) => never): Resolved {
  // Looked at first: an exception costs many times as much.
  const real = existsSync(path) ? realOfExisting(path) : undefined
  if (real !== undefined) return { real, existing: real, missing: [] }
  const folder = lookAt(path) === undefined ? dirname(path) : undefined
  if (folder !== undefined && lookAt(folder)?.isDirectory() === true) {
    const existing = realOfExisting(folder)
    if (existing !== undefined)
      return { real: join(existing, basename(path)), existing, missing: [basename(path)] }
  }
  return walk(path, onFile)
}

export type ResolvePath = (path: string) => Resolved

/** For what belongs together in time: one look at the disk for each path. */
export function rememberPaths(): ResolvePath {
  const known = new Map<string, Resolved>()
  return path => {
    const resolved = known.get(path) ?? resolvePath(path)
    known.set(path, resolved)
    return resolved
  }
}

/** Undefined when it is gone by now, or a link that leads nowhere, or not for us to follow. */
function realOfExisting(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch (error) {
    if (!isSystemError(error)) throw error
    if (error.code === 'ELOOP') throw tooManyLinks(path)
    if (/^(ENOENT|ENOTDIR|EACCES|EPERM)$/.test(error.code ?? '')) return undefined
    throw error
  }
}

function walk(path: string, onFile?: (file: string) => never): Resolved {
  const pending = path.split(sep).filter(part => part !== '')
  let real = path.slice(0, path.indexOf(sep) + 1)
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
    const stat = missing.length > 0 ? undefined : lookAt(join(real, part))
    if (stat === undefined) {
      missing.push(part)
      continue
    }
    const target = stat.isSymbolicLink() ? readTarget(join(real, part)) : undefined
    if (target !== undefined) {
      links += 1
      if (links > MOST_LINKS) throw tooManyLinks(path)
      if (target.startsWith(sep)) real = sep
      pending.unshift(...target.split(sep).filter(name => name !== ''))
    } else {
      real = join(real, part)
      if (pending.length > 0 && !stat.isDirectory()) onFile?.(real)
    }
  }
}

/** Undefined when nothing is there. `throwIfNoEntry` alone would throw for a path that goes on below a file. */
export function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOTDIR') return undefined
    if (isSystemError(error) && error.code === 'ELOOP') throw tooManyLinks(path)
    if (isSystemError(error) && error.code === 'ENAMETOOLONG' && hasTooLongName(path)) return undefined
    throw error
  }
}

/**
 * Longer than a name can be: code in an argument (`python3 -c …`), and no file. A long path of ordinary names is another
 * thing: it may exist, and links in it may lead elsewhere.
 */
function hasTooLongName(path: string): boolean {
  return path.split(sep).some(name => Buffer.byteLength(name) > LONGEST_NAME)
}

const LONGEST_NAME = 255

/** Undefined for what the kernel shows of other programs in /proc and does not let us follow: it leads nowhere for us. */
function readTarget(link: string): string | undefined {
  try {
    return readlinkSync(link)
  } catch (cause) {
    if (isSystemError(cause) && /^(EACCES|EPERM)$/.test(cause.code ?? '')) return undefined
    throw new ToolError('conflict', `The symlink was replaced in the meantime: ${link}`, { cause })
  }
}

function tooManyLinks(path: string): ToolError {
  return new ToolError('failed', `The path contains a symlink loop or too many symlinks: ${path}`)
}

/** Absolute form of a path from a tool's input. Nothing in it is expanded: `~`, `%2e` and `$HOME` are file names. */
export function absolutePath(path: string, cwd: string): string {
  if (path === '') throw new ToolError('invalid_input', 'The path is empty.')
  if (path.includes('\0')) throw new ToolError('invalid_input', 'The path contains a NUL character.')
  if (!path.isWellFormed()) throw new ToolError('invalid_input', 'The path is not well-formed Unicode.')
  return resolve(cwd, path)
}

/** Whether `path` is `folder` or lies below it. Both absolute and normalised. */
export function isInside(path: string, folder: string): boolean {
  if (path === folder) return true
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

/** Entries of these folders are doors to processes, kernel settings and hardware, not files. */
export function isKernelPath(path: string): boolean {
  return ['/proc', '/sys', '/dev'].some(folder => isInside(path, folder))
}
