import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { namesIn } from '../core/names-in.ts'
import { writeWhole } from '../core/write-whole.ts'
import { type DynamicTool, definitionHash, dynamicToolSchema, type RunRecord } from '../dynamic/definition.ts'
import { type DynamicStore, type Scope, type StoredTool, withRun } from '../dynamic/store.ts'
import { openListFile } from './list-file.ts'

export interface DynamicToolPlaces {
  /** `.kogu/tools` of the workspace. */
  readonly project: string
  /** Of the person, for all workspaces. */
  readonly user: string
  /** Outside the workspace: which definitions were made here. What a repository brings along is not among them. */
  readonly ledger: string
  /** Called before the first file is written. */
  prepare(): void
}

/** Uses are written together: each call would otherwise wait for the disk. */
const WRITE_MS = 200
/** Of a definition of the largest size, with all of its versions. */
const MOST_BYTES = 16 * 1024 * 1024
/** Two changes within one tick of the file system's clock leave the same time. */
const TICK_MS = 20

interface Entry extends StoredTool {
  /** Of the file that it was read from. */
  readonly stamp: string
}

/** A file that is no tool of ours. */
interface Rejected {
  readonly stamp: string
  readonly why: string
}

/**
 * One JSON file per tool, written atomically. A file counts only if its definition is in the ledger: a repository cannot
 * bring tools into the model's list, and a file that was changed by hand does not run. What another Kogu makes, changes,
 * quarantines or deletes is seen at the next look.
 */
export function openDynamicTools(places: DynamicToolPlaces): DynamicStore {
  const pending = new Map<string, RunRecord[]>()
  const listeners: (() => Promise<void>)[] = []
  const ledger = openListFile(places.ledger, 'definitions', isLedgerItem)
  const isOurs = (hash: string): boolean => ledger.list().some(({ id }) => id === hash)
  let entries = new Map<string, Entry>()
  let rejected = new Map<string, Rejected>()
  let seen: string | undefined
  let timer: NodeJS.Timeout | undefined

  const path = (id: string, scope: Scope): string => join(places[scope], `${id}.json`)
  const tell = async (): Promise<void> => {
    for (const listener of listeners) await listener()
  }
  const read = (file: string, scope: Scope): Entry | string => {
    const entry = readTool(file, scope, isOurs)
    return typeof entry === 'string' ? entry : withRuns(entry, pending.get(entry.tool.id) ?? [])
  }
  /** Whether the list of tools is another one now. */
  const refresh = (): boolean => {
    const folders = SCOPES.map(scope => stampOf(places[scope]))
    const now = folders.map(({ text }) => text).join()
    if (now === seen) return false
    const before = shapeOf(entries)
    ;({ entries, rejected } = load(places, { entries, rejected }, read))
    // Of a folder that has just changed, the next change may not show.
    seen = folders.every(({ changedMs }) => Date.now() - changedMs > TICK_MS) ? now : undefined
    return shapeOf(entries) !== before
  }
  const look = (): void => {
    if (refresh()) void tell().catch(() => undefined)
  }
  const flush = (): void => {
    clearTimeout(timer)
    timer = undefined
    for (const [id, runs] of pending) {
      const scope = entries.get(id)?.scope
      if (scope === undefined) continue
      const file = path(id, scope)
      // Another Kogu may have counted meanwhile, or deleted it: then there is nothing to count.
      const onDisk = readTool(file, scope, isOurs)
      if (typeof onDisk === 'string') continue
      const entry = withRuns(onDisk, runs)
      writeAtomic(file, entry.tool)
      entries.set(id, { ...entry, stamp: stampOf(file).text })
    }
    pending.clear()
  }
  refresh()

  return {
    list() {
      look()
      return [...entries.values()].sort((a, b) => (a.tool.name < b.tool.name ? -1 : 1))
    },
    current(id) {
      const held = entries.get(id)
      if (held === undefined || stampOf(path(id, held.scope)).text !== held.stamp) seen = undefined
      look()
      return entries.get(id)
    },
    problems: () => [...rejected].map(([path, { why }]) => `${basename(path)} is skipped: ${why}`),
    async save(tool, { scope = 'project', replaces } = {}) {
      places.prepare()
      flush()
      mkdirSync(places[scope], { recursive: true, mode: 0o700 })
      const hash = definitionHash(tool)
      const old = entries.get(replaces ?? tool.id)
      if (!isOurs(hash)) await ledger.add({ id: hash })
      writeAtomic(path(tool.id, scope), tool)
      if (old !== undefined && (old.tool.id !== tool.id || old.scope !== scope))
        rmSync(path(old.tool.id, old.scope), { force: true })
      if (old !== undefined && old.hash !== hash) await ledger.remove(old.hash)
      seen = undefined
      refresh()
      await tell()
    },
    async remove(id) {
      const stored = entries.get(id)
      if (stored === undefined) return
      rmSync(path(id, stored.scope), { force: true })
      pending.delete(id)
      await ledger.remove(stored.hash)
      seen = undefined
      refresh()
      await tell()
    },
    recordRun(id, run) {
      const entry = entries.get(id)
      if (entry === undefined) return
      entries.set(id, withRuns(entry, [run]))
      const runs = pending.get(id)
      if (runs === undefined) pending.set(id, [run])
      else runs.push(run)
      timer ??= setTimeout(flush, WRITE_MS).unref()
    },
    folders: SCOPES.map(scope => places[scope]),
    onChange: listener => void listeners.push(listener),
    flush,
  }
}

const SCOPES = ['project', 'user'] as const

function isLedgerItem(value: unknown): value is { id: string } {
  return typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string'
}

function withRuns(entry: Entry, runs: readonly RunRecord[]): Entry {
  return { ...entry, tool: runs.reduce(withRun, entry.tool) }
}

/** Changes with whatever a list of tools shows, and not with their use. */
function shapeOf(entries: ReadonlyMap<string, Entry>): string {
  return [...entries.values()].map(({ tool, hash }) => `${hash} ${tool.verificationStatus}`).join()
}

/** What is as it was is not read again: a repository may bring thousands of files that are no tools. */
function load(
  places: DynamicToolPlaces,
  held: { entries: ReadonlyMap<string, Entry>; rejected: ReadonlyMap<string, Rejected> },
  read: (path: string, scope: Scope) => Entry | string,
) {
  const entries = new Map<string, Entry>()
  const rejected = new Map<string, Rejected>()
  for (const scope of SCOPES)
    for (const name of namesIn(places[scope]).sort()) {
      if (!name.endsWith('.json')) continue
      const path = join(places[scope], name)
      const stamp = stampOf(path).text
      const known = held.entries.get(name.slice(0, -'.json'.length))
      const refused = held.rejected.get(path)
      if (known?.scope === scope && known.stamp === stamp) entries.set(known.tool.id, known)
      else if (refused?.stamp === stamp) rejected.set(path, refused)
      else {
        const entry = read(path, scope)
        if (typeof entry === 'string') rejected.set(path, { stamp, why: entry })
        else if (!entries.has(entry.tool.id)) entries.set(entry.tool.id, entry)
      }
    }
  return { entries, rejected }
}

/** The tool, or a sentence that says why there is none. */
function readTool(path: string, scope: Scope, isOurs: (hash: string) => boolean): Entry | string {
  try {
    const stamp = stampOf(path).text
    const parsed = dynamicToolSchema().safeParse(JSON.parse(readPlain(path)))
    if (!parsed.success) {
      const [issue] = parsed.error.issues
      return `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'it is not a tool'}.`
    }
    const tool = parsed.data
    const hash = definitionHash(tool)
    if (basename(path) !== `${tool.id}.json`) return 'its name is not its id.'
    // The person's own folder lies beside the ledger: who can write there can write that too.
    if (scope === 'project' && !isOurs(hash))
      return 'it was not made here, or changed since. Take it in with: kogu tools dynamic import'
    return { tool, scope, hash, stamp }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** A link or a pipe that a repository brings along is neither followed nor waited for. */
function readPlain(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const stat = fstatSync(file)
    if (!stat.isFile()) throw new Error('it is not a plain file.')
    if (stat.size > MOST_BYTES) throw new Error('it is too large.')
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

function stampOf(path: string): { text: string; changedMs: number } {
  try {
    const { ino, size, mtimeNs, mtimeMs } = lstatSync(path, { bigint: true })
    return { text: `${ino} ${size} ${mtimeNs}`, changedMs: Number(mtimeMs) }
  } catch {
    // Not there, or not to be looked at.
    return { text: 'missing', changedMs: 0 }
  }
}

function writeAtomic(path: string, tool: DynamicTool): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeWhole(path, `${JSON.stringify(tool, null, 2)}\n`)
}
