// The process that runs model-written code, started by isolate-process.ts behind walls of its own. The code runs in a
// V8 isolate without Node; this file is the only thing that it can talk to, with strings and numbers. Each call gets
// a new context, so that nothing of one call is left for the next; it is made ahead, while nobody waits.
import { writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Socket } from 'node:net'
import type * as Ivm from 'isolated-vm'
import { createFrameReader, encodeFrame, type Frame, type FrameKind, NO_CALL } from './frames.ts'
import { INSIDE_SOURCE } from './inside/source.ts'
import { answerOwn, createCrypto } from './own-realm.ts'
import { type Failure, LIMITS, OUT_OF_MEMORY, type Settings } from './protocol.ts'

const CHANNEL = 3
const settings = JSON.parse(process.argv[2] ?? '') as Settings // made by isolate-process.ts
const { ivm } = createRequire(import.meta.url)(settings.addon) as { ivm: typeof Ivm }
const channel = new Socket({ fd: CHANNEL, readable: true, writable: true })

const send = (kind: FrameKind, call: string, text: string, request = 0): void => {
  channel.write(encodeFrame({ kind, call, request, text }))
}
// Not process.exit, which waits for the thread of the isolate: that may never come back.
const end = (): void => void process.kill(process.pid, 'SIGKILL')
const endWithoutMemory = (): void => {
  writeSync(2, `${OUT_OF_MEMORY}\n`)
  end()
}
channel.on('error', end)
// Kogu is gone: so is everything that it started.
channel.on('close', end)

const isolate = new ivm.Isolate({
  memoryLimit: settings.memoryMb,
  // V8 has lost control over the isolate, and its thread sleeps for ever.
  onCatastrophicError: endWithoutMemory,
})
const inside = isolate.compileScriptSync(INSIDE_SOURCE, { filename: 'kogu:inside' })

/** One context, ready to run the tool once. */
interface Prepared {
  readonly context: Ivm.Context
  readonly entry: Ivm.Reference<Record<string, (...values: unknown[]) => void>>
  readonly state: CallState
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
let next: Promise<Prepared> | undefined
let running: Prepared | undefined

channel.on(
  'data',
  createFrameReader(LIMITS.frameBytes, frame => {
    void receive(frame)
  }),
)
// A call whose isolate V8 gave up is not always told so.
setInterval(() => {
  if (isolate.isDisposed) endWithoutMemory()
}, 50)
send('ready', NO_CALL, '')

async function receive({ kind, call, request, text }: Frame): Promise<void> {
  if (kind === 'load') {
    try {
      code = isolate.compileScriptSync(text, { filename: 'tool.js' })
      next = prepare()
      next.catch(() => {
        // Told when it is called.
      })
    } catch (error) {
      send('failure', call, JSON.stringify(toFailure(error)))
    }
  } else if (kind === 'call') {
    await start(call, text)
  } else if (kind === 'reply' && running?.state.id === call) {
    running.state.deliver('reply', request, text)
  }
}

async function start(id: string, input: string): Promise<void> {
  try {
    const prepared = await (next ?? prepare())
    next = undefined
    running = prepared
    prepared.state.id = id
    const run = await prepared.entry.get('run', { reference: true })
    await run.apply(undefined, [input])
  } catch (error) {
    const failure = toFailure(error)
    send('failure', id, JSON.stringify(failure))
    if (failure.reason === 'memory') channel.end(end)
    else finish()
  }
}

async function prepare(): Promise<Prepared> {
  if (code === undefined) throw new Error('no code is loaded')
  const context = await isolate.createContext()
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
  const setUp = await inside.run(context, { reference: true })
  const limits = new ivm.ExternalCopy({ output: LIMITS.outputBytes, pending: LIMITS.pending }).copyInto()
  const toEntry = await setUp.apply(undefined, [receiveInside, limits], { result: { reference: true } })
  const defined = await code.run(context, { reference: true })
  const made = await toEntry.apply(undefined, [defined.derefInto()], { result: { reference: true } })
  const entry = made as Prepared['entry'] // what createRealm in inside/realm.ts returns
  const deliver = await entry.get('deliver', { reference: true })
  state.deliver = (kind, number, text) => {
    deliver.apply(undefined, [kind, number, text]).catch((error: unknown) => {
      if (!state.over) fail(state, toFailure(error))
    })
  }
  return { context, entry, state }
}

/** What the code's realm sends. It waits for the answer, so it cannot send faster than this process works. */
function handle(state: CallState, operation: string, number: number, text: string): string {
  if (state.over) return '{"ok":true}'
  switch (operation) {
    case 'result':
      succeed(state, text)
      return ''
    case 'failure':
      fail(state, { reason: 'threw', ...JSON.parse(text) })
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
    state.crypto(value).then(
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
  state.loggedBytes += text.length
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

/** Nothing of the call stays, and the next context is made. */
function finish(): void {
  const over = running
  running = undefined
  if (over !== undefined) {
    over.state.over = true
    for (const timer of over.state.timers.values()) clearTimeout(timer)
    // Not while it is still on the stack: the call's last message waits for its answer.
    setImmediate(() => over.context.release())
  }
  if (next !== undefined || code === undefined) return
  next = prepare()
  next.catch(() => {
    // Told when it is called.
  })
}

function toFailure(error: unknown): Failure {
  const { name, message } = error instanceof Error ? error : { name: 'Error', message: String(error) }
  const reason = /memory limit|Isolate is disposed|Isolate was disposed/.test(message) ? 'memory' : 'threw'
  return { reason, name, message: message.replace(/ \[tool\.js:.*$/, '') }
}

function toRefusal(error: unknown): string {
  const { name, message } = error instanceof Error ? error : { name: 'Error', message: String(error) }
  return JSON.stringify({ ok: false, name, message, ...(error instanceof TypeError ? { type: true } : {}) })
}
