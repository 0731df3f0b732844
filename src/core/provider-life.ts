import { toToolError } from './errors.ts'
import type { Provider } from './provider.ts'
import type { AnyTool } from './tool.ts'

export interface ProviderTimes {
  /** How long a start and an end may take. */
  readonly startMs: number
  readonly closeMs: number
  /** Before the first new attempt; each further one waits twice as long, up to `longestRetryMs`. */
  readonly retryMs: number
  readonly longestRetryMs: number
}

const DEFAULT_TIMES: ProviderTimes = {
  startMs: 60_000,
  closeMs: 5_000,
  retryMs: 1_000,
  longestRetryMs: 60_000,
}

/**
 * One provider from its start to its end. While it is down its last good list stays known, and it is started again with
 * growing pauses. Nothing here waits without a limit, whatever the provider does.
 */
export class ProviderLife {
  /** The last good list. */
  tools: readonly AnyTool[] = []
  /** Tools that cannot be offered. */
  toolProblems: readonly string[] = []
  /** Why it is down. */
  problem: string | undefined
  isUp = false
  isStarting = false
  /** Resolves when the first start has succeeded or failed. */
  settled: Promise<void> = Promise.resolve()

  readonly #provider: Provider
  readonly #times: ProviderTimes
  readonly #onChange: () => void
  #life: AbortController | undefined
  #retry: NodeJS.Timeout | undefined
  #restarting: Promise<void> | undefined
  #failures = 0
  #isEnded = false

  constructor(provider: Provider, times: Partial<ProviderTimes>, onChange: () => void) {
    this.#provider = provider
    this.#times = { ...DEFAULT_TIMES, ...times }
    this.#onChange = onChange
  }

  start(): Promise<void> {
    this.settled = this.#begin()
    return this.settled
  }

  /** Several that want it at once get the same new life. */
  restart(): Promise<void> {
    this.#restarting ??= this.#stop()
      .then(() => this.#begin())
      .finally(() => {
        this.#restarting = undefined
      })
    return this.#restarting
  }

  /** A call went well: the next failure is the first of its row again. */
  succeeded(): void {
    this.#failures = 0
  }

  fail(reason: string): void {
    if (this.#isEnded || !this.isUp) return
    void this.#goDown(reason)
  }

  async end(): Promise<void> {
    this.#isEnded = true
    await this.#stop()
  }

  async #begin(): Promise<void> {
    if (this.#isEnded) return
    const life = new AbortController()
    this.#life = life
    this.isStarting = true
    try {
      const starting = async (): Promise<void> =>
        this.#provider.start(life.signal, (tools, problems = []) => {
          if (life.signal.aborted) return
          this.#take(tools, problems)
        })
      await within(this.#times.startMs, starting(), `it did not start within ${this.#times.startMs} ms`)
      if (!this.isUp && !life.signal.aborted) throw new Error('it offered no tools')
    } catch (error) {
      if (!life.signal.aborted) await this.#goDown(toToolError(error).message)
    } finally {
      if (this.#life === life) this.isStarting = false
    }
  }

  #take(offered: readonly AnyTool[], problems: readonly string[]): void {
    this.isUp = true
    this.problem = undefined
    const unusable = offered.map(tool => problemOf(tool, this.#provider.isPartOfKogu === true))
    this.tools = offered.filter((_, index) => unusable[index] === undefined)
    this.toolProblems = [...problems, ...unusable.filter(problem => problem !== undefined)]
    this.#onChange()
  }

  async #goDown(reason: string): Promise<void> {
    this.isUp = false
    this.problem = `${this.#provider.id} is down: ${reason.replace(/\.$/, '')}`
    this.#failures += 1
    const life = this.#life
    await this.#stop()
    this.#onChange()
    // Somebody may have started it anew while it was ending: a second start would leave the first without an end.
    if (this.#isEnded || this.#restarting !== undefined || this.#life !== life) return
    const pause = this.#times.retryMs * 2 ** Math.min(this.#failures - 1, 20)
    this.#retry = setTimeout(() => void this.#begin(), Math.min(pause, this.#times.longestRetryMs))
    // A program that has nothing else to do ends.
    this.#retry.unref()
  }

  async #stop(): Promise<void> {
    clearTimeout(this.#retry)
    this.isUp = false
    this.#life?.abort()
    try {
      const closing = async (): Promise<void> => this.#provider.close()
      await within(this.#times.closeMs, closing(), 'it did not stop in time')
    } catch {
      // It was told to end; what it leaves behind is its own, and the next life is not held up by it.
    }
  }
}

async function within<T>(ms: number, work: Promise<T>, late: string): Promise<T> {
  const expired = Promise.withResolvers<never>()
  const timer = setTimeout(() => expired.reject(new Error(late)), ms)
  try {
    return await Promise.race([work, expired.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** What makes a tool unusable, as the start of a sentence. Tools may come from code that is not checked by any compiler. */
function problemOf(tool: AnyTool, isKnown: boolean): string | undefined {
  try {
    const { name, aliases, title, description, overrides = '', access, run, input } = tool
    if (!isName(name)) return `a tool without a usable name: ${JSON.stringify(name)?.slice(0, 100)}`
    const texts = [title, description, overrides]
    const isWhole =
      Array.isArray(aliases) &&
      aliases.every(isName) &&
      texts.every(text => typeof text === 'string') &&
      [access, run, input?.parse].every(part => typeof part === 'function')
    if (!isWhole) return `the tool '${name}' is incomplete`
    // Whoever lists the tools shows it; ours are known to be good, and take their time to build.
    if (!isKnown && tool.isPartOfKogu !== true) JSON.stringify([input.json, tool.output?.json])
    return undefined
  } catch (error) {
    return `a tool that cannot be read: ${toToolError(error).message}`
  }
}

function isName(name: unknown): boolean {
  return typeof name === 'string' && /^[\w.-]{1,128}$/.test(name)
}
