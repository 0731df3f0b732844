import type { EventHub } from '../events/event-hub.ts'
import { follow } from '../events/follow.ts'
import { createSpanMaker, type Span } from './to-spans.ts'

export interface ExportOptions {
  readonly hub: EventHub
  /** Of a collector that takes OTLP over HTTP, such as http://127.0.0.1:4318. */
  readonly endpoint: string
  readonly version: string
  readonly log: (line: Record<string, unknown>) => void
}

const MOST_MS = 10_000
/** What a collector that is down may cost in memory. */
const MOST_KEPT = 5_000

/** Sends spans of what happens in this workspace's runs, for as long as the server runs. A collector that is down holds nothing up. */
export function startExport({ hub, endpoint, version, log }: ExportOptions): { close(): Promise<void> } {
  const stopped = new AbortController()
  const maker = createSpanMaker()
  let waiting: Span[] = []
  const flush = async (): Promise<void> => {
    if (waiting.length === 0) return
    const batch = waiting
    waiting = []
    try {
      await send(endpoint, version, batch)
    } catch (error) {
      waiting = [...batch, ...waiting].slice(-MOST_KEPT)
      log({ level: 'warn', event: 'traces', message: error instanceof Error ? error.message : String(error) })
    }
  }
  const work = async (): Promise<void> => {
    const from = { hub, after: hub.newest, signal: stopped.signal, idleMs: 5_000 }
    for await (const batch of follow(from)) {
      waiting.push(...batch.flatMap(event => maker.take(event)))
      await flush()
    }
  }
  const ended = work().catch(error =>
    log({ level: 'error', event: 'traces', message: error instanceof Error ? error.message : String(error) }),
  )
  return {
    async close() {
      stopped.abort()
      await ended
      await flush()
    },
  }
}

async function send(endpoint: string, version: string, spans: readonly Span[]): Promise<void> {
  const response = await fetch(`${endpoint.replace(/\/$/, '')}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(toOtlp(version, spans)),
    redirect: 'error',
    signal: AbortSignal.timeout(MOST_MS),
  })
  await response.body?.cancel()
  if (!response.ok) throw new Error(`The collector answered ${response.status}.`)
}

function toOtlp(version: string, spans: readonly Span[]): object {
  const scope = { name: 'kogu', version }
  const resource = { attributes: toAttributes({ 'service.name': 'kogu', 'service.version': version }) }
  return { resourceSpans: [{ resource, scopeSpans: [{ scope, spans: spans.map(toSpan) }] }] }
}

const INTERNAL = 1
const ERROR = 2

function toSpan({ startMs, endMs, attributes, error, ...span }: Span): object {
  return {
    ...span,
    kind: INTERNAL,
    startTimeUnixNano: toNanoseconds(startMs),
    endTimeUnixNano: toNanoseconds(Math.max(startMs, endMs)),
    attributes: toAttributes(error === undefined ? attributes : { ...attributes, 'error.type': error }),
    status: error === undefined ? {} : { code: ERROR },
  }
}

function toNanoseconds(ms: number): string {
  return `${Math.round(ms)}000000`
}

function toAttributes(values: Span['attributes']): object[] {
  return Object.entries(values).map(([key, value]) => ({ key, value: toValue(value) }))
}

function toValue(value: string | number | boolean): object {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}
