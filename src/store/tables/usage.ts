import type { Usage } from '../../agents/model.ts'
import type { Queries } from '../database/database.ts'

export interface UsageEntry {
  readonly id: string
  readonly run: string
  readonly execution: string
  readonly provider: string
  readonly model: string
  readonly usage: Usage
  /** Null: the price is not known. */
  readonly costUsd: number | null
  readonly ms: number
}

export async function insertUsage({ query }: Queries, entry: UsageEntry): Promise<void> {
  const { input, cached, cacheWrite, output, reasoning } = entry.usage
  await query(
    `INSERT INTO usage (id, workflow_run_id, execution_id, provider, model, input_tokens, cached_tokens,
       cache_write_tokens, output_tokens, reasoning_tokens, cost_usd, duration_ms)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (id) DO NOTHING`,
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

export type UsageGroup = 'model' | 'day' | 'agent' | 'run'

const KEYS: Readonly<Record<UsageGroup, string>> = {
  model: "u.provider || '/' || u.model",
  day: "to_char(u.at, 'YYYY-MM-DD')",
  agent: "coalesce(r.spec->>'agent', '(none)')",
  run: 'u.workflow_run_id::text',
}

export async function sumUsage(
  { query }: Queries,
  { by, since }: { by: UsageGroup; since: Date },
): Promise<UsageSum[]> {
  return query<UsageSum>(
    `SELECT coalesce(${KEYS[by]}, '(deleted)') AS key, count(*)::int AS requests, sum(input_tokens)::int AS input,
       sum(cached_tokens)::int AS cached, sum(cache_write_tokens)::int AS "cacheWrite", sum(output_tokens)::int AS output,
       sum(reasoning_tokens)::int AS reasoning, coalesce(sum(cost_usd), 0)::float8 AS "costUsd",
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
