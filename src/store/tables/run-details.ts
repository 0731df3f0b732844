import type { Queries } from '../database/database.ts'
import type { ToolExecution } from './tool-executions.ts'

// What is looked up about runs beside the runs themselves: their agents, calls, and how many were refused.

export interface RunCounts {
  readonly run: string
  /** Calls that a person, a rule or a limit refused, or whose question expired. */
  readonly denied: number
  /** Calls that failed for another reason. */
  readonly failed: number
  /** Calls about which somebody was asked. */
  readonly asked: number
  readonly agents: number
}

const REFUSED = "('denied', 'forbidden', 'not_enabled', 'expired', 'needs_approval')"

export async function countsOfRuns({ query }: Queries, runs: readonly string[]): Promise<RunCounts[]> {
  if (runs.length === 0) return []
  return query<RunCounts>(
    `SELECT e.workflow_run_id AS run, count(DISTINCT e.id)::int AS agents,
       (SELECT count(DISTINCT q.call_id) FROM approvals q WHERE q.workflow_run_id = e.workflow_run_id)::int AS asked,
       count(t.id) FILTER (WHERE t.error_code IN ${REFUSED})::int AS denied,
       count(t.id) FILTER (WHERE t.is_error AND coalesce(t.error_code, '') NOT IN ${REFUSED})::int AS failed
     FROM agent_executions e LEFT JOIN tool_executions t ON t.execution_id = e.id
     WHERE e.workflow_run_id = ANY($1::uuid[]) GROUP BY 1`,
    [runs],
  )
}

/** One agent's part in a run. */
export interface RunAgent {
  readonly execution: string
  readonly parent: string | null
  readonly agent: string | null
  readonly name: string | null
  readonly description: string | null
  readonly status: string
  readonly stopReason: string | null
  readonly task: string
  readonly output: string | null
  readonly error: string | null
  readonly tokens: number
  /** Null when the price of a request is not known. */
  readonly costUsd: number | null
  readonly calls: number
  readonly durationMs: number | null
  readonly startedAt: Date | null
  readonly completedAt: Date | null
  /** Of a sub-agent: what it was told, and the tools that it was offered. */
  readonly system: string | null
  readonly tools: readonly string[] | null
  readonly turns: number
  /** A person wants it to end, or it ended with one that was stopped. */
  readonly isStopped: boolean
}

/** In the order in which they began. */
export async function listRunAgents({ query }: Queries, run: string): Promise<RunAgent[]> {
  return query<RunAgent>(
    `SELECT e.id AS execution, e.parent_execution_id AS parent, e.agent_id AS agent, a.name, a.description, e.status,
       e.stop_reason AS "stopReason", e.input_text AS task, e.output_text AS output, e.error_message AS error,
       coalesce((e.token_usage->>'total')::int, 0) AS tokens, CASE WHEN e.state IS NULL THEN 0 ELSE (e.state->>'costUsd')::float8 END AS "costUsd",
       coalesce((e.state->>'calls')::int, 0) AS calls, e.duration_ms::int AS "durationMs", e.started_at AS "startedAt",
       e.completed_at AS "completedAt", a.system_prompt AS system, e.tools, coalesce((e.state->>'turn')::int, 0) AS turns,
       e.stop_requested_at IS NOT NULL AS "isStopped"
     FROM agent_executions e LEFT JOIN agents a ON a.id = e.agent_id
     WHERE e.workflow_run_id = $1 ORDER BY e.created_at, e.id`,
    [run],
  )
}

export interface RunCall extends ToolExecution {
  readonly execution: string
  readonly outputBytes: number
}

/** What is sent of an output in a list; the whole of one is asked for by itself. */
const MOST_SHOWN = 4_000

/** Calls of all agents of a run, the oldest first. */
export async function listRunCalls(
  { query }: Queries,
  run: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<RunCall[]> {
  return query<RunCall>(
    `SELECT t.call_id AS call, t.execution_id AS execution, t.tool_name AS tool, t.input,
       left(t.output, ${MOST_SHOWN}) AS output, coalesce(octet_length(t.output), 0) AS "outputBytes",
       t.is_error AS "isError", t.error_code AS "errorCode", t.duration_ms::int AS "durationMs",
       t.is_ambiguous AS "isAmbiguous", t.decision, t.effects, t.created_at AS at
     FROM tool_executions t JOIN agent_executions e ON e.id = t.execution_id
     WHERE e.workflow_run_id = $1 ORDER BY t.created_at, t.call_id LIMIT $2 OFFSET $3`,
    [run, limit, offset],
  )
}

export async function findRunCall(
  { query }: Queries,
  run: string,
  call: string,
): Promise<RunCall | undefined> {
  const [row] = await query<RunCall>(
    `SELECT t.call_id AS call, t.execution_id AS execution, t.tool_name AS tool, t.input, t.output,
       coalesce(octet_length(t.output), 0) AS "outputBytes", t.is_error AS "isError", t.error_code AS "errorCode",
       t.duration_ms::int AS "durationMs", t.is_ambiguous AS "isAmbiguous", t.decision, t.effects, t.created_at AS at
     FROM tool_executions t JOIN agent_executions e ON e.id = t.execution_id
     WHERE e.workflow_run_id = $1 AND t.call_id = $2`,
    [run, call],
  )
  return row
}

/** Calls of a run whose output has this text, without regard to case, and how often. */
export async function findInOutputs(
  { query }: Queries,
  run: string,
  text: string,
): Promise<{ call: string; execution: string; hits: number }[]> {
  return query<{ call: string; execution: string; hits: number }>(
    `SELECT t.call_id AS call, t.execution_id AS execution,
       ((length(lower(t.output)) - length(replace(lower(t.output), lower($2), ''))) / length(lower($2)))::int AS hits
     FROM tool_executions t JOIN agent_executions e ON e.id = t.execution_id
     WHERE e.workflow_run_id = $1 AND position(lower($2) IN lower(t.output)) > 0
     ORDER BY t.created_at, t.call_id`,
    [run, text],
  )
}
