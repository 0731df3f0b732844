import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Processes, ProcessRequest, ProcessResult } from '../../core/processes.ts'
import type { GroupLimit, GroupLimits } from '../walls/cgroup.ts'
import { watchTree } from '../walls/watchdog.ts'
import { createDirectSpawner } from './direct-spawner.ts'
import { createHelperSpawner, HelperUnable } from './helper-spawner.ts'
import type { Spawner, Started } from './spawner.ts'

export interface SandboxProcesses extends Processes {
  run(request: RunRequest): Promise<RunResult>
  /** Starts the spawn helper without waiting, so that the first program need not wait for it. */
  prepare(): void
  /** Whether the kernel keeps this limit; otherwise a watchdog does, which sees less and comes later. */
  keeps(limit: GroupLimit): boolean
  /** Kills what still runs and ends the spawn helper. */
  close(): Promise<void>
}

export interface RunRequest extends ProcessRequest {
  /** Stops the program when it has written nothing for so long. */
  idleTimeoutMs?: number
  /** A file or named pipe that becomes standard input instead of `stdin`. */
  stdinPath?: string
  /** Files that the program gets as descriptors 3, 4, …, opened for reading and writing. */
  descriptors?: readonly string[]
  /** Options of `unshare`: the namespaces that it gets for itself. */
  namespaces?: readonly string[]
  /** For the program and all it starts: whoever exceeds one is killed. Needs the working folder `/` and no environment. */
  limits?: GroupLimits
  onStarted?: (pid: number) => void
}

export interface RunResult extends ProcessResult {
  /** It was stopped because it had written nothing for `idleTimeoutMs`. */
  idledOut: boolean
  /** The limit that ended it, or that it ran into before it ended. */
  limit: GroupLimit | null
}

export interface ProcessesOptions {
  /** From the polite signal to the one that cannot be refused. */
  killGraceMs?: number
  /** `direct` starts programs from this process; for one short-lived call it saves the start of the helper. */
  spawner?: 'helper' | 'direct'
}

const KILL_GRACE_MS = 1_000
/** Longer ones fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1
/** How long output may still come after the end: a program that left its group can hold the pipe for ever. */
const DRAIN_MS = 500

/** The one place that starts programs. Each gets its own process group, which is gone when `run` returns. */
export function createProcesses(options: ProcessesOptions = {}): SandboxProcesses {
  const direct = options.spawner === 'direct' || process.platform === 'win32'
  const state: { spawner: Spawner } = { spawner: direct ? createDirectSpawner() : createHelperSpawner() }
  const killGraceMs = options.killGraceMs ?? KILL_GRACE_MS
  return {
    async run(request) {
      const startedAt = performance.now()
      if (request.signal.aborted) return { ...NOT_STARTED, stopped: true }
      const program = await spawnOrFallBack(state, request)
      const keeps = state.spawner.keeps
      return await supervise(program, request, { startedAt, killGraceMs, keeps })
    },
    prepare: () => state.spawner.prepare(),
    keeps: limit => state.spawner.keeps(limit),
    close: () => state.spawner.close(),
  }
}

const NOT_STARTED: RunResult = {
  exitCode: null,
  signal: null,
  timedOut: false,
  idledOut: false,
  stopped: false,
  limit: null,
}

async function spawnOrFallBack(state: { spawner: Spawner }, request: RunRequest): Promise<Started> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await state.spawner.spawn(request)
    } catch (error) {
      if (error instanceof HelperUnable) state.spawner = createDirectSpawner()
      else if (!isCrowded(error) || attempt === CROWDED_ATTEMPTS || request.signal.aborted) throw error
      else await sleep(CROWDED_MS)
    }
  }
}

const CROWDED_ATTEMPTS = 20
const CROWDED_MS = 100

/** No more processes for now: those of a command that was just ended may still be going. */
function isCrowded(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return typeof cause === 'object' && cause !== null && 'code' in cause && cause.code === 'EAGAIN'
}

type StopReason = 'timedOut' | 'idledOut' | 'stopped' | GroupLimit

async function supervise(program: Started, request: RunRequest, limits: Limits): Promise<RunResult> {
  const watch = watchLimits(program, request, limits)
  const failures: unknown[] = []
  const deliver = (callback: ProcessRequest['onStdout']) => (chunk: Uint8Array) => {
    watch.sawOutput()
    if (callback === undefined || watch.reason() === 'stopped') return
    try {
      if (callback(chunk) === false) watch.stop('stopped')
    } catch (error) {
      failures.push(error)
      watch.stop('stopped')
    }
  }
  try {
    request.onStarted?.(program.pid)
    const drained = Promise.all([
      drain(program.stdout, deliver(request.onStdout)),
      drain(program.stderr, deliver(request.onStderr)),
    ])
    const ending = await program.ended
    await Promise.race([drained, watch.after(DRAIN_MS)])
    if (failures.length > 0) throw failures[0]
    const reason = watch.reason()
    return {
      ...ending,
      timedOut: reason === 'timedOut',
      idledOut: reason === 'idledOut',
      stopped: reason === 'stopped',
      limit: reason === 'memory' || reason === 'processes' ? reason : ending.limit,
    }
  } finally {
    watch.end()
    program.kill('SIGKILL')
    for (const stream of [program.stdout, program.stderr]) stream.destroy()
  }
}

interface Limits {
  startedAt: number
  killGraceMs: number
  keeps: (limit: GroupLimit) => boolean
}

/** Stops the program when its time is over, when it falls silent, or when the caller says so. */
function watchLimits(program: Started, request: RunRequest, { startedAt, killGraceMs, keeps }: Limits) {
  const state: { reason: StopReason | undefined; lastOutput: number } = {
    reason: undefined,
    lastOutput: performance.now(),
  }
  const timers = new Set<NodeJS.Timeout>()
  const after = (ms: number): Promise<void> =>
    new Promise(resolve => timers.add(setTimeout(resolve, Math.min(Math.max(1, ms), LONGEST_TIMER_MS))))
  const stop = (reason: StopReason): void => {
    if (state.reason !== undefined) return
    state.reason = reason
    // What grows beyond its limits gets no time to go on; with bubblewrap, the kernel ends all behind its walls.
    const isGrowing = reason === 'memory' || reason === 'processes'
    program.kill(isGrowing ? 'SIGKILL' : 'SIGTERM')
    void after(killGraceMs).then(() => program.kill('SIGKILL'))
    // Whoever has seen enough gets no more, and a program that only writes notices it at once.
    if (reason === 'stopped') for (const stream of [program.stdout, program.stderr]) stream.destroy()
  }
  const abort = (): void => stop('stopped')
  const watchSilence = async (limit: number): Promise<void> => {
    for (let left = limit; left > 0; left = state.lastOutput + limit - performance.now()) await after(left)
    stop('idledOut')
  }
  request.signal.addEventListener('abort', abort, { once: true })
  if (request.signal.aborted) abort()
  void after(request.timeoutMs - (performance.now() - startedAt)).then(() => stop('timedOut'))
  if (request.idleTimeoutMs !== undefined) void watchSilence(request.idleTimeoutMs)
  const endWatch =
    request.limits === undefined ? () => {} : watchTree(program, request.limits, { stop, keeps })
  return {
    stop,
    after,
    reason: () => state.reason,
    sawOutput: () => {
      state.lastOutput = performance.now()
    },
    end: () => {
      endWatch()
      for (const timer of timers) clearTimeout(timer)
      request.signal.removeEventListener('abort', abort)
    },
  }
}

function drain(stream: Readable, deliver: (chunk: Uint8Array) => void): Promise<void> {
  return new Promise(resolve => {
    stream.on('data', deliver)
    // A pipe that breaks has nothing more to say; how the program ended is told apart.
    stream.on('error', () => resolve())
    stream.on('close', () => resolve())
  })
}
