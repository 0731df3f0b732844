import type { StoredEvent } from '../store/tables/run-events.ts'
import { z } from './api.ts'

// When what happened in a run, for a picture of it: from its events alone, so that it is the same while it runs and later.

export const timelineItem = z
  .object({
    kind: z.enum(['step', 'call', 'agent', 'pause']),
    id: z.string(),
    execution: z.string(),
    label: z.string(),
    started_at: z.string(),
    /** Null when it goes on. */
    ended_at: z.string().nullable(),
    /** Of that time, how long somebody was waited for; never counted as work. */
    wait_ms: z.int(),
    state: z.enum(['running', 'waiting', 'ok', 'error', 'denied', 'unknown']),
    tokens: z.int().nullable(),
    cost_usd: z.number().nullable(),
  })
  .openapi('TimelineItem')

export type TimelineItem = z.infer<typeof timelineItem>

export function toTimeline(events: readonly StoredEvent[]): TimelineItem[] {
  const items = new Map<string, TimelineItem>()
  for (const stored of events) place(items, stored)
  return [...items.values()].sort((a, b) => (a.started_at < b.started_at ? -1 : 1))
}

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
      ...{ kind, id, execution: own, label, started_at: when, ended_at: null, wait_ms: 0 },
      ...{ state: 'running' as const, tokens: null, cost_usd: null },
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
      change(`call ${own}:${event.call}`, { state: 'waiting' })
      break
    case 'call.finished': {
      const refused = event.error !== null && REFUSED.has(event.error.code)
      const state = event.ok ? 'ok' : refused ? 'denied' : 'error'
      change(`call ${own}:${event.call}`, { ended_at: when, wait_ms: Math.round(event.waitMs), state })
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
