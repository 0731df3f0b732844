import { readdirSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { isSystemError } from '../../core/errors.ts'
import type { GlobPattern, States } from '../../core/glob.ts'
import { type IgnoreChain, ignoreChainAbove, ignoreChainOf, isIgnored } from './ignore-chain.ts'

// Synchronous calls in slices: on 120,000 files they are several times faster than asynchronous ones and faster than
// starting ripgrep, and a slice is short enough that other calls of the process do not notice.

export interface WalkOptions {
  readonly pattern: GlobPattern
  readonly includeIgnored: boolean
  readonly includeHidden: boolean
  readonly signal: AbortSignal
  /** Time after which the walk ends with what it has. */
  readonly deadline: number
}

export interface WalkResult {
  /** Paths below the start, of regular files and links. */
  readonly files: string[]
  /** Those of them that are links. */
  readonly links: ReadonlySet<string>
  /** Folders that could not be read. */
  readonly unreadable: number
  readonly timedOut: boolean
}

const SLICE_MS = 12

/** No files of anybody, and some of them act when they are looked at. */
const KERNEL_FOLDERS = new Set(['proc', 'sys', 'dev'])

interface Folder {
  /** Path below the start with a slash at the end, or ''. */
  readonly path: string
  readonly states: States
  readonly ignore: IgnoreChain | null
}

/** Files below a real folder that match. Links are listed but never followed, so there is no loop and no way out. */
export async function walk(start: string, options: WalkOptions): Promise<WalkResult> {
  const { pattern, includeIgnored, signal, deadline } = options
  const found = { files: [] as string[], links: new Set<string>(), unreadable: 0 }
  const above = includeIgnored ? null : ignoreChainAbove(start)
  const open: Folder[] = [{ path: '', states: pattern.start, ignore: above }]
  let sliceEnd = performance.now() + SLICE_MS
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    const now = performance.now()
    if (now > sliceEnd) {
      if (now > deadline) return { ...found, timedOut: true }
      await setImmediate()
      signal.throwIfAborted()
      sliceEnd = performance.now() + SLICE_MS
    }
    visit(start, folder, options, found, open)
  }
  return { ...found, timedOut: false }
}

function visit(
  start: string,
  folder: Folder,
  { pattern, includeIgnored, includeHidden }: WalkOptions,
  found: { files: string[]; links: Set<string>; unreadable: number },
  open: Folder[],
): void {
  const absolute = start === '/' ? `/${folder.path}` : `${start}/${folder.path}`
  let entries: ReturnType<typeof listEntries>
  try {
    entries = listEntries(absolute)
  } catch (error) {
    // Gone since its parent was listed, or named by the pattern and never there: nothing that was missed.
    const isGone = isSystemError(error) && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
    if (!isGone) found.unreadable += 1
    return
  }
  const hasRules = !includeIgnored && entries.some(entry => entry.name === '.gitignore')
  const ignore = hasRules ? ignoreChainOf(`${absolute}.gitignore`, folder.path, folder.ignore) : folder.ignore
  for (const entry of entries) {
    const { name } = entry
    if (name.startsWith('.') && !includeHidden) continue
    if (!includeIgnored && (name === '.git' || name === '.kogu')) continue
    if (start === '/' && folder.path === '' && KERNEL_FOLDERS.has(name)) continue
    const path = folder.path + name
    const isFolder = entry.isDirectory()
    if (isFolder) {
      const states = pattern.enter(folder.states, name)
      if (states.length === 0 || (ignore !== null && isIgnored(ignore, folder.path, name, true))) continue
      open.push({ path: `${path}/`, states, ignore })
      continue
    }
    if (!pattern.accepts(folder.states, name)) continue
    if (ignore !== null && isIgnored(ignore, folder.path, name, false)) continue
    if (entry.isSymbolicLink()) found.links.add(path)
    else if (!entry.isFile()) continue
    found.files.push(path)
  }
}

function listEntries(folder: string) {
  return readdirSync(folder, { withFileTypes: true })
}
