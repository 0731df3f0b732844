import { basename, dirname } from 'node:path'
import { isSystemError, ToolError } from '../../core/errors.ts'
import { type Observed, observe } from './entry.ts'
import { type PinnedDirectory, pinDirectory } from './pinned-directory.ts'

/** Looks at many paths, keeping the folders they are in open between two looks. */
export interface Observer {
  /** What is at a real path now, links not followed in any part of it; undefined when there is nothing. */
  observe(path: string): Promise<Observed | undefined>
  names(path: string): string[]
  /** The pinned folder, certainly still at this path. */
  folder(path: string): PinnedDirectory
  close(): void
}

/** Far below the limit of open files of any system. */
const MAX_OPEN = 32

export function createObserver(): Observer {
  const open = new Map<string, PinnedDirectory>()

  function folder(path: string): PinnedDirectory {
    const known = open.get(path)
    if (known?.isInPlace()) return known
    known?.close()
    open.delete(path)
    return pin(path)
  }

  function pin(path: string): PinnedDirectory {
    const pinned = pinDirectory(path)
    const [oldest] = open
    if (open.size >= MAX_OPEN && oldest !== undefined) {
      oldest[1].close()
      open.delete(oldest[0])
    }
    open.set(path, pinned)
    return pinned
  }

  return {
    folder,
    async observe(path) {
      if (dirname(path) === path) return { entry: 'directory', state: { mode: 0o755, size: 0 } }
      try {
        // A folder that was moved away meanwhile is noticed before anything is changed: `folder` looks again.
        return await observe(open.get(dirname(path)) ?? pin(dirname(path)), basename(path))
      } catch (error) {
        if (isNothingThere(error)) return undefined
        throw error
      }
    },
    names: path => folder(path).names(),
    close() {
      for (const pinned of open.values()) pinned.close()
      open.clear()
    },
  }
}

/** The folder is missing, or something else than a folder is at its place. */
function isNothingThere(error: unknown): boolean {
  if (error instanceof ToolError) return error.code === 'conflict'
  return isSystemError(error) && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}
