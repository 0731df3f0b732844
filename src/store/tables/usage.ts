import type { Usage } from '../../agents/model.ts'
import type { Queries } from '../database/database.ts'
import { toJson } from './json.ts'
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
  const tokens = [input, cached, cacheWrite, output, reasoning].map(count => Math.min(count, MOST_TOKENS))
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
      ...tokens,
      entry.costUsd === null ? null : Math.min(entry.costUsd, MOST_USD),
      entry.ms,
    ],
  )
}

// What the columns hold: a count that a vendor made up, or a price that nobody can pay, must not end the run.
const MOST_TOKENS = 2_147_483_647
const MOST_USD = 999_999

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
/** Which run belongs to which pipeline is in the records of pipelines, so it is told by whoever asks. */
export type PlaceGroup = UsageGroup | 'pipeline'

const KEYS: Readonly<Record<PlaceGroup, string>> = {
  /** As `--model` takes it. */
  model: "u.provider || CASE u.provider WHEN 'rehearsal' THEN ':' ELSE '/' END || u.model",
  provider: 'u.provider',
  day: "to_char(u.at AT TIME ZONE (SELECT name FROM zone), 'YYYY-MM-DD')",
  /** What the run was started as. */
  panel: "coalesce(r.spec->>'agent', '(none)')",
  /** Who asked the model: in a run with sub-agents, each of them. */
  agent: `coalesce((SELECT a.name FROM agent_executions e JOIN agents a ON a.id = e.agent_id WHERE e.id = u.execution_id),
    r.spec->>'agent', '(none)')`,
  run: 'u.workflow_run_id::text',
  pipeline: "coalesce((SELECT p.value FROM pipelines p WHERE p.key = u.workflow_run_id::text), '(none)')",
}

const SUMS = `count(*)::int AS requests, coalesce(sum(input_tokens), 0)::float8 AS input,
  coalesce(sum(cached_tokens), 0)::float8 AS cached, coalesce(sum(cache_write_tokens), 0)::float8 AS "cacheWrite",
  coalesce(sum(output_tokens), 0)::float8 AS output, coalesce(sum(reasoning_tokens), 0)::float8 AS reasoning,
  coalesce(sum(cost_usd), 0)::float8 AS "costUsd", count(*) FILTER (WHERE cost_usd IS NULL)::int AS unknown`

const TIMES = `percentile_disc(0.5) WITHIN GROUP (ORDER BY u.duration_ms) AS "p50Ms",
  percentile_disc(0.95) WITHIN GROUP (ORDER BY u.duration_ms) AS "p95Ms"`

/** Of all workspaces of the database, or of one. */
export async function sumUsage(
  { query }: Queries,
  { by, since, zone, place }: { by: UsageGroup; since: Date; zone: string; place?: RunPlace },
): Promise<UsageSum[]> {
  return query<UsageSum>(
    `WITH zone AS (SELECT $2::text AS name) SELECT coalesce(${KEYS[by]}, '(deleted)') AS key, ${SUMS}
     FROM usage u LEFT JOIN workflow_runs r ON r.id = u.workflow_run_id
     WHERE u.at >= $1 AND ($3::text IS NULL OR ${ofPlace('r', '$3', '$4')}) GROUP BY 1 ORDER BY 1`,
    [since, zone, place?.workspace ?? null, place?.workspaceId ?? null],
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
  /** `2026-11-16` */
  readonly day: string
}

interface SpanFilter {
  readonly place: RunPlace
  readonly since: Date
  readonly until?: Date
}

export interface UsageFilter extends SpanFilter {
  /** Where days begin at midnight: `Asia/Tokyo`. */
  readonly zone: string
  /** Runs → pipelines, for groups by pipeline. */
  readonly pipelines?: Readonly<Record<string, string>>
}

const OF_FILTER = `FROM usage u JOIN workflow_runs r ON r.id = u.workflow_run_id
  WHERE ${ofPlace('r', '$1', '$4')} AND u.at >= $2 AND ($3::timestamptz IS NULL OR u.at <= $3)`
const WITH_MORE = 'WITH pipelines AS (SELECT * FROM jsonb_each_text($5)), zone AS (SELECT $6::text AS name)'

function valuesOf({ place, since, until }: SpanFilter): unknown[] {
  return [place.workspace, since, until ?? null, place.workspaceId]
}

/** Of one workspace, for each day and group: what a chart of days is made of. */
export async function usagePerDay(
  { query }: Queries,
  by: PlaceGroup,
  filter: UsageFilter,
): Promise<DayUsage[]> {
  return query<DayUsage>(
    `${WITH_MORE}
     SELECT ${KEYS.day} AS day, coalesce(${KEYS[by]}, '(deleted)') AS key, ${SUMS}
     ${OF_FILTER} GROUP BY 1, 2 ORDER BY 1, 2`,
    [...valuesOf(filter), toJson(filter.pipelines ?? {}), filter.zone],
  )
}

interface RequestTimes {
  /** Of requests to models; null when there were none. */
  readonly p50Ms: number | null
  readonly p95Ms: number | null
}

export type GroupUsage = UsageSum & RequestTimes

/** Of one workspace over the whole time, the dearest group first. */
export async function usagePerGroup(
  { query }: Queries,
  by: PlaceGroup,
  filter: UsageFilter,
): Promise<GroupUsage[]> {
  return query<GroupUsage>(
    `${WITH_MORE}
     SELECT coalesce(${KEYS[by]}, '(deleted)') AS key, ${SUMS}, ${TIMES}
     ${OF_FILTER} GROUP BY 1 ORDER BY "costUsd" DESC, requests DESC, 1`,
    [...valuesOf(filter), toJson(filter.pipelines ?? {}), filter.zone],
  )
}

export interface UsageTotal extends Omit<UsageSum, 'key'>, RequestTimes {
  readonly runs: number
}

export async function usageTotal({ query }: Queries, filter: SpanFilter): Promise<UsageTotal> {
  const [row] = await query<UsageTotal>(
    `SELECT count(DISTINCT u.workflow_run_id)::int AS runs, ${SUMS}, ${TIMES} ${OF_FILTER}`,
    valuesOf(filter),
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

const REFUSED = "('denied', 'forbidden', 'not_enabled', 'expired', 'needs_approval')"
const CALLS = `count(*)::int AS calls, count(*) FILTER (WHERE t.error_code IN ${REFUSED})::int AS refused,
  count(*) FILTER (WHERE t.is_error AND coalesce(t.error_code, '') NOT IN ${REFUSED})::int AS failed`
const CALLS_OF_FILTER = `FROM tool_executions t JOIN agent_executions e ON e.id = t.execution_id
  JOIN workflow_runs r ON r.id = e.workflow_run_id
  WHERE ${ofPlace('r', '$1', '$4')} AND t.created_at >= $2 AND ($3::timestamptz IS NULL OR t.created_at <= $3)`

/** Calls of agents, by tool; the most used first. */
export async function toolUse({ query }: Queries, filter: SpanFilter): Promise<ToolUse[]> {
  return query<ToolUse>(
    `SELECT t.tool_name AS tool, ${CALLS}, count(*) FILTER (WHERE t.decision->>'by' IN ('user', 'timeout'))::int AS asked,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY t.duration_ms)::int AS "p50Ms",
       percentile_disc(0.95) WITHIN GROUP (ORDER BY t.duration_ms)::int AS "p95Ms"
     ${CALLS_OF_FILTER} GROUP BY 1 ORDER BY 2 DESC, 1`,
    valuesOf(filter),
  )
}

export interface ToolDay extends Pick<ToolUse, 'tool' | 'calls' | 'failed' | 'refused'> {
  readonly day: string
}

export async function toolUsePerDay({ query }: Queries, filter: UsageFilter): Promise<ToolDay[]> {
  return query<ToolDay>(
    `SELECT to_char(t.created_at AT TIME ZONE $5, 'YYYY-MM-DD') AS day, t.tool_name AS tool, ${CALLS}
     ${CALLS_OF_FILTER} GROUP BY 1, 2 ORDER BY 1, 2`,
    [...valuesOf(filter), filter.zone],
  )
}
