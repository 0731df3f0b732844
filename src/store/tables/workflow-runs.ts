import type { RunLimits } from '../../agents/limits.ts'
import type { ModelErrorKind } from '../../agents/model.ts'
import type { RunWish } from '../../agents/run-control.ts'
import type { RunRecord, RunSpec, RunStatus } from '../../agents/run-record.ts'
import type { Standstill } from '../../agents/standstill.ts'
import type { Queries } from '../database/database.ts'
import { toJson } from './json.ts'
import { ofPlace, type RunPlace } from './run-place.ts'

interface Row {
  id: string
  execution: string
  workspace: string
  workspace_id: string | null
  status: RunStatus
  stop_reason: string | null
  error_message: string | null
  error_kind: ModelErrorKind | null
  output_text: string | null
  spec: RunSpec
  turn: number
  requested: RunWish | null
  created_at: Date
  completed_at: Date | null
  cost: number | null
  tokens: number | null
  calls: number | null
}

const SELECT = `SELECT r.id, e.id AS execution, r.workspace, r.workspace_id, r.status, r.stop_reason, r.error_message, e.output_text,
  r.spec, r.turn, r.requested, r.created_at, r.completed_at, e.state->'ending'->>'kind' AS error_kind, spent.cost, spent.calls, spent.tokens
  FROM workflow_runs r JOIN agent_executions e ON e.workflow_run_id = r.id AND e.parent_execution_id IS NULL
  CROSS JOIN LATERAL (SELECT
      CASE WHEN bool_or(state->'costUsd' = 'null') THEN NULL ELSE coalesce(sum((state->>'costUsd')::float8), 0) + (SELECT coalesce(sum(u.cost_usd),
        0)::float8 FROM usage u WHERE u.workflow_run_id = r.id AND u.execution_id IS NULL) END AS cost,
      sum((state->>'calls')::int)::int AS calls, sum((token_usage->>'total')::float8) AS tokens
    FROM agent_executions WHERE workflow_run_id = r.id) spent`

function toRecord(row: Row): RunRecord {
  return {
    id: row.id,
    execution: row.execution,
    workspace: row.workspace,
    workspaceId: row.workspace_id,
    status: row.status,
    stopReason: row.stop_reason,
    error: row.error_message,
    errorKind: row.error_kind,
    output: row.output_text,
    spec: row.spec,
    turn: row.turn,
    requested: row.requested,
    createdAt: row.created_at,
    completedAt: row.completed_at,
    costUsd: row.cost,
    tokens: row.tokens ?? 0,
    calls: row.calls ?? 0,
  }
}

/** The run and the part of its agent in it, both or none. */
export async function insertRun(
  { query }: Queries,
  run: {
    id: string
    execution: string
    workflow: string
    workspace: string
    workspaceId: string
    spec: RunSpec
    executor: string
  },
): Promise<void> {
  await query(
    `INSERT INTO workflow_runs (id, workflow_id, status, started_at, workspace, task, spec, executor, workspace_id)
     VALUES ($1, $2, 'running', NOW(), $3, $4, $5, $6, $7) ON CONFLICT (id) DO NOTHING`,
    [run.id, run.workflow, run.workspace, run.spec.task, toJson(run.spec), run.executor, run.workspaceId],
  )
  await query(
    `INSERT INTO agent_executions (id, agent_id, workflow_run_id, status, input_text, started_at)
     VALUES ($1, $2, $3, 'running', $4, NOW()) ON CONFLICT (id) DO NOTHING`,
    [run.execution, run.spec.agentId ?? null, run.id, run.spec.task],
  )
}

/** With a place, only if it belongs there. */
export async function findRun(
  { query }: Queries,
  id: string,
  place?: RunPlace,
): Promise<RunRecord | undefined> {
  const [row] = await query<Row>(
    `${SELECT} WHERE r.id = $1 AND ($2::text IS NULL OR (${ofPlace('r', '$2', '$3')}))`,
    [id, place?.workspace ?? null, place?.workspaceId ?? null],
  )
  return row === undefined ? undefined : toRecord(row)
}

export interface RunFilter {
  readonly place?: RunPlace | undefined
  readonly status?: RunStatus
  readonly limit?: number
  /** Ids that begin like this. */
  readonly idPrefix?: string
  readonly agent?: string
  /** Those before this one, for the next page. */
  readonly before?: string
  readonly since?: Date
  readonly until?: Date
  /** In the task, without regard to case. */
  readonly text?: string
  /** With calls that were refused, or that failed. */
  readonly has?: 'denials' | 'errors'
  readonly minCostUsd?: number
}

/** The newest first. */
export async function listRuns({ query }: Queries, filter: RunFilter = {}): Promise<RunRecord[]> {
  const rows = await query<Row>(
    `${SELECT} WHERE ($1::text IS NULL OR (${ofPlace('r', '$1', '$12')})) AND ($2::text IS NULL OR r.status = $2)
     AND ($3::text IS NULL OR r.id::text LIKE $3) AND ($5::text IS NULL OR r.spec->>'agent' = $5)
     AND ($6::uuid IS NULL OR (r.created_at, r.id) < (SELECT b.created_at, b.id FROM workflow_runs b WHERE b.id = $6))
     AND ($7::timestamptz IS NULL OR r.created_at >= $7) AND ($8::timestamptz IS NULL OR r.created_at <= $8)
     AND ($9::text IS NULL OR position(lower($9) IN lower(r.task)) > 0)
     AND ($10::text IS NULL OR EXISTS (SELECT 1 FROM tool_executions t JOIN agent_executions x ON x.id = t.execution_id
       WHERE x.workflow_run_id = r.id AND t.is_error AND (t.error_code IN ('denied', 'forbidden', 'not_enabled', 'expired',
         'needs_approval')) IS NOT DISTINCT FROM ($10 = 'denials')))
     AND ($11::float8 IS NULL OR spent.cost >= $11)
     ORDER BY r.created_at DESC, r.id DESC LIMIT $4`,
    [
      filter.place?.workspace ?? null,
      filter.status ?? null,
      filter.idPrefix === undefined ? null : `${filter.idPrefix.replaceAll(/[^0-9a-f-]/gi, '')}%`,
      filter.limit ?? 50,
      filter.agent ?? null,
      filter.before ?? null,
      filter.since ?? null,
      filter.until ?? null,
      filter.text ?? null,
      filter.has ?? null,
      filter.minCostUsd ?? null,
      filter.place?.workspaceId ?? null,
    ],
  )
  return rows.map(toRecord)
}

/**
 * Takes a run that nobody works on, or one of an executor that is gone. False: somebody else was faster. To take one that
 * nobody owns is to resume it; a wish for one that was claimed, or whose executor died over it, still holds.
 */
export async function takeRun(
  { query }: Queries,
  id: string,
  executor: string,
  from: string | null,
): Promise<boolean> {
  const rows = await query(
    `UPDATE workflow_runs SET executor = $2, status = 'running', stop_reason = NULL, error_message = NULL,
       completed_at = NULL, requested = CASE WHEN executor IS NULL THEN NULL ELSE requested END
     WHERE id = $1 AND (executor = $2 OR executor IS NOT DISTINCT FROM $3) RETURNING 1`,
    [id, executor, from],
  )
  return rows.length > 0
}

/**
 * Lets a run go on that ended before its task was done: at a limit, by an error, stopped. One whose model said that it is
 * done has nothing to go on with until somebody says something to it.
 */
export async function reopen(
  { query }: Queries,
  run: { id: string; executor: string; limits?: RunLimits },
): Promise<void> {
  await query(
    `UPDATE agent_executions e SET state = jsonb_set(e.state, '{ending}', 'null'), status = 'running', completed_at = NULL
     FROM workflow_runs r WHERE r.id = $1 AND r.executor = $2 AND e.workflow_run_id = r.id AND e.parent_execution_id IS NULL
       AND e.state IS NOT NULL
       AND e.state->'ending'->>'stopReason' IN ('limit_reached', 'loop_detected', 'error', 'cancelled', 'max_tokens')`,
    [run.id, run.executor],
  )
  if (run.limits === undefined) return
  await query(
    "UPDATE workflow_runs SET spec = jsonb_set(spec, '{limits}', $3::jsonb) WHERE id = $1 AND executor = $2",
    [run.id, run.executor, JSON.stringify(run.limits)],
  )
}

/** Fails the transaction when somebody else has the run by now; see `isNotOwner`. */
export async function requireOwner({ query }: Queries, id: string, executor: string): Promise<void> {
  await query('SELECT require_owner($1, $2)', [id, executor])
}

export function isNotOwner(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'KG001'
}

/** Who works on a run. */
export async function ownerOf({ query }: Queries, id: string): Promise<string | null> {
  const [row] = await query<{ executor: string | null }>('SELECT executor FROM workflow_runs WHERE id = $1', [
    id,
  ])
  return row?.executor ?? null
}

/**
 * Only the owner moves a run. `turn` is the one that has just ended; a server that was killed may have lost the ends of those
 * before it. Returns what a person wants of the run by then.
 */
export async function finishTurn(
  { query }: Queries,
  run: { id: string; executor: string; turn: number },
): Promise<RunWish | null> {
  const [row] = await query<Pick<Row, 'requested'>>(
    'UPDATE workflow_runs SET turn = $3 + 1 WHERE id = $1 AND executor = $2 AND turn <= $3 RETURNING requested',
    [run.id, run.executor, run.turn],
  )
  return row?.requested ?? null
}

/** It ends, or waits for somebody: nobody owns it any longer. */
export async function releaseRun(
  { query }: Queries,
  id: string,
  executor: string,
  { status, stopReason, error }: Standstill,
): Promise<boolean> {
  const rows = await query(
    `UPDATE workflow_runs SET executor = NULL, status = $3::text, stop_reason = $4, error_message = $5,
       completed_at = CASE WHEN $3::text = 'pending' THEN NULL ELSE NOW() END
     WHERE id = $1 AND executor = $2 RETURNING 1`,
    [id, executor, status, stopReason, error ?? null],
  )
  return rows.length > 0
}

/**
 * Whoever works on the run does it within a second. One that waits, in the queue or for an answer, is paused with this, and
 * stays so when the answer comes. Nothing milder takes the place of a stop that nobody has heard yet.
 */
export async function requestRun({ query }: Queries, id: string, wish: RunWish): Promise<void> {
  await query(
    `UPDATE workflow_runs SET requested = CASE WHEN executor IS NOT NULL AND requested = 'stop' THEN requested ELSE $2::text END,
       stop_reason = CASE
       WHEN $2::text = 'pause' AND executor IS NULL AND status = 'pending'
         AND stop_reason IN ('queued', 'awaiting_approval', 'awaiting_plan') THEN 'paused'
       ELSE stop_reason END
     WHERE id = $1`,
    [id, wish],
  )
}

/** What was wished of a run that has just begun to wait. True: a stop, with which it has ended. */
export async function obeyWish({ query }: Queries, id: string): Promise<boolean> {
  await query(
    `UPDATE workflow_runs SET stop_reason = 'paused' WHERE id = $1 AND status = 'pending' AND requested = 'pause'
       AND stop_reason IN ('awaiting_approval', 'awaiting_plan')`,
    [id],
  )
  const stopped = await query(
    `UPDATE workflow_runs SET status = 'cancelled', stop_reason = 'cancelled', completed_at = NOW(),
       error_message = 'It was stopped.'
     WHERE id = $1 AND status = 'pending' AND requested IN ('stop', 'stop_after_step') RETURNING 1`,
    [id],
  )
  return stopped.length > 0
}

export interface Wishes {
  readonly requested: RunWish | null
  /** Who works on it. */
  readonly executor: string | null
  /** Sub-agents that are to end and have not. */
  readonly stopped: readonly string[]
}

/** What a person wants of a run. */
export async function wishOf({ query }: Queries, id: string): Promise<Wishes | undefined> {
  const [row] = await query<Wishes>(
    `SELECT requested, executor, ARRAY(SELECT e.id::text FROM agent_executions e WHERE e.workflow_run_id = r.id
       AND e.stop_requested_at IS NOT NULL AND e.completed_at IS NULL) AS stopped
     FROM workflow_runs r WHERE r.id = $1`,
    [id],
  )
  return row
}

/** Runs of a workspace that somebody works on, with their owners. */
export async function ownedRuns(
  { query }: Queries,
  { workspace, workspaceId }: RunPlace,
): Promise<{ id: string; executor: string }[]> {
  return query(
    `SELECT r.id, r.executor FROM workflow_runs r WHERE ${ofPlace('r', '$1', '$2')}
     AND status = 'running' AND executor IS NOT NULL`,
    [workspace, workspaceId],
  )
}
