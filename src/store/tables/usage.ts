import type { Usage } from '../../agents/model.ts'
import type { Queries } from '../database/database.ts'
import { ofPlace, type RunPlace } from './run-place.ts'

export interface UsageEntry {
  readonly id: string
  readonly run: string
  /** Null when a reviewer was asked about the run, and not as a part of it. */
  readonly execution: string | null
  readonly provider: string
  readonly model: string
  readonly usage: Usage
  /** Null when the price is not known. */
  readonly costUsd: number | null
  readonly ms: number
}

/** A run that is none of an agent's has no row of its own; what it cost counts all the same. */
export async function insertUsage({ query }: Queries, entry: UsageEntry): Promise<void> {
  const { input, cached, cacheWrite, output, reasoning } = entry.usage
  await query(
    `INSERT INTO usage (id, workflow_run_id, execution_id, provider, model, input_tokens, cached_tokens,
       cache_write_tokens, output_tokens, reasoning_tokens, cost_usd, duration_ms)
     VALUES ($1, (SELECT id FROM workflow_runs WHERE id::text = $2), $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (id) DO NOTHING`,
    [
      entry.id,
      entry.run,
      entry.execution,
      entry.provider,
      entry.model,
      input,
      cached,
      cacheWrite,
      output,
      reasoning,
      entry.costUsd,
      entry.ms,
    ],
  )
}

export interface UsageSum {
  readonly key: string
  readonly requests: number
  readonly input: number
  readonly cached: number
  readonly cacheWrite: number
  readonly output: number
  readonly reasoning: number
  readonly costUsd: number
  /** Requests whose price is not known. */
  readonly unknown: number
}

export type UsageGroup = 'model' | 'provider' | 'day' | 'panel' | 'agent' | 'run'

const KEYS: Readonly<Record<UsageGroup, string>> = {
  /** As `--model` takes it. */
  model: "u.provider || CASE u.provider WHEN 'rehearsal' THEN ':' ELSE '/' END || u.model",
  provider: 'u.provider',
  day: "to_char(u.at, 'YYYY-MM-DD')",
  /** What the run was started as. */
  panel: "coalesce(r.spec->>'agent', '(none)')",
  /** Who asked the model: in a run with sub-agents, each of them. */
  agent: `coalesce((SELECT a.name FROM agent_executions e JOIN agents a ON a.id = e.agent_id WHERE e.id = u.execution_id),
    r.spec->>'agent', '(none)')`,
  run: 'u.workflow_run_id::text',
}

export async function sumUsage(
  { query }: Queries,
  { by, since }: { by: UsageGroup; since: Date },
): Promise<UsageSum[]> {
  return query<UsageSum>(
    `SELECT coalesce(${KEYS[by]}, '(deleted)') AS key, count(*)::int AS requests, sum(input_tokens)::float8 AS input,
       sum(cached_tokens)::float8 AS cached, sum(cache_write_tokens)::float8 AS "cacheWrite", sum(output_tokens)::float8 AS output,
       sum(reasoning_tokens)::float8 AS reasoning, coalesce(sum(cost_usd), 0)::float8 AS "costUsd",
       count(*) FILTER (WHERE cost_usd IS NULL)::int AS unknown
     FROM usage u LEFT JOIN workflow_runs r ON r.id = u.workflow_run_id
     WHERE u.at >= $1 GROUP BY 1 ORDER BY 1`,
    [since],
  )
}

export async function spentSince({ query }: Queries, since: Date): Promise<number> {
  const [row] = await query<{ spent: number }>(
    'SELECT coalesce(sum(cost_usd), 0)::float8 AS spent FROM usage WHERE at >= $1',
    [since],
  )
  return row?.spent ?? 0
}

export interface DayUsage extends UsageSum {
  /** `2026-11-16`, in UTC. */
  readonly day: string
}

export interface UsageFilter {
  readonly place: RunPlace
  readonly since: Date
  readonly until?: Date
}

/** Of one workspace, for each day and group: what a chart of days is made of. */
export async function usagePerDay(
  { query }: Queries,
  by: UsageGroup,
  { place, since, until }: UsageFilter,
): Promise<DayUsage[]> {
  return query<DayUsage>(
    `SELECT to_char(u.at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, coalesce(${KEYS[by]}, '(deleted)') AS key,
       count(*)::int AS requests, sum(input_tokens)::float8 AS input, sum(cached_tokens)::float8 AS cached,
       sum(cache_write_tokens)::float8 AS "cacheWrite", sum(output_tokens)::float8 AS output,
       sum(reasoning_tokens)::float8 AS reasoning, coalesce(sum(cost_usd), 0)::float8 AS "costUsd",
       count(*) FILTER (WHERE cost_usd IS NULL)::int AS unknown
     FROM usage u JOIN workflow_runs r ON r.id = u.workflow_run_id
     WHERE ${ofPlace('r', '$1', '$4')} AND u.at >= $2 AND ($3::timestamptz IS NULL OR u.at <= $3) GROUP BY 1, 2 ORDER BY 1, 2`,
    [place.workspace, since, until ?? null, place.workspaceId],
  )
}

export interface UsageTotal extends Omit<UsageSum, 'key'> {
  readonly runs: number
  /** Of requests to models; null when there were none. */
  readonly p50Ms: number | null
  readonly p95Ms: number | null
}

export async function usageTotal(
  { query }: Queries,
  { place, since, until }: UsageFilter,
): Promise<UsageTotal> {
  const [row] = await query<UsageTotal>(
    `SELECT count(*)::int AS requests, count(DISTINCT u.workflow_run_id)::int AS runs,
       coalesce(sum(input_tokens), 0)::float8 AS input, coalesce(sum(cached_tokens), 0)::float8 AS cached,
       coalesce(sum(cache_write_tokens), 0)::float8 AS "cacheWrite", coalesce(sum(output_tokens), 0)::float8 AS output,
       coalesce(sum(reasoning_tokens), 0)::float8 AS reasoning, coalesce(sum(cost_usd), 0)::float8 AS "costUsd",
       count(*) FILTER (WHERE cost_usd IS NULL)::int AS unknown,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY u.duration_ms) AS "p50Ms",
       percentile_disc(0.95) WITHIN GROUP (ORDER BY u.duration_ms) AS "p95Ms"
     FROM usage u JOIN workflow_runs r ON r.id = u.workflow_run_id
     WHERE ${ofPlace('r', '$1', '$4')} AND u.at >= $2 AND ($3::timestamptz IS NULL OR u.at <= $3)`,
    [place.workspace, since, until ?? null, place.workspaceId],
  )
  if (row === undefined) throw new Error('A sum without groups has one row.')
  return row
}

export interface ToolUse {
  readonly tool: string
  readonly calls: number
  readonly failed: number
  readonly refused: number
  /** A person was asked. */
  readonly asked: number
  readonly p50Ms: number
  readonly p95Ms: number
}

/** Calls of agents, by tool; the most used first. */
export async function toolUse({ query }: Queries, { place, since, until }: UsageFilter): Promise<ToolUse[]> {
  return query<ToolUse>(
    `SELECT t.tool_name AS tool, count(*)::int AS calls,
       count(*) FILTER (WHERE t.error_code IN ('denied', 'forbidden', 'not_enabled', 'expired', 'needs_approval'))::int AS refused,
       count(*) FILTER (WHERE t.is_error AND coalesce(t.error_code, '') NOT IN
         ('denied', 'forbidden', 'not_enabled', 'expired', 'needs_approval'))::int AS failed,
       count(*) FILTER (WHERE t.decision->>'by' IN ('user', 'timeout'))::int AS asked,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY t.duration_ms)::int AS "p50Ms",
       percentile_disc(0.95) WITHIN GROUP (ORDER BY t.duration_ms)::int AS "p95Ms"
     FROM tool_executions t JOIN agent_executions e ON e.id = t.execution_id JOIN workflow_runs r ON r.id = e.workflow_run_id
     WHERE ${ofPlace('r', '$1', '$4')} AND t.created_at >= $2 AND ($3::timestamptz IS NULL OR t.created_at <= $3)
     GROUP BY 1 ORDER BY 2 DESC, 1`,
    [place.workspace, since, until ?? null, place.workspaceId],
  )
}
