import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { Socket } from 'node:net'
import { devNull } from 'node:os'
import { inheritedDescriptors } from '../processes/inherited.ts'
import { killGroup } from '../processes/kill-group.ts'
import { findOwnProgram, OWN_PROGRAM_FLAGS } from '../processes/own-program.ts'
import type { SandboxSystem } from '../walls/system.ts'
import { descendantsOf, residentBytes } from '../walls/watchdog.ts'
import { findAddon } from './addon.ts'
import { createFrameReader, encodeFrame, type Frame } from './frames.ts'
import { LIMITS, OUT_OF_MEMORY, type Settings } from './protocol.ts'
import { FILTER_DESCRIPTOR, openFilter, toWalledCommand } from './walls.ts'

/** How an isolate's process ended. */
export interface IsolateEnd {
  readonly exitCode: number | null
  readonly signal: string | null
  /** The beginning of what it wrote to standard error: Node's and V8's own words. */
  readonly errors: string
}

export interface IsolateListener {
  onFrame(frame: Frame): void
  onEnd(end: IsolateEnd): void
}

/** One process that runs the code of one tool. */
export interface IsolateProcess {
  readonly ready: Promise<void>
  readonly ended: Promise<IsolateEnd>
  /** Whether the code of the last call has come to its end: it can go on after its result. */
  readonly isSettled: boolean
  send(frame: Frame): void
  /** Tells the current call only: a process outlives thousands of them. */
  listen(listener: IsolateListener | undefined): void
  kill(): void
  /** Whether Kogu must stay alive for it. */
  hold(isBusy: boolean): void
}

export interface IsolateOptions {
  /** Undefined when there is no second wall. */
  readonly system: SandboxSystem | undefined
  readonly memoryMb: number
}

const CHANNEL = 3
/** What Node and V8 map for themselves; most of it is address space that is never touched. */
const MAPPED_MB = 1200
/** What is in use before any of the tool's code runs, and the garbage of a young heap. */
const RESIDENT_MB = 128
const WATCH_MS = 50
const CPU_SECONDS = 600
const OPEN_FILES = 64
const MOST_ERRORS = 4_096
/** isolated-vm needs Node without a start-up snapshot. */
const NODE_FLAGS = ['--no-node-snapshot', '--max-old-space-size=64']

/** Limits that no program inside can raise: data, processor time, descriptors; no core dump, no file of any size. */
const LIMIT_SCRIPT =
  'ulimit -c 0 && ulimit -f 0 && ulimit -d "$1" && ulimit -t "$2" && ulimit -n "$3" && shift 3 && exec "$@"'

export function startIsolate({ system, memoryMb }: IsolateOptions): IsolateProcess {
  const node = process.execPath
  const program = findOwnProgram('isolate/isolate-child')
  const addon = findAddon()
  const settings: Settings = { addon, memoryMb }
  const command: [string, ...string[]] = [
    node,
    ...OWN_PROGRAM_FLAGS,
    ...NODE_FLAGS,
    program,
    JSON.stringify(settings),
  ]
  const filter = system === undefined ? undefined : openFilter()
  try {
    const walled =
      system === undefined
        ? { file: node, args: command.slice(1) }
        : toWalledCommand(command, { node, program, addon }, system, filter !== undefined)
    return watch(start(withLimits(walled.file, walled.args, memoryMb), filter), memoryMb)
  } finally {
    if (filter !== undefined) closeSync(filter)
  }
}

function withLimits(file: string, args: readonly string[], memoryMb: number): [string, ...string[]] {
  if (process.platform === 'win32') return [file, ...args]
  const kibibytes = (MAPPED_MB + 2 * memoryMb) * 1024
  const values = [kibibytes, CPU_SECONDS, OPEN_FILES].map(String)
  return ['/bin/sh', '-c', LIMIT_SCRIPT, 'kogu', ...values, file, ...args]
}

function start([file, ...args]: [string, ...string[]], filter: number | undefined): ChildProcess {
  const empty = openSync(devNull, 'r')
  try {
    const stdio: ('ignore' | 'pipe' | number)[] = ['ignore', 'ignore', 'pipe', 'pipe']
    if (filter !== undefined) stdio[FILTER_DESCRIPTOR] = filter
    for (const inherited of inheritedDescriptors()) {
      while (stdio.length <= inherited) stdio.push('ignore')
      // Node passes on what it is not told of; this puts nothing in its place.
      if (stdio[inherited] === 'ignore') stdio[inherited] = empty
    }
    return spawn(file, args, { cwd: '/', env: {}, stdio, detached: process.platform !== 'win32' })
  } finally {
    closeSync(empty)
  }
}

function watch(child: ChildProcess, memoryMb: number): IsolateProcess {
  const channel = child.stdio[CHANNEL]
  // Node gives every `pipe` a socket.
  if (!(channel instanceof Socket)) throw new Error('unreachable')
  const ready = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<IsolateEnd>()
  let listener: IsolateListener | undefined
  let over: IsolateEnd | undefined
  let errors = ''
  let isSettled = false
  const kill = (): void => killGroup(child, 'SIGKILL')
  const watchdog = createWatchdog(child.pid ?? 0, RESIDENT_MB + 1.5 * memoryMb, () => {
    errors = OUT_OF_MEMORY
    kill()
  })
  const read = createFrameReader(LIMITS.frameBytes, frame => {
    isSettled = frame.kind === 'ready'
    if (isSettled) ready.resolve()
    else listener?.onFrame(frame)
  })
  channel.on('data', chunk => {
    try {
      read(chunk)
    } catch {
      // It does not keep to the protocol, so it is not ours any more.
      kill()
    }
  })
  channel.on('error', kill)
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (errors.length < MOST_ERRORS) errors += text.slice(0, MOST_ERRORS)
  })
  const end = (exitCode: number | null, signal: string | null): void => {
    ready.reject(new Error(errors.trim() || `the isolate's process ended with ${exitCode ?? signal}`))
    over = { exitCode, signal, errors }
    ended.resolve(over)
    listener?.onEnd(over)
  }
  child.on('error', error => {
    errors += error.message
    end(null, null)
  })
  child.on('close', (exitCode, signal) => {
    watchdog(false)
    kill()
    end(exitCode, signal)
  })
  // Nobody may be waiting for it.
  ready.promise.catch(() => undefined)
  const hold = (isBusy: boolean): void => {
    watchdog(isBusy)
    for (const handle of [child, channel, child.stderr as Socket | null])
      isBusy ? handle?.ref() : handle?.unref()
  }
  hold(false)
  return {
    ready: ready.promise,
    ended: ended.promise,
    get isSettled() {
      return isSettled
    },
    send: frame => void channel.write(encodeFrame(frame)),
    listen(next) {
      listener = next
      if (over !== undefined) next?.onEnd(over)
    },
    kill,
    hold,
  }
}

/**
 * Looks at the memory that is really in use while a call runs: strings and buffers lie outside of what V8 counts, and
 * the limit of the address space is far above it.
 */
function createWatchdog(pid: number, mostMb: number, onExceeded: () => void): (isBusy: boolean) => void {
  let timer: NodeJS.Timeout | undefined
  return isBusy => {
    clearInterval(timer)
    timer = undefined
    if (!isBusy || process.platform !== 'linux') return
    timer = setInterval(() => {
      const bytes = descendantsOf(pid, 8).reduce((total, each) => total + residentBytes(each), 0)
      if (bytes > mostMb * 1024 ** 2) onExceeded()
    }, WATCH_MS)
  }
}
