import { randomUUID } from 'node:crypto'
import type { RunEvent } from '../../agents/events.ts'
import type { Queries } from '../database/database.ts'
import { toJson } from './claims.ts'

/** An event with its place among all events of all runs. */
export interface StoredEvent {
  readonly seq: number
  readonly run: string
  readonly at: Date
  readonly event: RunEvent
}

/** Whoever waits for events listens to this. */
export const EVENTS_CHANNEL = 'kogu_run_events'

/** Numbers are given out in the order of commits: otherwise a reader that has seen 7 could miss a 6 that comes later. */
const EVENT_LOCK = 4_711_002

export async function insertEvents(
  { query }: Queries,
  run: string,
  execution: string,
  events: readonly { id: string; at: string; event: RunEvent }[],
): Promise<void> {
  if (events.length === 0) return
  const rows = events.map(({ id, at, event: { type, ...data } }) => ({ id, at, type, data }))
  await query(
    `WITH turn AS MATERIALIZED (SELECT pg_advisory_xact_lock(${EVENT_LOCK})),
     said AS (SELECT pg_notify('${EVENTS_CHANNEL}', $1::text))
     INSERT INTO run_events (id, workflow_run_id, execution_id, type, data, at)
     SELECT e.id, $1::uuid, $2::uuid, e.type, e.data, e.at
     FROM turn, said, jsonb_to_recordset($3) AS e(id uuid, at timestamptz, type text, data jsonb)
     ON CONFLICT (id) DO NOTHING`,
    [run, execution, toJson(rows)],
  )
}

export function newEvent(event: RunEvent): { id: string; at: string; event: RunEvent } {
  return { id: randomUUID(), at: new Date().toISOString(), event }
}

/** Events after a number, in order; of one run or of all. */
export async function listEvents(
  { query }: Queries,
  { run, after = 0, limit = 1000 }: { run?: string; after?: number; limit?: number },
): Promise<StoredEvent[]> {
  const rows = await query<{ seq: string; run: string; at: Date; type: string; data: object }>(
    `SELECT seq, workflow_run_id AS run, at, type, data FROM run_events
     WHERE ($1::uuid IS NULL OR workflow_run_id = $1) AND seq > $2 ORDER BY seq LIMIT $3`,
    [run ?? null, after, limit],
  )
  return rows.map(row => ({
    seq: Number(row.seq),
    run: row.run,
    at: row.at,
    // Written by insertEvents only.
    event: { type: row.type, ...row.data } as RunEvent,
  }))
}
