// The process that runs model-written code, started by isolate-process.ts behind walls of its own. The code runs in a
// V8 isolate without Node; this file is the only thing that it can talk to, with strings and numbers. Each call gets
// a new context, so that nothing of one call is left for the next; it is made ahead, while nobody waits. The code runs
// on this process's only thread: passing it to another costs more than most calls, and Kogu ends the process anyway
// when the code does not give the thread back.
import { createRequire } from 'node:module'
import { Socket } from 'node:net'
import type * as Ivm from 'isolated-vm'
import { createFrameReader, encodeFrame, type Frame, type FrameKind, NO_CALL } from './frames.ts'
import type { Entry } from './inside/realm.ts'
import { INSIDE_SOURCE } from './inside/source.ts'
import { answerOwn, createCrypto } from './own-realm.ts'
import { type Failure, LIMITS, type Settings } from './protocol.ts'

const CHANNEL = 3
/** Kogu may have been put on this process's core: it gets to read the result before the next context is made. */
const SETTLE_MS = 1
const settings = JSON.parse(process.argv[2] ?? '') as Settings // made by isolate-process.ts
const { ivm } = createRequire(import.meta.url)(settings.addon) as { ivm: typeof Ivm }
const channel = new Socket({ fd: CHANNEL, readable: true, writable: true })

const send = (kind: FrameKind, call: string, text: string, request = 0): void => {
  channel.write(encodeFrame({ kind, call, request, text }))
}
// Not process.exit, which waits for the thread of the isolate: that may never come back.
const end = (): void => void process.kill(process.pid, 'SIGKILL')
channel.on('error', end)
// Kogu is gone: so is everything that it started.
channel.on('close', end)

const isolate = new ivm.Isolate({ memoryLimit: settings.memoryMb })
const inside = isolate.compileScriptSync(INSIDE_SOURCE, { filename: 'kogu:inside' })

/** One context, ready to run the tool once. */
interface Prepared {
  readonly run: Ivm.Reference<Entry['run']>
  readonly state: CallState
  /** Each keeps the whole context alive until it is released: this process itself hardly ever collects garbage. */
  readonly references: { release(): void }[]
}

/** What belongs to one call. */
interface CallState {
  id: string
  over: boolean
  logs: string[]
  loggedBytes: number
  requests: number
  readonly timers: Map<number, NodeJS.Timeout>
  readonly crypto: (value: unknown) => Promise<unknown>
  deliver: (kind: 'reply' | 'timer', number: number, text: string) => void
}

let code: Ivm.Script | undefined
let next: Prepared | undefined
let running: Prepared | undefined
/** Of calls that are over, but still on the stack: their last message waits for its answer. */
let over: Prepared[] = []
let isSettled = true
/** Cryptography goes on in threads of its own, whoever waits for it. */
let working = 0

channel.on('data', createFrameReader(LIMITS.frameBytes, receive))
send('ready', NO_CALL, '')

function receive({ kind, call, request, text }: Frame): void {
  if (kind === 'load') {
    try {
      code = isolate.compileScriptSync(text, { filename: 'tool.js' })
    } catch (error) {
      send('failure', call, JSON.stringify(toFailure(error)))
    }
  } else if (kind === 'call') {
    start(call, text)
  } else if (kind === 'reply' && running?.state.id === call) {
    running.state.deliver('reply', request, text)
  }
}

function start(id: string, input: string): void {
  try {
    settle()
    const prepared = next ?? prepare()
    next = undefined
    running = prepared
    prepared.state.id = id
    prepared.run.applySync(undefined, [input])
  } catch (error) {
    const failure = toFailure(error)
    send('failure', id, JSON.stringify(failure))
    if (failure.reason === 'memory') channel.end(end)
    else finish()
  }
}

function prepare(): Prepared {
  if (code === undefined) throw new Error('no code is loaded')
  const context = isolate.createContextSync()
  const references: Prepared['references'] = [context]
  const state: CallState = {
    id: NO_CALL,
    over: false,
    logs: [],
    loggedBytes: 0,
    requests: 0,
    timers: new Map(),
    crypto: createCrypto(),
    deliver: () => {},
  }
  const receiveInside = new ivm.Callback((operation: unknown, number: unknown, text: unknown) =>
    handle(state, String(operation), Number(number), String(text)),
  )
  const held = <T extends { release(): void }>(reference: T): T => {
    references.push(reference)
    return reference
  }
  const setUp = held(inside.runSync(context, { reference: true }))
  const limits = new ivm.ExternalCopy({ output: LIMITS.outputBytes, pending: LIMITS.pending }).copyInto()
  const toEntry = held(setUp.applySync(undefined, [receiveInside, limits], { result: { reference: true } }))
  const defined = held(code.runSync(context, { reference: true }))
  const made = held(toEntry.applySync(undefined, [defined.derefInto()], { result: { reference: true } }))
  const entry = made as Ivm.Reference<Entry> // what createRealm returns
  const run = held(entry.getSync('run', { reference: true }))
  const deliver = held(entry.getSync('deliver', { reference: true }))
  state.deliver = (kind, number, text) => {
    try {
      deliver.applySync(undefined, [kind, number, text])
    } catch (error) {
      if (!state.over) fail(state, toFailure(error))
    }
  }
  return { run, state, references }
}

/** What the code's realm sends. It waits for the answer, so it cannot send faster than this process works. */
function handle(state: CallState, operation: string, number: number, text: string): string {
  if (state.over) return '{"ok":true}'
  switch (operation) {
    case 'result':
      succeed(state, text)
      return ''
    case 'failure':
      fail(state, toThrown(JSON.parse(text)))
      return ''
    case 'output':
      fail(state, { reason: 'output', name: 'Error', message: '' })
      return ''
    case 'timer':
      startTimer(state, number, Number(text))
      return ''
    case 'stop':
      clearTimeout(state.timers.get(number))
      state.timers.delete(number)
      return ''
    case 'request':
      request(state, number, text)
      return ''
    case 'log':
      log(state, JSON.parse(text))
      return '{"ok":true}'
    default:
      return answerNow(operation, text)
  }
}

function answerNow(operation: string, text: string): string {
  try {
    return JSON.stringify({ ok: true, value: answerOwn(operation, JSON.parse(text)) })
  } catch (error) {
    return toRefusal(error)
  }
}

function startTimer(state: CallState, number: number, ms: number): void {
  const timer = setTimeout(
    () => {
      state.timers.delete(number)
      if (!state.over) state.deliver('timer', number, '')
    },
    Math.min(LIMITS.timerMs, Math.max(0, ms || 0)),
  )
  state.timers.set(number, timer)
}

function request(state: CallState, number: number, text: string): void {
  state.requests += 1
  const { operation, value } = JSON.parse(text)
  if (state.requests > LIMITS.requests) {
    state.deliver(
      'reply',
      number,
      toRefusal(new RangeError(`More than ${LIMITS.requests} requests were made.`)),
    )
  } else if (operation === 'crypto') {
    working += 1
    const work = state.crypto(value).finally(() => {
      working -= 1
      sayReady()
    })
    work.then(
      result => state.over || state.deliver('reply', number, JSON.stringify({ ok: true, value: result })),
      (error: unknown) => state.over || state.deliver('reply', number, toRefusal(error)),
    )
  } else {
    send('request', state.id, text, number)
  }
}

function log(state: CallState, line: unknown): void {
  const text = String(line)
  if (state.loggedBytes >= LIMITS.logBytes) return
  // With the line itself: empty ones add up too.
  state.loggedBytes += text.length + 1
  state.logs.push(text.slice(0, LIMITS.logBytes))
}

function succeed(state: CallState, value: string): void {
  if (Buffer.byteLength(value) > LIMITS.outputBytes) {
    fail(state, { reason: 'output', name: 'Error', message: '' })
    return
  }
  state.over = true
  send('result', state.id, `${JSON.stringify(state.logs)}\n${value}`)
  finish()
}

function fail(state: CallState, failure: Failure): void {
  state.over = true
  send('failure', state.id, JSON.stringify({ ...failure, logs: state.logs }))
  finish()
}

/** Nothing of the call stays. */
function finish(): void {
  if (running !== undefined) {
    running.state.over = true
    for (const timer of running.state.timers.values()) clearTimeout(timer)
    over.push(running)
    running = undefined
  }
  isSettled = false
  setTimeout(settle, SETTLE_MS)
}

/** Makes the next context ahead, and says that the code gave the thread back. */
function settle(): void {
  if (isSettled) return
  isSettled = true
  for (const { references } of over) for (const each of references) each.release()
  over = []
  try {
    next ??= prepare()
  } catch {
    // Told when it is called.
  }
  sayReady()
}

/** Kogu ends a process that does not say so for long. */
function sayReady(): void {
  if (isSettled && running === undefined && working === 0) send('ready', NO_CALL, '')
}

/** Code can change what its realm makes of an error (`Object.prototype.toJSON`): only words are taken from it. */
function toThrown(value: unknown): Failure {
  const { name, message } = Object(value) as { name?: unknown; message?: unknown } // any value has both, or neither
  return {
    reason: 'threw',
    name: String(name).slice(0, 100),
    message: String(message).slice(0, LIMITS.message),
  }
}

function toFailure(error: unknown): Failure {
  const { name, message } = error instanceof Error ? error : { name: 'Error', message: String(error) }
  const reason = isolate.isDisposed || message.includes('memory limit') ? 'memory' : 'threw'
  return { reason, name, message: message.replace(/ \[tool\.js:.*$/, '') }
}

function toRefusal(error: unknown): string {
  const { name, message } = error instanceof Error ? error : { name: 'Error', message: String(error) }
  return JSON.stringify({ ok: false, name, message, ...(error instanceof TypeError ? { type: true } : {}) })
}
