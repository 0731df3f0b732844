import { randomUUID } from 'node:crypto'
import type { RunLimits } from '../../agents/limits.ts'
import type { RunSpec } from '../../agents/run-record.ts'
import type { Database, Queries } from '../database/database.ts'
import { LOCKS } from '../database/locks.ts'
import { toJson } from './json.ts'
import { ofPlace, type RunPlace } from './run-place.ts'
import { workflowOf } from './workflows.ts'

// Runs that wait for a worker: `pending` with the stop reason `queued`, owned by nobody.

/** Workers and servers listen to this. */
export const QUEUE_CHANNEL = 'kogu_run_queue'

export interface QueuedRun extends RunPlace {
  readonly user: string
  readonly spec: RunSpec
  /** Another one than the workspace's own, when its agent belongs to it. */
  readonly workflow?: string
  /** Chosen by the caller: a run that is there already is left as it is. */
  readonly id?: string
}

/** A new run and its agent's part in it, both or none. */
export async function enqueueRun(
  queries: Queries,
  run: QueuedRun,
): Promise<{ id: string; execution: string }> {
  const { statements, ...ids } = await toStatements(queries, run)
  for (const { text, values } of statements) await queries.query(text, values)
  return ids
}

/** The same in one round trip, and again when the connection is lost meanwhile. */
export async function enqueueSafely(
  database: Pick<Database, 'query' | 'together'>,
  run: QueuedRun,
): Promise<{ id: string; execution: string }> {
  const { statements, ...ids } = await toStatements(database, run)
  await database.together(({ query }) => statements.map(({ text, values }) => query(text, values)))
  return ids
}

async function toStatements(
  queries: Queries,
  { workspace, workspaceId, user, spec, workflow, id = randomUUID() }: QueuedRun,
): Promise<{ id: string; execution: string; statements: { text: string; values: unknown[] }[] }> {
  const execution = randomUUID()
  const home = workflow ?? (await workflowOf(queries, user, workspace))
  const statements = [
    {
      text: `INSERT INTO workflow_runs (id, workflow_id, status, stop_reason, queued_at, workspace, workspace_id, task, spec)
         VALUES ($1, $2, 'pending', 'queued', NOW(), $3, $4, $5, $6) ON CONFLICT (id) DO NOTHING`,
      values: [id, home, workspace, workspaceId, spec.task, toJson(spec)],
    },
    {
      text: `INSERT INTO agent_executions (id, agent_id, workflow_run_id, status, input_text)
         SELECT $1::uuid, $2::uuid, $3::uuid, 'pending', $4
         WHERE NOT EXISTS (SELECT 1 FROM agent_executions WHERE workflow_run_id = $3 AND parent_execution_id IS NULL)`,
      values: [execution, spec.agentId ?? null, id, spec.task],
    },
    { text: `SELECT pg_notify('${QUEUE_CHANNEL}', $1)`, values: [id] },
  ]
  return { id, execution, statements }
}

/**
 * Lets a run that stands still go on. False: somebody works on it, or it waits already. With `from`, only one that still
 * stands there: between looking and this, another worker may have finished it, or a person stopped or paused it. What
 * was wished just before it stood still holds.
 */
export async function requeueRun(
  { query }: Queries,
  id: string,
  from?: 'awaiting_approval' | 'awaiting_plan' | 'paused',
): Promise<boolean> {
  const rows = await query(
    `UPDATE workflow_runs SET status = 'pending', stop_reason = 'queued', queued_at = NOW(), requested = NULL,
       completed_at = NULL
     WHERE id = $1 AND executor IS NULL AND stop_reason IS DISTINCT FROM 'queued'
       AND ($2::text IS NULL OR (status = 'pending' AND stop_reason = $2::text AND requested IS NULL))
     RETURNING pg_notify('${QUEUE_CHANNEL}', id::text)`,
    [id, from ?? null],
  )
  return rows.length > 0
}

/** Lets a run go on that ended at a limit, with these. False: it does not stand there any more. */
export async function extendRun(
  database: Pick<Database, 'transaction'>,
  id: string,
  limits: RunLimits,
): Promise<boolean> {
  return database.transaction(async queries => {
    const rows = await queries.query(
      `UPDATE workflow_runs SET spec = jsonb_set(spec, '{limits}', $2::jsonb)
       WHERE id = $1 AND executor IS NULL AND status = 'failed' AND stop_reason = 'limit_reached' RETURNING id`,
      [id, JSON.stringify(limits)],
    )
    return rows.length > 0 && (await requeueRun(queries, id))
  })
}

/** Takes the run that has waited longest and whose agent has a place left. Undefined: there is none. */
export async function claimRun(
  database: Pick<Database, 'transaction'>,
  { workspace, workspaceId }: RunPlace,
  { executor, perAgent }: { executor: string; perAgent: number },
): Promise<string | undefined> {
  return database.transaction(async ({ query }) => {
    // Only one worker at a time, so that the limits hold. A statement of its own: the next one sees what the holder before
    // has written.
    await query(`SELECT pg_advisory_xact_lock(${LOCKS.queue})`)
    const [row] = await query<{ id: string }>(
      `WITH claimed AS (
     UPDATE workflow_runs SET executor = $3, status = 'running', stop_reason = NULL, started_at = coalesce(started_at, NOW())
     WHERE id = (
       SELECT r.id FROM workflow_runs r
       WHERE ${ofPlace('r', '$1', '$2')}
         AND r.executor IS NULL AND r.status = 'pending' AND r.stop_reason = 'queued'
         AND (r.spec->>'agent' IS NULL OR $4 > (
           SELECT count(*) FROM workflow_runs o WHERE ${ofPlace('o', '$1', '$2')} AND o.status = 'running'
             AND o.executor IS NOT NULL AND o.spec->>'agent' = r.spec->>'agent'))
       ORDER BY r.queued_at, r.id LIMIT 1 FOR UPDATE OF r SKIP LOCKED)
     AND executor IS NULL RETURNING id),
     started AS (UPDATE agent_executions e SET started_at = coalesce(e.started_at, NOW())
       FROM claimed WHERE e.workflow_run_id = claimed.id AND e.parent_execution_id IS NULL)
     SELECT id FROM claimed`,
      [workspace, workspaceId, executor, perAgent],
    )
    return row?.id
  })
}

/** Runs that stand still until somebody answers, with the questions they wait for. */
export async function runsAwaitingAnswers(
  { query }: Queries,
  { workspace, workspaceId }: RunPlace,
): Promise<{ id: string; questions: string[] }[]> {
  return query(
    `SELECT r.id, coalesce(array_agg(a.id) FILTER (WHERE a.status = 'pending'), '{}') AS questions
     FROM workflow_runs r LEFT JOIN approvals a ON a.workflow_run_id = r.id
     WHERE ${ofPlace('r', '$1', '$2')} AND r.executor IS NULL
       AND r.status = 'pending' AND r.stop_reason = 'awaiting_approval'
     GROUP BY r.id`,
    [workspace, workspaceId],
  )
}

/** Ends a run that nobody works on. False: somebody does, or it has ended. */
export async function cancelStanding({ query }: Queries, id: string): Promise<boolean> {
  const rows = await query(
    `UPDATE workflow_runs SET status = 'cancelled', stop_reason = 'cancelled', completed_at = NOW(),
       error_message = 'It was stopped.'
     WHERE id = $1 AND executor IS NULL AND status = 'pending' RETURNING 1`,
    [id],
  )
  return rows.length > 0
}

export async function countRuns(
  { query }: Queries,
  { workspace, workspaceId }: RunPlace,
): Promise<Record<string, number>> {
  const rows = await query<{ state: string; count: number }>(
    `SELECT CASE WHEN status = 'pending' THEN coalesce(stop_reason, 'pending') ELSE status END AS state, count(*)::int
     FROM workflow_runs r WHERE ${ofPlace('r', '$1', '$2')} GROUP BY 1`,
    [workspace, workspaceId],
  )
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}
