import { randomUUID } from 'node:crypto'
import { ToolError } from '../../core/errors.ts'
import type { SandboxSystem } from '../walls/system.ts'
import type { Frame } from './frames.ts'
import { type IsolateEnd, type IsolateProcess, startIsolate } from './isolate-process.ts'
import { type Failure, LIMITS, OUT_OF_MEMORY } from './protocol.ts'

/** Runs model-written code, each tool in a process of its own that is kept for its next call. */
export interface Isolates {
  run(request: IsolateRequest): Promise<IsolateOutcome>
  /** Starts a process ahead, without waiting. */
  prepare(): void
  close(): void
}

export interface IsolateRequest {
  /** Names the code and all that it may do: a process never runs the code of two keys. */
  readonly key: string
  /** A script whose value is the tool's function. */
  readonly code: string
  /** As JSON. */
  readonly input: string
  readonly timeoutMs: number
  readonly memoryMb: number
  readonly signal: AbortSignal
  /** How many isolates wait for it, each for the next. Defaults to 0. */
  readonly depth?: number
  /** What the code wants from outside. The clock stands still while a person is asked. */
  answer(operation: string, value: unknown, clock: Clock): Promise<unknown>
}

export interface Clock {
  /** Returns the function that lets it go on. */
  pause(): () => void
}

export type IsolateOutcome =
  | { readonly ok: true; readonly json: string; readonly logs: readonly string[] }
  | {
      readonly ok: false
      readonly reason: Failure['reason'] | 'timeout' | 'cancelled' | 'crashed'
      readonly message: string
      readonly logs: readonly string[]
    }

/** At the same time; further calls wait for their turn. */
const MOST_PROCESSES = 6
/** At each depth of calls inside calls. */
const MOST_NESTED = 2
const IDLE_MS = 60_000
/** What a start costs: a process that was used within that time is likely to be used again before a new one is there. */
const START_MS = 250
/** A process that was idle for so long makes room for one that stands ready for the next tool. */
const LONG_IDLE_MS = 1_000
/** Code that goes on so long after its result is ended with its process. */
const UNSETTLED_MS = 1_000
/** Then it is replaced: what the code may have made of its process ends sometime. */
const MOST_CALLS = 10_000
const MOST_BUSY_MS = 300_000

interface Worker {
  readonly process: IsolateProcess
  readonly memoryMb: number
  /** Undefined until a tool has it. */
  key: string | undefined
  /** Of the call that it runs. */
  depth: number
  busy: boolean
  calls: number
  busyMs: number
  usedAt: number
}

export function createIsolates(system: SandboxSystem | undefined, defaultMemoryMb: number): Isolates {
  return new Pool(system, defaultMemoryMb)
}

class Pool implements Isolates {
  readonly #system: SandboxSystem | undefined
  readonly #memoryMb: number
  readonly #workers = new Set<Worker>()
  readonly #waiting: (() => void)[] = []
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(system: SandboxSystem | undefined, memoryMb: number) {
    this.#system = system
    this.#memoryMb = memoryMb
  }

  prepare(): void {
    const hasSpare = [...this.#workers].some(worker => worker.key === undefined && !worker.busy)
    if (hasSpare || this.#closed) return
    if (this.#workers.size >= MOST_PROCESSES && !this.#endIdle(LONG_IDLE_MS)) return
    this.#start(this.#memoryMb)
  }

  async run(request: IsolateRequest): Promise<IsolateOutcome> {
    if (request.signal.aborted) return stopped('cancelled')
    const worker = await this.#take(request)
    const started = performance.now()
    try {
      if (worker.calls === 0) await whenReady(worker)
      const answer = runOnce(worker.process, request, worker.calls === 0)
      worker.process.hold(true)
      const outcome = await answer
      worker.calls += 1
      worker.busyMs += performance.now() - started
      this.#release(worker, outcome)
      return outcome
    } catch (error) {
      this.#end(worker)
      throw error
    }
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    for (const worker of this.#workers) worker.process.kill()
    this.#workers.clear()
  }

  async #take(request: IsolateRequest): Promise<Worker> {
    for (;;) {
      if (this.#closed) throw new ToolError('cancelled', 'Kogu is closing.')
      // Whoever waited may have been given up meanwhile; no process is started for it.
      if (request.signal.aborted) throw new ToolError('cancelled', 'The call was cancelled.')
      const idle = [...this.#workers].filter(worker => !worker.busy)
      const own = idle.find(worker => worker.key === request.key)
      const spare = idle.find(worker => worker.key === undefined && worker.memoryMb === request.memoryMb)
      const worker = this.#mayTake(request) ? (own ?? spare ?? this.#makeRoom(request)) : undefined
      if (worker !== undefined) {
        worker.busy = true
        worker.key = request.key
        worker.depth = request.depth ?? 0
        return worker
      }
      await this.#change()
    }
  }

  /**
   * Calls inside calls hold a process while they wait for deeper ones, so that each depth has room of its own: all wait
   * for deeper ones only, and code that calls itself many times over is slow, and nothing else.
   */
  #mayTake({ depth = 0 }: IsolateRequest): boolean {
    if (depth === 0) return true
    return [...this.#workers].filter(worker => worker.busy && worker.depth === depth).length < MOST_NESTED
  }

  #makeRoom({ memoryMb, depth = 0 }: IsolateRequest): Worker | undefined {
    const isFull = this.#workers.size >= MOST_PROCESSES
    if (isFull && !this.#endIdle(depth > 0 ? 0 : START_MS) && depth === 0) return undefined
    return this.#start(memoryMb)
  }

  /** Ends the process that was idle the longest, when that is at least so long. */
  #endIdle(leastMs: number): boolean {
    const idle = [...this.#workers].filter(worker => !worker.busy)
    const oldest = idle.toSorted((a, b) => a.usedAt - b.usedAt)[0]
    if (oldest === undefined || performance.now() - oldest.usedAt < leastMs) return false
    this.#end(oldest)
    return true
  }

  /** Until something became free, or what is idle may have been so for long enough. */
  #change(): Promise<void> {
    return new Promise(resolve => {
      const timer = setTimeout(resolve, START_MS)
      this.#waiting.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  /** Whoever waits looks again: what became free may fit only one of them. */
  #wake(): void {
    for (const look of this.#waiting.splice(0)) look()
  }

  #start(memoryMb: number): Worker {
    const worker: Worker = {
      process: startIsolate({ system: this.#system, memoryMb }),
      memoryMb,
      key: undefined,
      depth: 0,
      busy: false,
      calls: 0,
      busyMs: 0,
      usedAt: performance.now(),
    }
    this.#workers.add(worker)
    void worker.process.ended.then(() => this.#forget(worker))
    return worker
  }

  #release(worker: Worker, outcome: IsolateOutcome): void {
    const isWorn = worker.calls >= MOST_CALLS || worker.busyMs >= MOST_BUSY_MS
    const isWhole = outcome.ok || outcome.reason === 'threw' || outcome.reason === 'output'
    worker.busy = false
    worker.usedAt = performance.now()
    worker.process.hold(false)
    if (!isWhole || isWorn || this.#closed) this.#end(worker)
    else this.#wake()
    this.#clock()
  }

  #end(worker: Worker): void {
    worker.process.kill()
    this.#forget(worker)
  }

  #forget(worker: Worker): void {
    if (this.#workers.delete(worker)) this.#wake()
  }

  /** Ends processes that nobody needs, and keeps one ahead for the next tool while tools are used. */
  #clock(): void {
    if (this.#timer !== undefined || this.#closed) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      const now = performance.now()
      for (const worker of this.#workers) {
        const mostMs = worker.calls === 0 || worker.process.isSettled ? IDLE_MS : UNSETTLED_MS
        if (!worker.busy && now - worker.usedAt > mostMs) this.#end(worker)
      }
      if ([...this.#workers].some(worker => worker.key !== undefined)) {
        this.prepare()
        this.#clock()
      }
    }, AHEAD_MS)
    this.#timer.unref()
  }
}

/** After a call; a program that makes one call only is gone by then. */
const AHEAD_MS = 100

async function whenReady({ process }: Worker): Promise<void> {
  process.hold(true)
  try {
    await process.ready
  } catch (error) {
    throw new ToolError('failed', `The isolate could not be started: ${(error as Error).message}`, {
      hint: 'Run `kogu doctor` to see which sandbox features this machine has.',
    })
  }
}

/** The process gets its work first; everything else is prepared while it works. */
function runOnce(
  process: IsolateProcess,
  request: IsolateRequest,
  isFirst: boolean,
): Promise<IsolateOutcome> {
  const call = randomUUID().replaceAll('-', '')
  const outcome = Promise.withResolvers<IsolateOutcome>()
  if (isFirst) process.send({ kind: 'load', call, request: 0, text: request.code })
  process.send({ kind: 'call', call, request: 0, text: request.input })
  const deadline = createDeadline(request.timeoutMs, () => finish(stopped('timeout')))
  const onAbort = (): void => finish(stopped('cancelled'))
  let over = false
  const finish = (value: IsolateOutcome): void => {
    if (over) return
    over = true
    deadline.stop()
    request.signal.removeEventListener('abort', onAbort)
    process.listen(undefined)
    outcome.resolve(value)
  }
  request.signal.addEventListener('abort', onAbort, { once: true })
  let requests = 0
  process.listen({
    onFrame(frame) {
      // The process itself refuses more: whoever sends them is not it any more, and a throw ends it.
      if (frame.kind === 'request') requests += 1
      if (requests > LIMITS.requests) throw new Error('too many requests')
      // Otherwise a late frame of an earlier call.
      if (frame.call === call) receive(frame, { process, request, deadline, finish })
    },
    onEnd: end => finish(fromEnd(end)),
  })
  return outcome.promise
}

interface Receiving {
  process: IsolateProcess
  request: IsolateRequest
  deadline: Clock
  finish(outcome: IsolateOutcome): void
}

function receive(frame: Frame, { process, request, deadline, finish }: Receiving): void {
  if (frame.kind === 'result') {
    const end = frame.text.indexOf('\n')
    finish({ ok: true, logs: toLogs(JSON.parse(frame.text.slice(0, end))), json: frame.text.slice(end + 1) })
  } else if (frame.kind === 'failure') {
    finish(toFailed(JSON.parse(frame.text)))
  } else if (frame.kind === 'request') {
    const { operation, value } = JSON.parse(frame.text) as { operation: string; value: unknown } // as above; checked by `answer`
    const reply = (text: string): void =>
      process.send({ kind: 'reply', call: frame.call, request: frame.request, text })
    request.answer(operation, value, deadline).then(
      answer => reply(JSON.stringify({ ok: true, value: answer })),
      (error: unknown) =>
        reply(
          JSON.stringify({
            ok: false,
            type: true,
            message: error instanceof Error ? error.message : String(error),
          }),
        ),
    )
  }
}

/** Written by isolate-child.ts, unless somebody got hold of it: what is not as it writes it is nothing. */
function toFailed(value: unknown): IsolateOutcome {
  const { reason, name, message, logs } = Object(value) as Partial<Record<keyof Failure, unknown>> // each is looked at
  const known = REASONS.find(each => each === reason) ?? 'crashed'
  const words = String(message).slice(0, LIMITS.message)
  const said = name === 'Error' || name === '' ? words : `${String(name).slice(0, 100)}: ${words}`
  return { ok: false, reason: known, message: said, logs: toLogs(logs) }
}

const REASONS: readonly Failure['reason'][] = ['threw', 'memory', 'output']

function toLogs(value: unknown): string[] {
  return Array.isArray(value) ? value.slice(0, LIMITS.logBytes).map(String) : []
}

function stopped(reason: 'timeout' | 'cancelled'): IsolateOutcome {
  return { ok: false, reason, message: '', logs: [] }
}

function fromEnd({ errors }: IsolateEnd): IsolateOutcome {
  // Ours, or V8's and the C++ library's own words.
  const isMemory = errors.includes(OUT_OF_MEMORY) || /heap|bad_alloc|allocation/i.test(errors)
  return { ok: false, reason: isMemory ? 'memory' : 'crashed', message: '', logs: [] }
}

function createDeadline(ms: number, onExpired: () => void): Clock & { stop(): void } {
  let left = ms
  let pauses = 0
  let since = performance.now()
  let timer: NodeJS.Timeout | undefined = setTimeout(onExpired, left)
  return {
    pause() {
      if (pauses === 0) {
        clearTimeout(timer)
        left -= performance.now() - since
      }
      pauses += 1
      let resumed = false
      return () => {
        if (resumed) return
        resumed = true
        pauses -= 1
        if (pauses > 0 || timer === undefined) return
        since = performance.now()
        timer = setTimeout(onExpired, Math.max(0, left))
      }
    },
    stop() {
      clearTimeout(timer)
      timer = undefined
    },
  }
}
