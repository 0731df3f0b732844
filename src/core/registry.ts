import { ToolError } from './errors.ts'
import type { Provider } from './provider.ts'
import { closest, doneBy } from './suggest.ts'
import type { AnyTool, Risk } from './tool.ts'

export interface Entry {
  readonly tool: AnyTool
  readonly provider: Provider
  /** The tool's own risk, raised to that of what it overrides. */
  readonly risk: Risk
}

export interface ProviderStatistics {
  id: string
  displayName: string
  priority: number
  available: boolean
  tools: number
  calls: number
  failures: number
}

interface Registered {
  readonly provider: Provider
  tools: readonly AnyTool[]
  /** Why its tools could not be listed, or which of them were refused. */
  problems: string[]
  unavailable: boolean
  calls: number
  failures: number
}

/** Names to tools, over all providers. Names and aliases are compared without regard to case. */
export class Registry {
  #registered: Registered[] = []
  /** Lower-case name or alias → entries, the highest priority first. */
  #byName = new Map<string, Entry[]>()
  #listeners = new Set<() => void>()

  /** Adds a provider with its tools; the returned function takes it out again. */
  async add(provider: Provider): Promise<() => void> {
    if (this.#registered.some(other => other.provider.id === provider.id)) {
      throw new Error(`A provider with the id '${provider.id}' is registered already.`)
    }
    const registered: Registered = {
      provider,
      tools: [],
      problems: [],
      unavailable: false,
      calls: 0,
      failures: 0,
    }
    this.#registered.push(registered)
    await this.#discover(registered)
    this.#rebuild()
    return () => {
      this.#registered = this.#registered.filter(other => other !== registered)
      this.#rebuild()
    }
  }

  /** Asks a provider for its tools again. */
  async refresh(id: string): Promise<void> {
    const registered = this.#registered.find(other => other.provider.id === id)
    if (registered === undefined) return
    registered.unavailable = false
    await this.#discover(registered)
    this.#rebuild()
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The entry that a call by this name uses now: the first whose provider is available. */
  async resolve(name: string): Promise<Entry> {
    const candidates = this.#byName.get(name.toLowerCase()) ?? []
    for (const entry of candidates) {
      if (await this.#isAvailable(entry.provider)) return entry
    }
    if (candidates.length > 0) {
      const ids = candidates.map(entry => entry.provider.id).join(', ')
      throw new ToolError('failed', `No provider of '${name}' is available now (${ids}).`)
    }
    const near = closest(name.toLowerCase(), [...this.#byName.keys()])
    throw new ToolError('unknown_tool', `Unknown tool: ${name}`, {
      hint:
        doneBy(name.toLowerCase(), tool => this.#byName.has(tool)) ??
        (near === undefined ? 'List the tools with: kogu tools list' : `Did you mean '${near}'?`),
    })
  }

  /** One entry per canonical name, sorted by name. */
  list(): Entry[] {
    const seen = new Map<string, Entry>()
    for (const entries of this.#byName.values()) {
      const first = entries[0]
      if (first !== undefined) seen.set(first.tool.name, first)
    }
    // Not by localeCompare: the first use of it loads the tables of all languages, 10 ms of every start.
    return [...seen.values()].sort((a, b) => (a.tool.name < b.tool.name ? -1 : 1))
  }

  /** All entries of one name, in the order they would be tried. */
  candidates(name: string): readonly Entry[] {
    return this.#byName.get(name.toLowerCase()) ?? []
  }

  statistics(): ProviderStatistics[] {
    return this.#registered.map(({ provider, tools, unavailable, calls, failures }) => ({
      id: provider.id,
      displayName: provider.displayName,
      priority: provider.priority,
      available: !unavailable,
      tools: tools.length,
      calls,
      failures,
    }))
  }

  /** Tools that were refused and providers that could not be listed. */
  problems(): string[] {
    return this.#registered.flatMap(registered => registered.problems)
  }

  count(provider: Provider, ok: boolean): void {
    const registered = this.#registered.find(other => other.provider === provider)
    if (registered === undefined) return
    registered.calls += 1
    if (!ok) registered.failures += 1
  }

  /** A provider said that it cannot work; it is left out until it is refreshed or says that it is available again. */
  markUnavailable(provider: Provider): void {
    const registered = this.#registered.find(other => other.provider === provider)
    if (registered !== undefined) registered.unavailable = true
  }

  async #isAvailable(provider: Provider): Promise<boolean> {
    const registered = this.#registered.find(other => other.provider === provider)
    if (registered === undefined || registered.unavailable) return false
    try {
      return await provider.isAvailable()
    } catch {
      // A provider that cannot say whether it is available is not.
      return false
    }
  }

  async #discover(registered: Registered): Promise<void> {
    registered.problems = []
    try {
      registered.tools = [...(await registered.provider.discoverTools())]
    } catch (error) {
      registered.tools = []
      const detail = error instanceof Error ? error.message : String(error)
      registered.problems.push(`${registered.provider.id}: its tools cannot be listed: ${detail}`)
    }
  }

  #rebuild(): void {
    // The lowest priority first: names are taken in that order, so a later one can take a name only by overriding it.
    const order = this.#registered.toSorted((a, b) => a.provider.priority - b.provider.priority)
    const byName = new Map<string, Entry[]>()
    for (const registered of order) {
      registered.problems = registered.problems.filter(problem => !problem.endsWith(REFUSED))
      for (const tool of registered.tools) {
        const problem = place(byName, tool, registered.provider)
        if (problem !== undefined)
          registered.problems.push(`${registered.provider.id}: ${problem}, ${REFUSED}`)
      }
    }
    this.#byName = byName
    for (const listener of this.#listeners) listener()
  }
}

const REFUSED = 'so it is left out.'

/** Puts a tool under its name and aliases, or says why it may not have them. */
function place(byName: Map<string, Entry[]>, tool: AnyTool, provider: Provider): string | undefined {
  const names = [tool.name, ...tool.aliases].map(name => name.toLowerCase())
  const overridden = tool.overrides === undefined ? undefined : byName.get(tool.overrides.toLowerCase())?.[0]
  for (const name of names) {
    const holder = byName.get(name)?.[0]
    if (holder !== undefined && holder.tool.name !== overridden?.tool.name) {
      return `the name '${name}' of tool '${tool.name}' is taken by '${holder.tool.name}' (${holder.provider.id})`
    }
  }
  // An override answers to every name of what it replaces: otherwise an alias would still reach the old tool.
  const replaced = overridden === undefined ? [] : [overridden.tool.name, ...overridden.tool.aliases]
  const risk: Risk = tool.risk === 'high' || overridden?.risk === 'high' ? 'high' : 'low'
  const entry: Entry = { tool, provider, risk }
  for (const name of new Set([...names, ...replaced.map(alias => alias.toLowerCase())])) {
    const entries = byName.get(name) ?? []
    // Same priority: who came first stays first.
    const index = entries.findIndex(other => other.provider.priority < provider.priority)
    entries.splice(index === -1 ? entries.length : index, 0, entry)
    byName.set(name, entries)
  }
  return undefined
}
