import {
  chmodSync,
  closeSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  type Stats,
} from 'node:fs'
import { join } from 'node:path'
import { ToolError } from '../../core/errors.ts'

/** One entry that differs between the workspace and what a command left on the overlay. Paths are relative. */
export interface OverlayChange {
  readonly change: 'created' | 'changed' | 'deleted'
  readonly path: string
  readonly entry: 'file' | 'directory' | 'link'
  readonly before?: OverlayEntry
  readonly after?: OverlayEntry
}

export interface OverlayEntry {
  readonly entry: 'file' | 'directory' | 'link'
  readonly ino: number
  /** Permission bits. Set-user-id and set-group-id bits of new entries are left out: see `dropped`. */
  readonly mode: number
  readonly size: number
  readonly modifiedMs: number
  /** How many names the file has, where that is more than one. */
  readonly names?: number
  /** When the entry last changed in any way; nobody can set it back. */
  readonly changedMs: number
  /** Target of a link. */
  readonly target?: string
}

export interface OverlayChanges {
  readonly workspace: string
  /** The overlay's upper directory. */
  readonly upper: string
  /** Parents before children. */
  readonly changes: readonly OverlayChange[]
  /** Files of which only the time is new. */
  readonly touched: readonly { path: string; modifiedMs: number }[]
  /** What is not brought over, and why. */
  readonly dropped: readonly Dropped[]
  /** When the command started, by the clock of the file system. */
  readonly startedMs: number
}

interface Dropped {
  readonly path: string
  readonly why: string
  /** It goes with its folder when it is still this one. */
  readonly goes?: Pick<OverlayEntry, 'ino' | 'size' | 'modifiedMs'>
}

interface Folders {
  /** Those that replace the one beneath them. */
  readonly opaque: ReadonlySet<string>
  /** Those that their owner could not read, with the mode that the command gave them. */
  readonly closed: ReadonlyMap<string, number>
}

/**
 * Reads what a command did from the upper directory: new and changed entries are there, deleted ones are marked by a
 * character device 0/0. Costs as much as was changed.
 */
export function readOverlay(
  workspace: string,
  upper: string,
  folders: Folders,
): Pick<OverlayChanges, 'changes' | 'touched' | 'dropped'> {
  const walk: Walk = { workspace, upper, ...folders, changes: [], touched: [], dropped: [] }
  readFolder(walk, '', 'merged')
  return { changes: walk.changes, touched: walk.touched, dropped: walk.dropped }
}

/** Folders that exist on both sides, and so could be merged or replaced: only an extended attribute tells. */
export function foldersOnBothSides(workspace: string, upper: string): string[] {
  const found: string[] = []
  const visit = (folder: string): void => {
    for (const entry of readdirSync(join(upper, folder), { withFileTypes: true })) {
      if (!entry.isDirectory()) continue
      const path = join(folder, entry.name)
      if (statOf(join(workspace, path))?.isDirectory() !== true) continue
      found.push(path)
      visit(path)
    }
  }
  visit('')
  return found
}

interface Walk extends Folders {
  workspace: string
  upper: string
  changes: OverlayChange[]
  touched: { path: string; modifiedMs: number }[]
  dropped: Dropped[]
}

/**
 * How a folder of the upper directory stands to the one beneath: `merged` adds to it, so that what is not mentioned stays;
 * `replacing` stands in its place, because it or a folder above it is opaque; `alone` has none beneath.
 */
type Standing = 'merged' | 'replacing' | 'alone'

function readFolder(walk: Walk, folder: string, standing: Standing): void {
  const names = namesOn(walk, 'upper', folder)
  // The kernel marks the topmost one only: what lies in an opaque folder hides what is beneath without a mark.
  const inside = standing === 'merged' && walk.opaque.has(folder) ? 'replacing' : standing
  if (inside === 'replacing') {
    const kept = new Set(names)
    for (const name of namesOn(walk, 'workspace', folder)) {
      if (!kept.has(name)) addDeleted(walk, join(folder, name))
    }
  }
  for (const name of names) readEntry(walk, join(folder, name), inside)
}

function readEntry(walk: Walk, path: string, standing: Standing): void {
  const stat = lstatSync(join(walk.upper, path))
  if (stat.isCharacterDevice() && stat.rdev === 0) {
    if (standing !== 'alone') addDeleted(walk, path)
    return
  }
  const after = entryAbove(walk, path, stat)
  if (after === null) {
    if (standing !== 'alone') addDeleted(walk, path)
    walk.dropped.push({ path, why: 'Sockets, pipes and devices are not kept.' })
    return
  }
  const special = stat.mode & 0o6000
  const lower = standing === 'alone' ? undefined : statOf(join(walk.workspace, path))
  const before = lower === undefined ? undefined : (toEntry(walk.workspace, path, lower) ?? undefined)
  if (special !== 0 && (lower === undefined || (lower.mode & special) !== special)) {
    walk.dropped.push({ path, why: 'Its set-user-id and set-group-id bits are not kept.' })
  }
  if (before !== undefined && before.entry !== after.entry) {
    addDeleted(walk, path)
    walk.changes.push({ change: 'created', path, entry: after.entry, after })
  } else if (before === undefined) {
    walk.changes.push({ change: 'created', path, entry: after.entry, after })
  } else if (differs(walk, path, before, after)) {
    walk.changes.push({ change: 'changed', path, entry: after.entry, before, after })
  } else if (after.entry === 'file' && before.modifiedMs !== after.modifiedMs) {
    walk.touched.push({ path, modifiedMs: after.modifiedMs })
  }
  if (after.entry !== 'directory') return
  readFolder(walk, path, before?.entry === 'directory' ? standing : 'alone')
}

/** With the mode that the command gave it; from now on it can be read. */
function entryAbove({ upper, closed }: Walk, path: string, stat: Stats): OverlayEntry | null {
  const entry = toEntry(upper, path, stat)
  if (entry?.entry === 'file' && (entry.mode & 0o400) === 0) chmodSync(join(upper, path), entry.mode | 0o400)
  const mode = closed.get(path)
  return entry === null || mode === undefined ? entry : { ...entry, mode: mode & 0o1777 }
}

/** An entry and everything beneath it. `within`: the folder it is in goes as a whole. */
function addDeleted(walk: Walk, path: string, within = false): void {
  const stat = statOf(join(walk.workspace, path))
  if (stat === undefined) return
  const before = toEntry(walk.workspace, path, stat)
  if (before === null) {
    const goes = { ino: stat.ino, size: stat.size, modifiedMs: stat.mtimeMs }
    const why = within ? 'deleted with its folder, and undo does not bring it back' : 'not deleted'
    walk.dropped.push({ path, why: `A socket, pipe or device: ${why}.`, ...(within ? { goes } : {}) })
    return
  }
  walk.changes.push({ change: 'deleted', path, entry: before.entry, before })
  if (before.entry !== 'directory') return
  for (const name of namesOn(walk, 'workspace', path)) addDeleted(walk, join(path, name), true)
}

/**
 * Node replaces bytes that are no UTF-8 by a sign, after which the name names nothing, or another entry. Such an entry
 * could be neither brought over nor kept for undo, so none of the command's changes are.
 */
function namesOn(walk: Walk, side: 'workspace' | 'upper', folder: string): string[] {
  return readdirSync(join(walk[side], folder), { encoding: 'buffer' })
    .map(bytes => {
      const name = bytes.toString()
      if (Buffer.from(name).equals(bytes)) return name
      throw unnameable(walk.workspace, Buffer.from(folder === '' ? '' : `${folder}/`), bytes)
    })
    .sort()
}

function unnameable(workspace: string, folder: Buffer, name: Buffer): ToolError {
  const path = Buffer.concat([folder, name])
  const word = toBashWord(path)
  const isNew = statOf(Buffer.concat([Buffer.from(`${workspace}/`), path])) === undefined
  const [verb, when] = isNew ? ['made', 'in the same line'] : ['changed or deleted', 'outside of Kogu first']
  return new ToolError(
    'failed',
    `The command ${verb} an entry whose name is not UTF-8, so none of its changes were kept: ${word}`,
    { hint: `Give it another name ${when}, for example: mv ${word} NAME` },
  )
}

/** As bash takes it, byte for byte: it can be shown anywhere and pasted into a line. */
function toBashWord(path: Buffer): string {
  const shown = [...path].map(byte => {
    const sign = String.fromCharCode(byte)
    if (sign === "'" || sign === '\\') return `\\${sign}`
    return byte >= 0x20 && byte < 0x7f ? sign : `\\x${byte.toString(16).padStart(2, '0')}`
  })
  return `$'${shown.join('')}'`
}

/**
 * The time says nothing: a command can set it. A file that was opened for writing and not written is on the layer too,
 * so its content is compared. A folder has only its mode; its entries are looked at one by one.
 */
function differs(walk: Walk, path: string, before: OverlayEntry, after: OverlayEntry): boolean {
  if (before.mode !== after.mode) return true
  if (before.entry === 'directory') return false
  if (before.size !== after.size || before.target !== after.target) return true
  return before.entry === 'file' && !sameContent(join(walk.workspace, path), join(walk.upper, path))
}

function sameContent(one: string, other: string): boolean {
  const descriptors = [openSync(one, 'r'), openSync(other, 'r')] as const
  const buffers = [Buffer.allocUnsafe(COMPARE_BYTES), Buffer.allocUnsafe(COMPARE_BYTES)] as const
  try {
    for (;;) {
      const read = readSync(descriptors[0], buffers[0])
      if (read !== readSync(descriptors[1], buffers[1])) return false
      if (read === 0) return true
      if (!buffers[0].subarray(0, read).equals(buffers[1].subarray(0, read))) return false
    }
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor)
  }
}

const COMPARE_BYTES = 256 * 1024

function toEntry(root: string, path: string, stat: Stats): OverlayEntry | null {
  const { ino, size } = stat
  const seen = { ino, mode: stat.mode & 0o1777, modifiedMs: stat.mtimeMs, changedMs: stat.ctimeMs }
  if (stat.isDirectory()) return { entry: 'directory', size: 0, ...seen }
  const names = stat.nlink > 1 ? { names: stat.nlink } : {}
  if (stat.isFile()) return { entry: 'file', size, ...seen, ...names }
  if (!stat.isSymbolicLink()) return null
  return { entry: 'link', size, target: readlinkSync(join(root, path)), ...seen }
}

function statOf(path: string | Buffer): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
}
