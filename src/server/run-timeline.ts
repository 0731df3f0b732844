import type { StoredEvent } from '../store/tables/run-events.ts'
import { z } from './api.ts'

// When what happened in a run, for a picture of it: from its events alone, so that it is the same while it runs and later.

export const timelineItem = z
  .object({
    /** `pause`: the run stood still, or waited for a worker. */
    kind: z.enum(['step', 'call', 'agent', 'pause']),
    id: z.string(),
    execution: z.string(),
    label: z.string(),
    started_at: z.string(),
    /** Null when it goes on. */
    ended_at: z.string().nullable(),
    /** Of that time, how long somebody was waited for; never counted as work. */
    wait_ms: z.int(),
    /** Of that time, when a vendor was given time before another try. */
    backoffs: z.array(z.object({ started_at: z.string(), ms: z.int() })),
    /** Of a call: its id among the calls of the run, and the question that it waits for. */
    record: z.string().nullable(),
    approval: z.string().nullable(),
    state: z.enum(['running', 'waiting', 'ok', 'error', 'denied', 'unknown']),
    tokens: z.int().nullable(),
    cost_usd: z.number().nullable(),
  })
  .openapi('TimelineItem')

export type TimelineItem = z.infer<typeof timelineItem>

/** With the time at which the run was asked for, also how long it waited for a worker. */
export function toTimeline(events: readonly StoredEvent[], createdAt?: Date): TimelineItem[] {
  const items = new Map<string, TimelineItem>()
  const [first] = events
  if (
    createdAt !== undefined &&
    first !== undefined &&
    first.at.getTime() - createdAt.getTime() >= LEAST_QUEUED_MS
  )
    items.set('pause queued', {
      ...EMPTY,
      ...{ kind: 'pause', id: 'queued', execution: first.execution ?? '', label: 'queued', state: 'ok' },
      ...{ started_at: createdAt.toISOString(), ended_at: first.at.toISOString() },
    })
  for (const stored of events) place(items, stored)
  return [...items.values()].sort((a, b) => (a.started_at < b.started_at ? -1 : 1))
}

function endOpen(items: Map<string, TimelineItem>, when: string, execution?: string): void {
  for (const [key, item] of items)
    if (item.ended_at === null && (execution === undefined || item.execution === execution))
      items.set(key, { ...item, ended_at: when, state: item.state === 'running' ? 'unknown' : item.state })
}

/** What is shorter is the way to the database. */
const LEAST_QUEUED_MS = 100

const EMPTY = { wait_ms: 0, backoffs: [], record: null, approval: null, tokens: null, cost_usd: null }

/** Codes of calls that were not let through, beside those that failed. */
export const REFUSED: ReadonlySet<string> = new Set([
  'denied',
  'forbidden',
  'not_enabled',
  'expired',
  'needs_approval',
])

function place(items: Map<string, TimelineItem>, { event, execution, at, seq }: StoredEvent): void {
  const when = at.toISOString()
  const own = execution ?? ''
  const begin = (kind: TimelineItem['kind'], id: string, label: string, key = `${kind} ${id}`): void => {
    items.set(key, {
      ...EMPTY,
      ...{ kind, id, execution: own, label, started_at: when, ended_at: null, state: 'running' as const },
    })
  }
  const change = (key: string, values: Partial<TimelineItem>): void => {
    const known = items.get(key)
    if (known !== undefined) items.set(key, { ...known, ...values })
  }
  switch (event.type) {
    case 'step.started':
      begin('step', `${own}:${event.turn}`, String(event.turn))
      break
    case 'step.retry': {
      const step = [...items.values()].findLast(
        ({ kind, execution: of, ended_at }) => kind === 'step' && of === own && ended_at === null,
      )
      if (step !== undefined)
        change(`step ${step.id}`, {
          backoffs: [...step.backoffs, { started_at: when, ms: Math.round(event.waitMs) }],
        })
      break
    }
    case 'step.finished': {
      const { input, cached, cacheWrite, output, reasoning } = event.usage
      const tokens = input + cached + cacheWrite + output + reasoning
      const done = { ended_at: when, state: 'ok' as const, tokens, cost_usd: event.costUsd }
      change(`step ${own}:${event.turn}`, done)
      break
    }
    // Ids of calls are the model's own: two agents of a run may have the same.
    case 'call.proposed':
      begin('call', event.call, event.tool, `call ${own}:${event.call}`)
      break
    case 'call.waiting':
      change(`call ${own}:${event.call}`, { state: 'waiting', approval: event.approval })
      break
    case 'call.finished': {
      const refused = event.error !== null && REFUSED.has(event.error.code)
      const state = event.ok ? 'ok' : refused ? 'denied' : 'error'
      const { record = event.call, waitMs } = event
      change(`call ${own}:${event.call}`, { ended_at: when, wait_ms: Math.round(waitMs), state, record })
      break
    }
    case 'call.ambiguous':
      change(`call ${own}:${event.call}`, { ended_at: when, state: 'unknown' })
      break
    case 'agent.started':
      begin('agent', event.execution, event.name)
      break
    case 'agent.finished':
      change(`agent ${event.execution}`, {
        ended_at: when,
        state: event.status === 'completed' ? 'ok' : 'error',
      })
      // Whatever it was doing has ended with it.
      endOpen(items, when, event.execution)
      break
    case 'run.finished':
      endOpen(items, when)
      break
    case 'run.paused':
      begin('pause', String(seq), event.reason)
      break
    case 'run.started':
      for (const item of items.values())
        if (item.kind === 'pause' && item.ended_at === null) {
          change(`pause ${item.id}`, { ended_at: when, state: 'ok' })
        }
      break
    default:
  }
}
