import { randomUUID } from 'node:crypto'
import type { RunEvent, WorkspaceEvent } from '../../agents/events.ts'
import type { Queries } from '../database/database.ts'
import { LOCKS } from '../database/locks.ts'
import { toJson } from './json.ts'
import { ofPlace, type RunPlace } from './run-place.ts'

/** An event with its place among all events of all runs. */
export interface StoredEvent {
  readonly seq: number
  /** Null when it belongs to no run of the database. */
  readonly run: string | null
  readonly execution: string | null
  readonly at: Date
  readonly event: RunEvent | WorkspaceEvent
}

/** Whoever waits for events listens to this. */
export const EVENTS_CHANNEL = 'kogu_run_events'

// Numbers are given out in the order of commits: otherwise a reader that has seen 7 could miss a 6 that comes later.

export async function insertEvents(
  { query }: Queries,
  run: string,
  execution: string,
  events: readonly { id: string; at: string; event: RunEvent }[],
): Promise<void> {
  if (events.length === 0) return
  const rows = events.map(({ id, at, event: { type, ...data } }) => ({ id, at, type, data }))
  await query(
    `WITH turn AS MATERIALIZED (SELECT pg_advisory_xact_lock(${LOCKS.events})),
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

/** What happens outside runs. The same id is written once, whoever sees it. */
export async function insertWorkspaceEvents(
  { query }: Queries,
  { workspace, workspaceId }: RunPlace,
  events: readonly { id: string; at: string; event: WorkspaceEvent }[],
): Promise<void> {
  if (events.length === 0) return
  const rows = events.map(({ id, at, event: { type, ...data } }) => ({ id, at, type, data }))
  await query(
    `WITH turn AS MATERIALIZED (SELECT pg_advisory_xact_lock(${LOCKS.events})),
     said AS (SELECT pg_notify('${EVENTS_CHANNEL}', ''))
     INSERT INTO run_events (id, workspace, workspace_id, type, data, at)
     SELECT e.id, $1, $3, e.type, e.data, e.at
     FROM turn, said, jsonb_to_recordset($2) AS e(id uuid, at timestamptz, type text, data jsonb)
     ON CONFLICT (id) DO NOTHING`,
    [workspace, toJson(rows), workspaceId],
  )
}

/** The number of the newest event; 0 before the first. */
export async function newestEvent({ query }: Queries): Promise<number> {
  const [row] = await query<{ seq: string | null }>('SELECT max(seq) AS seq FROM run_events')
  return Number(row?.seq ?? 0)
}

export interface EventFilter {
  readonly run?: string
  readonly place?: RunPlace
  /** Of one call of the run, by its id on record. */
  readonly call?: string | undefined
  readonly after?: number
  readonly limit?: number
}

/** Events after a number, in order; of one run, of one place or of all. */
export async function listEvents(
  { query }: Queries,
  { run, place, call, after = 0, limit = 1000 }: EventFilter,
): Promise<StoredEvent[]> {
  const rows = await query<{
    seq: string
    run: string | null
    execution: string | null
    at: Date
    type: string
    data: object
  }>(
    `SELECT e.seq, e.workflow_run_id AS run, e.execution_id AS execution, e.at, e.type, e.data
     FROM run_events e LEFT JOIN workflow_runs r ON r.id = e.workflow_run_id
     WHERE e.seq > $2 AND ($1::text IS NULL OR e.workflow_run_id::text = $1 OR e.data->>'run' = $1)
       AND ($4::text IS NULL OR (${ofPlace('r', '$4', '$5')}) OR (${ofPlace('e', '$4', '$5')}))
       AND ($6::text IS NULL OR (e.execution_id, e.data->>'call') IN (
         SELECT f.execution_id, f.data->>'call' FROM run_events f WHERE f.workflow_run_id::text = $1
           AND f.type = 'call.finished' AND coalesce(f.data->>'record', f.data->>'call') = $6)) ORDER BY e.seq LIMIT $3`,
    [run ?? null, after, limit, place?.workspace ?? null, place?.workspaceId ?? null, call ?? null],
  )
  return rows.map(row => ({
    seq: Number(row.seq),
    run: row.run,
    execution: row.execution,
    at: row.at,
    // Written by the functions above only.
    event: { type: row.type, ...row.data } as StoredEvent['event'],
  }))
}
