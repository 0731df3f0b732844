import { hash } from 'node:crypto'
import { canonicalJson } from './canonical-json.ts'
import { ToolError } from './errors.ts'
import { parameterNames } from './input.ts'
import type { Provider } from './provider.ts'
import { ProviderLife, type ProviderTimes } from './provider-life.ts'
import { closest, doneBy } from './suggest.ts'
import type { AnyTool, Risk } from './tool.ts'

export interface Entry {
  readonly tool: AnyTool
  readonly provider: Provider
  /** The tool's own risk, raised to that of what it overrides. */
  readonly risk: Risk
  /** Hash of the tool's definition; it changes with the tool. */
  readonly fingerprint: string
  /** Every name that rules know it by, in lower case: its own, its aliases, and those of what it overrides. */
  readonly names: ReadonlySet<string>
}

/** The state of one provider. */
export interface ProviderHealth {
  readonly isStarting: boolean
  /** Why it is down, and which of its tools cannot be offered. */
  readonly problems: readonly string[]
  /** Of its last calls that went well; null when there were none. */
  readonly p50Ms: number | null
}

interface Registered {
  readonly provider: Provider
  readonly life: ProviderLife
  /** Tools that may not have the names they want. */
  refused: string[]
  calls: number
  failures: number
  /** How long its last good calls took. */
  readonly times: number[]
}

/** Names to tools, over all providers. Names and aliases are compared without regard to case. */
export class Registry {
  #registered: Registered[] = []
  /** Lower-case name or alias → entries, the highest priority first. */
  #byName = new Map<string, Entry[]>()
  #listeners = new Set<() => void>()
  readonly #times: Partial<ProviderTimes>

  constructor(times: Partial<ProviderTimes> = {}) {
    this.#times = times
  }

  /**
   * Adds a provider and waits until its first list is there or it is down; the tools of one that is not awaited appear
   * when they come. The returned function takes it out again and ends it.
   */
  async add(provider: Provider): Promise<() => Promise<void>> {
    if (this.#registered.some(other => other.provider.id === provider.id)) {
      throw new Error(`A provider with the id '${provider.id}' is registered already.`)
    }
    const life = new ProviderLife(provider, this.#times, () => this.#rebuild())
    const registered: Registered = { provider, life, refused: [], calls: 0, failures: 0, times: [] }
    this.#registered.push(registered)
    await life.start()
    return async () => {
      this.#registered = this.#registered.filter(other => other !== registered)
      this.#rebuild()
      await life.end()
    }
  }

  /** Starts a provider anew at once, without waiting for its next attempt. */
  async refresh(id: string): Promise<void> {
    await this.#registered.find(other => other.provider.id === id)?.life.restart()
  }

  /** Returns when no provider is starting for the first time. */
  async settled(): Promise<void> {
    await Promise.all(this.#registered.map(({ life }) => life.settled))
  }

  /** Ends all providers. */
  async close(): Promise<void> {
    const all = this.#registered
    this.#registered = []
    this.#byName = new Map()
    await Promise.all(all.map(({ life }) => life.end()))
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The entry that a call by this name uses now: the first whose provider is available. */
  async resolve(name: string): Promise<Entry> {
    // A tool that is not known yet may be one of a provider that is still starting.
    if (!this.#byName.has(name.toLowerCase())) await this.settled()
    const candidates = this.candidates(name)
    const available = candidates.find(entry => this.#lifeOf(entry.provider)?.isUp === true)
    if (available !== undefined) return available
    if (candidates.length > 0) {
      const reasons = candidates.map(({ provider }) => this.#lifeOf(provider)?.problem ?? provider.id)
      throw new ToolError('failed', `No provider of '${name}' is available now: ${reasons.join('; ')}.`, {
        hint: 'Kogu retries it automatically; earlier calls are unaffected.',
      })
    }
    const near = closest(name.toLowerCase(), [...this.#byName.keys()])
    const heldBack = this.problems().find(problem => problem.includes(`'${name}'`))
    const message = heldBack === undefined ? `Unknown tool: ${name}` : `The tool '${name}' is held back.`
    throw new ToolError('unknown_tool', message, {
      hint:
        heldBack ??
        doneBy(name.toLowerCase(), tool => this.#byName.has(tool)) ??
        (near === undefined ? 'List all tools to find the right name.' : `Did you mean '${near}'?`),
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

  /** Every name that some tool answers to, in lower case. */
  names(): string[] {
    return [...this.#byName.keys()]
  }

  /** All entries of one name, in the order they would be tried. */
  candidates(name: string): readonly Entry[] {
    return this.#byName.get(name.toLowerCase()) ?? []
  }

  statistics() {
    return this.#registered.map(({ provider, life, calls, failures }) => ({
      id: provider.id,
      displayName: provider.displayName,
      priority: provider.priority,
      available: life.isUp,
      tools: life.tools.length,
      calls,
      failures,
    }))
  }

  /** Tools that were refused and providers that are down, one sentence each. */
  problems(): string[] {
    return this.#registered.flatMap(problemsOf)
  }

  /** Undefined when there is no such provider, as one that is off. */
  health(id: string): ProviderHealth | undefined {
    const registered = this.#registered.find(({ provider }) => provider.id === id)
    if (registered === undefined) return undefined
    const times = registered.times.toSorted((a, b) => a - b)
    return {
      isStarting: registered.life.isStarting,
      problems: problemsOf(registered),
      p50Ms: times[Math.floor(times.length / 2)] ?? null,
    }
  }

  count(provider: Provider, ok: boolean, ms?: number): void {
    const registered = this.#registered.find(other => other.provider === provider)
    if (registered === undefined) return
    registered.calls += 1
    if (!ok) registered.failures += 1
    else registered.life.succeeded()
    if (ok && ms !== undefined) registered.times.push(ms)
    if (registered.times.length > MOST_TIMES) registered.times.shift()
  }

  /** A provider said that it cannot work now. Its tools stay known, and it is started again after a while. */
  markUnavailable(provider: Provider, reason: string): void {
    this.#lifeOf(provider)?.fail(reason)
  }

  #lifeOf(provider: Provider): ProviderLife | undefined {
    return this.#registered.find(other => other.provider === provider)?.life
  }

  #rebuild(): void {
    // The lowest priority first: names are taken in that order, so a later one can take a name only by overriding it.
    const order = this.#registered.toSorted((a, b) => a.provider.priority - b.provider.priority)
    const byName = new Map<string, Entry[]>()
    for (const registered of order) {
      registered.refused = []
      for (const tool of registered.life.tools) {
        const problem = place(byName, tool, registered.provider)
        if (problem !== undefined) registered.refused.push(`${problem}, so it is left out.`)
        else if (tool.overrides !== undefined && !byName.get(tool.overrides.toLowerCase())?.[1])
          registered.refused.push(
            `the tool '${tool.name}' replaces '${tool.overrides}', which does not exist.`,
          )
      }
    }
    this.#byName = byName
    for (const listener of this.#listeners) listener()
  }
}

const MOST_TIMES = 100

function problemsOf({ provider, life, refused }: Registered): string[] {
  return [
    ...(life.problem === undefined ? [] : [life.problem]),
    ...[...life.toolProblems, ...refused].map(problem => `${provider.id}: ${problem}`),
  ]
}

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
  const lost = overridden === undefined ? [] : parametersLost(tool, overridden.tool)
  if (lost.length > 0)
    return `the tool '${tool.name}' lacks parameters of what it replaces: ${lost.join(', ')}`
  // An override answers to every name of what it replaces: otherwise an alias would still reach the old tool.
  const replaced = overridden === undefined ? [] : [overridden.tool.name, ...overridden.tool.aliases]
  const risk: Risk = tool.risk === 'high' || overridden?.risk === 'high' ? 'high' : 'low'
  const answered = new Set([...names, ...replaced.map(alias => alias.toLowerCase())])
  let fingerprint: string | undefined
  const entry: Entry = {
    tool,
    names: new Set([...answered, ...(tool.fullName === undefined ? [] : [tool.fullName.toLowerCase()])]),
    provider,
    risk,
    // Made when it is asked for: it needs the tool's schema, which takes its time to build.
    get fingerprint() {
      fingerprint ??= fingerprintOf(tool, provider.id)
      return fingerprint
    },
  }
  for (const name of answered) {
    const entries = byName.get(name) ?? []
    // Same priority: who came first stays first.
    const index = entries.findIndex(other => other.provider.priority < provider.priority)
    entries.splice(index === -1 ? entries.length : index, 0, entry)
    byName.set(name, entries)
  }
  return undefined
}

/** Whoever calls a tool by its name passes the parameters it is known for; a replacement has to take them. */
function parametersLost(tool: AnyTool, replaced: AnyTool): string[] {
  const taken = parameterNames(tool)
  return parameterNames(replaced).filter(name => !taken.includes(name))
}

/**
 * Identifies what a tool claims to be: everything that a model or a person reads of it, and who offers it. Grants and
 * audit events carry it, so that a yes to one tool is not a yes to what takes its name later.
 */
export function fingerprintOf(tool: AnyTool, provider: string): string {
  const { name, title, description, category, risk, overrides = null } = tool
  if (tool.isPartOfKogu === true) return `kogu:${name}`
  const schemas = [tool.input.json, tool.output?.json ?? null]
  const claims = [provider, name, title, description, category, risk, overrides, schemas]
  return hash('sha256', canonicalJson(claims)).slice(0, 32)
}
