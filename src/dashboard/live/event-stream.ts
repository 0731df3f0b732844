import type { ServerEvent } from '../../client.ts'

// One connection for all tabs of a browser: a browser opens only six to a server, and the seventh tab would load nothing.
// The tab that holds the lock listens and tells the others; when it is closed the next one takes over where it was.

export type LiveState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  | { readonly kind: 'reconnecting'; readonly inMs: number }
  | { readonly kind: 'offline'; readonly since: number }

export interface EventStream {
  state(): LiveState
  /** Tells of every event, in order and without gaps; `resync` when everything has to be loaded again. */
  onEvent(listener: (event: ServerEvent) => void): () => void
  onState(listener: () => void): () => void
  retry(): void
  close(): void
}

const PAUSES_MS = [1_000, 2_000, 5_000, 10_000, 30_000]
const SILENCE_MS = 40_000
/** After so many failures it is not a hiccup. */
const OFFLINE_AFTER = 3

type Told =
  | { readonly event: ServerEvent }
  | { readonly state: LiveState; readonly seq: number }
  /** From a tab that has just been opened: how does it stand? */
  | { readonly ask: true }

export function openEventStream(): EventStream {
  const listeners = new Set<(event: ServerEvent) => void>()
  const watchers = new Set<() => void>()
  const channel = new BroadcastChannel('kogu-events')
  const closed = new AbortController()
  const now: { state: LiveState; seq: number | undefined; retry: () => void; answer: () => void } = {
    state: { kind: 'connecting' },
    seq: undefined,
    retry: () => undefined,
    answer: () => undefined,
  }
  const setState = (state: LiveState): void => {
    now.state = state
    for (const watch of watchers) watch()
  }
  const emit = (event: ServerEvent): void => {
    now.seq = event.seq ?? now.seq
    for (const listener of listeners) listener(event)
  }
  channel.onmessage = ({ data }: MessageEvent<Told>) => {
    if ('event' in data) emit(data.event)
    else if ('state' in data) {
      const isFirst = now.seq === undefined
      now.seq = Math.max(now.seq ?? 0, data.seq)
      setState(data.state)
      // What happened while this tab was opened was told to others only.
      if (isFirst) emit({ type: 'resync' })
    } else now.answer()
  }
  channel.postMessage({ ask: true } satisfies Told)
  void navigator.locks
    .request('kogu-events', { signal: closed.signal }, async () => {
      const tell = (state: LiveState): void => {
        setState(state)
        channel.postMessage({ state, seq: now.seq ?? 0 } satisfies Told)
      }
      const hear = (event: ServerEvent): void => {
        emit(event)
        channel.postMessage({ event } satisfies Told)
      }
      const connection = keepConnected({ after: () => now.seq, tell, hear })
      now.retry = connection.retry
      now.answer = () => tell(now.state)
      await new Promise<void>(resolve => closed.signal.addEventListener('abort', () => resolve()))
      connection.close()
    })
    // Closed while it waited for the lock.
    .catch(() => undefined)
  return {
    state: () => now.state,
    onEvent(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    onState(listener) {
      watchers.add(listener)
      return () => watchers.delete(listener)
    },
    retry: () => now.retry(),
    close() {
      closed.abort()
      channel.close()
    },
  }
}

interface ConnectionParts {
  readonly after: () => number | undefined
  readonly tell: (state: LiveState) => void
  readonly hear: (event: ServerEvent) => void
}

function keepConnected({ after, tell, hear }: ConnectionParts): { retry(): void; close(): void } {
  const now: { source?: EventSource; timer?: number; silence?: number; failures: number; since: number } = {
    failures: 0,
    since: 0,
  }
  const stop = (): void => {
    now.source?.close()
    clearTimeout(now.timer)
    clearTimeout(now.silence)
  }
  const fail = (): void => {
    stop()
    if (now.failures === 0) now.since = Date.now()
    const inMs = PAUSES_MS[Math.min(now.failures, PAUSES_MS.length - 1)] ?? 30_000
    now.failures += 1
    tell(
      now.failures > OFFLINE_AFTER ? { kind: 'offline', since: now.since } : { kind: 'reconnecting', inMs },
    )
    now.timer = window.setTimeout(connect, inMs)
  }
  const heard = (): void => {
    clearTimeout(now.silence)
    now.silence = window.setTimeout(fail, SILENCE_MS)
  }
  const connect = (): void => {
    stop()
    const from = after()
    const source = new EventSource(from === undefined ? '/api/events' : `/api/events?after=${from}`)
    now.source = source
    source.onopen = () => {
      now.failures = 0
      heard()
      tell({ kind: 'live' })
      // What happened before the very first connection was never told of.
      if (from === undefined) hear({ type: 'resync' })
    }
    source.onerror = fail
    for (const type of EVENT_TYPES) {
      source.addEventListener(type, ({ data }: MessageEvent<string>) => {
        heard()
        // Written by the server's events route.
        if (type !== 'idle') hear({ type, ...JSON.parse(data) } as ServerEvent)
      })
    }
  }
  connect()
  return {
    retry() {
      now.failures = 0
      connect()
    },
    close: stop,
  }
}

/** An EventSource tells of an event only to those who ask for it by name. */
const EVENT_TYPES = [
  ...['idle', 'resync', 'run.created', 'run.started', 'run.finished', 'run.paused', 'step.started'],
  ...[
    'step.retry',
    'model.failed',
    'step.finished',
    'text.delta',
    'call.proposed',
    'call.waiting',
    'call.finished',
  ],
  ...['call.started', 'call.output', 'usage', 'pipeline.changed'],
  ...['call.ambiguous', 'result.rejected', 'message.received', 'budget.warning', 'limit.near'],
  ...['agent.created'],
  ...['agent.started', 'agent.finished', 'plan.proposed', 'plan.approved', 'plan.rejected'],
  ...[
    'review.finished',
    'orchestration.finished',
    'approval.created',
    'approval.updated',
    'approval.closed',
    'approval.touched',
    'tool.changed',
  ],
  ...[
    'pipeline.started',
    'pipeline.step',
    'pipeline.finished',
    'config.changed',
    'mcp.status',
    'panel.changed',
  ],
] as const
