import { randomBytes } from 'node:crypto'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { type DynamicTool, definitionHash, dynamicToolSchema, type RunRecord } from '../dynamic/definition.ts'
import { type DynamicStore, type Scope, type StoredTool, withRun } from '../dynamic/store.ts'

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
const MOST_BYTES = 4 * 1024 * 1024

/**
 * One JSON file per tool, written atomically. A file counts only if its definition is in the ledger: a repository cannot
 * bring tools into the model's list, and a file that was changed by hand does not run.
 */
export function openDynamicTools(places: DynamicToolPlaces): DynamicStore {
  const tools = new Map<string, StoredTool>()
  const pending = new Map<string, RunRecord[]>()
  const listeners: (() => Promise<void>)[] = []
  const problems: string[] = []
  let timer: NodeJS.Timeout | undefined
  let ledger = readLedger(places.ledger)
  for (const scope of ['project', 'user'] as const) load(places[scope], scope, { tools, problems, ledger })

  const path = (id: string, scope: Scope): string => join(places[scope], `${id}.json`)
  const tell = async (): Promise<void> => {
    for (const listener of listeners) await listener()
  }
  const flush = (): void => {
    clearTimeout(timer)
    timer = undefined
    for (const [id, runs] of pending) {
      const stored = tools.get(id)
      if (stored === undefined) continue
      // Another Kogu may have counted meanwhile.
      const onDisk = readTool(path(id, stored.scope))
      const base = typeof onDisk === 'string' ? stored.tool : onDisk
      const tool = typeof onDisk === 'string' ? base : runs.reduce(withRun, base)
      tools.set(id, { ...stored, tool })
      if (existsSync(places[stored.scope])) writeAtomic(path(id, stored.scope), tool)
    }
    pending.clear()
  }

  return {
    list: () => [...tools.values()].sort((a, b) => (a.tool.name < b.tool.name ? -1 : 1)),
    problems: () => problems,
    async save(tool, { scope = 'project', replaces } = {}) {
      places.prepare()
      flush()
      mkdirSync(places[scope], { recursive: true, mode: 0o700 })
      ledger = { ...readLedger(places.ledger), [tool.id]: definitionHash(tool) }
      writeAtomic(places.ledger, ledger)
      writeAtomic(path(tool.id, scope), tool)
      const old = replaces === undefined ? undefined : tools.get(replaces)
      if (old !== undefined && (old.tool.id !== tool.id || old.scope !== scope))
        rmSync(path(old.tool.id, old.scope), { force: true })
      if (replaces !== undefined) tools.delete(replaces)
      tools.set(tool.id, { tool, scope })
      await tell()
    },
    async remove(id) {
      const stored = tools.get(id)
      if (stored === undefined) return
      rmSync(path(id, stored.scope), { force: true })
      tools.delete(id)
      pending.delete(id)
      await tell()
    },
    recordRun(id, run) {
      const stored = tools.get(id)
      if (stored === undefined) return
      tools.set(id, { ...stored, tool: withRun(stored.tool, run) })
      pending.set(id, [...(pending.get(id) ?? []), run])
      timer ??= setTimeout(flush, WRITE_MS).unref()
    },
    onChange: listener => void listeners.push(listener),
    flush,
  }
}

interface Loading {
  tools: Map<string, StoredTool>
  problems: string[]
  ledger: Readonly<Record<string, string>>
}

function load(folder: string, scope: Scope, { tools, problems, ledger }: Loading): void {
  for (const name of existsSync(folder) ? readdirSync(folder).sort() : []) {
    if (!name.endsWith('.json')) continue
    const tool = readTool(join(folder, name))
    if (typeof tool === 'string') problems.push(`${name} is skipped: ${tool}`)
    else if (name !== `${tool.id}.json`) problems.push(`${name} is skipped: its name is not its id.`)
    // The person's own folder lies beside the ledger: who can write there can write that too.
    else if (scope === 'project' && ledger[tool.id] !== definitionHash(tool))
      problems.push(
        `${name} is skipped: it was not made here, or changed since. Take it in with: kogu tools dynamic import`,
      )
    else if (!tools.has(tool.id)) tools.set(tool.id, { tool, scope })
  }
}

/** The tool, or a sentence that says why there is none. */
function readTool(path: string): DynamicTool | string {
  try {
    const { size } = lstatSync(path)
    if (size > MOST_BYTES) return 'it is too large.'
    const parsed = dynamicToolSchema().safeParse(JSON.parse(readFileSync(path, 'utf8')))
    if (parsed.success) return parsed.data
    const [issue] = parsed.error.issues
    return `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'it is not a tool'}.`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function readLedger(path: string): Record<string, string> {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (typeof value !== 'object' || value === null) return {}
    return Object.fromEntries(Object.entries(value).filter(([, each]) => typeof each === 'string'))
  } catch {
    // None yet, or damaged: then no tool counts as made here.
    return {}
  }
}

function writeAtomic(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
  renameSync(draft, path)
}
