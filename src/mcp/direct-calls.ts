import { PassThrough, type Readable, type Writable } from 'node:stream'
import * as z from 'zod'
import type { Entry } from '../core/registry.ts'
import type { DoorContext } from './call-tool.ts'
import { LONGEST_LINE, longLines } from './long-lines.ts'
import { toMcpResult } from './mcp-result.ts'
import { progressNotifier } from './progress.ts'
import { findTool, type ListedTool } from './tool-list.ts'

/** What a direct call needs of the connection. */
export interface DirectDoor extends Pick<DoorContext, 'runtime' | 'run' | 'begun'> {
  readonly client: string
  /** Whether the client can ask its person. */
  readonly canAsk: boolean
  listTools(): Promise<readonly ListedTool[]>
  /** Calls that have not ended. */
  track(work: Promise<unknown>): void
}

/** The client at the other end. */
export interface DirectClient {
  /** Whether the line is one of an introduction that was answered. */
  greet(line: Buffer): boolean
  /** Undefined as long as no client of the older protocol has introduced itself. */
  door(): DirectDoor | undefined
  /** Called before the first piece goes to the SDK: the lines that it has missed. */
  missed(): readonly Buffer[]
}

/** Where answers go. */
export interface DirectOutput extends Pick<Writable, 'cork' | 'uncork'> {
  write(message: object): void
}

export interface DirectCalls {
  /** Everything that was not answered here, for the SDK. */
  readonly rest: Readable
  /** Ends what runs. */
  close(): void
}

/**
 * The short way of what clients of the older protocol ask most: the list of tools, and calls of tools of our own that only
 * look. The SDK would check, copy and check again each message and each file in it, which took longer than the call itself.
 * Whatever is not such a request, in one piece and spelled without anything unusual, goes to the SDK as it came; so does a
 * call that turns out to need an answer of a person.
 */
export function answerDirectly(stdin: Readable, output: DirectOutput, client: DirectClient): DirectCalls {
  const { write } = output
  const rest = new PassThrough()
  let isFirst = true
  const pass = (bytes: Buffer): void => {
    if (isFirst) for (const line of client.missed()) rest.write(line)
    isFirst = false
    if (!rest.write(bytes)) stdin.pause()
  }
  const running = new Map<string | number, AbortController>()

  const answer = async (call: DirectCall, context: DirectDoor, line: Buffer): Promise<void> => {
    const { id, entry, params } = call
    const stop = new AbortController()
    running.set(id, stop)
    try {
      const live = progressNotifier(params._meta?.progressToken, async notification =>
        write({ ...notification, jsonrpc: '2.0' }),
      )
      const result = await context.runtime.call({
        tool: params.name,
        input: params.arguments ?? {},
        caller: `mcp:${context.client}`,
        run: await context.run(),
        signal: stop.signal,
        ...live.onProgress,
      })
      await live.end()
      if (stop.signal.aborted) return
      if (result.question !== undefined && context.canAsk) {
        context.begun.set(id, result)
        pass(line)
      } else write({ result: toMcpResult(result, entry.tool), jsonrpc: '2.0', id })
    } catch (error) {
      if (!stop.signal.aborted) write(internalError(id, error))
    } finally {
      if (running.get(id) === stop) running.delete(id)
    }
  }

  const list = (context: DirectDoor, line: Buffer): boolean => {
    const message = parse(listRequest(), line)
    if (message === undefined) return false
    const { id } = message
    const answered = context.listTools().then(
      tools => write({ result: { tools }, jsonrpc: '2.0', id }),
      (error: unknown) => write(internalError(id, error)),
    )
    context.track(answered)
    return true
  }

  /** Whether the line was for us. */
  const take = (line: Buffer): boolean => {
    if (running.size > 0 && line.includes('"notifications/cancelled"')) {
      const cancelled = running.get(parse(cancellation(), line)?.params.requestId ?? '')
      cancelled?.abort()
      return cancelled !== undefined
    }
    if (client.greet(line)) return true
    const context = client.door()
    if (context !== undefined && line.includes('"tools/list"')) return list(context, line)
    const message = context !== undefined && line.includes('"tools/call"') ? readCall(line) : undefined
    if (context === undefined || message === undefined || running.has(message.id)) return false
    const entry = findTool(context.runtime.registry, message.params.name)
    if (entry === undefined || entry.tool.isPartOfKogu !== true || entry.risk !== 'low') return false
    context.track(answer({ ...message, entry }, context, line))
    return true
  }

  /** Lines that came together and have not had their turn. */
  let waiting: Buffer[] = []
  const long = longLines(pass, id => write(tooLong(id)))
  const begin = (piece: Buffer): void => {
    if (long.take(piece)) return
    if (!take(piece)) pass(piece)
  }
  let isTurn = false
  // Most calls wait for nothing and end within their turn. All of a burst at once, and each would end when the last one
  // does, with the memory of all in use; one at a time, and the client would be woken for each answer.
  const next = (): void => {
    if (isTurn) output.uncork()
    isTurn = waiting.length > 0
    if (!isTurn) return
    output.cork()
    for (const piece of waiting.splice(0, TOGETHER)) begin(piece)
    queueMicrotask(() => process.nextTick(next))
  }
  const onData = (chunk: Buffer): void => {
    for (let from = 0; from < chunk.length; ) {
      const end = chunk.indexOf(LINE_FEED, from) + 1 || chunk.length
      waiting.push(chunk.subarray(from, end))
      from = end
    }
    if (!isTurn) next()
  }
  const onEnd = (): void => {
    for (const piece of waiting.splice(0)) begin(piece)
    long.end()
    rest.end()
  }
  const onDrain = (): void => void stdin.resume()
  stdin.on('data', onData).once('end', onEnd).once('close', onEnd)
  rest.on('drain', onDrain)
  return {
    rest,
    close() {
      rest.off('drain', onDrain)
      stdin.off('data', onData).off('end', onEnd).off('close', onEnd).pause()
      waiting = []
      for (const stop of running.values()) stop.abort()
    },
  }
}

const LINE_FEED = 10

/** Lines that begin in the same turn. */
const TOGETHER = 4

interface DirectCall extends CallRequest {
  readonly entry: Entry
}

const id = () => z.union([z.string(), z.int()])

interface CallRequest {
  readonly id: string | number
  readonly params: {
    readonly name: string
    /** As it came, so that the pipeline checks what the client sent. */
    readonly arguments?: Record<string, unknown>
    readonly _meta?: { readonly progressToken?: string | number }
  }
}

/**
 * Nothing but these keys: whatever else a request can say is for the SDK to understand. By hand: the first call would wait
 * two milliseconds for a schema.
 */
function readCall(line: Buffer): CallRequest | undefined {
  const message = parseLine(line)
  if (!isObject(message) || !hasOnly(message, ['jsonrpc', 'id', 'method', 'params'])) return undefined
  const { jsonrpc, id, method, params } = message
  if (jsonrpc !== '2.0' || method !== 'tools/call' || !isId(id)) return undefined
  if (!isObject(params) || !hasOnly(params, ['name', 'arguments', '_meta'])) return undefined
  const { name, arguments: input, _meta: meta } = params
  if (typeof name !== 'string' || (input !== undefined && !isObject(input))) return undefined
  if (meta === undefined)
    return { id, params: { name, ...(input === undefined ? {} : { arguments: input }) } }
  if (!isObject(meta) || Object.keys(meta).some(key => key.startsWith('io.modelcontextprotocol/')))
    return undefined
  const { progressToken } = meta
  if (progressToken !== undefined && !isId(progressToken)) return undefined
  return {
    id,
    params: {
      name,
      ...(input === undefined ? {} : { arguments: input }),
      _meta: progressToken === undefined ? {} : { progressToken },
    },
  }
}

function isId(value: unknown): value is string | number {
  return typeof value === 'string' || Number.isSafeInteger(value)
}

function hasOnly(value: Record<string, unknown>, keys: readonly string[]): boolean {
  return Object.keys(value).every(key => keys.includes(key))
}

const listRequest = lazily(() =>
  z.strictObject({
    jsonrpc: z.literal('2.0'),
    id: id(),
    method: z.literal('tools/list'),
    params: z.strictObject({}).optional(),
  }),
)

const cancellation = lazily(() =>
  z.object({ method: z.literal('notifications/cancelled'), params: z.object({ requestId: id() }) }),
)

/** Building a schema takes longer than a start may wait for it. */
function lazily<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

function parse<T>(schema: z.ZodType<T>, line: Buffer): T | undefined {
  return schema.safeParse(parseLine(line)).data
}

function parseLine(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'))
  } catch {
    // Not JSON: the SDK says so.
    return undefined
  }
}

function internalError(id: string | number, error: unknown): object {
  const message = error instanceof Error ? error.message : 'Internal error'
  return { jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message } }
}

function tooLong(id: string | number | null): object {
  const message = `The message is longer than ${LONGEST_LINE / 1_000_000} MB. It was not read.`
  return { jsonrpc: '2.0', id, error: { code: INVALID_REQUEST, message } }
}

/** JSON-RPC 2.0, section 5.1. */
const INTERNAL_ERROR = -32_603
const INVALID_REQUEST = -32_600

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
