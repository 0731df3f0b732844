import type { Queries } from '../database/database.ts'
import { ofPlace, type RunPlace } from './run-place.ts'

export interface ModelFailures {
  readonly provider: string
  readonly failures: number
  readonly rateLimited: number
  readonly lastAt: Date
  readonly lastMessage: string
  /** Until when the provider asked to wait; null when it never did. */
  readonly limitedUntil: Date | null
}

/** Requests to models that failed in runs of one workspace, by provider. */
export async function modelFailures(
  { query }: Queries,
  { workspace, workspaceId }: RunPlace,
  since: Date,
): Promise<ModelFailures[]> {
  return query<ModelFailures>(
    `SELECT v.data->>'provider' AS provider, count(*)::int AS failures,
       count(*) FILTER (WHERE v.data->>'kind' = 'rate_limited')::int AS "rateLimited", max(v.at) AS "lastAt",
       (array_agg(v.data->>'message' ORDER BY v.at DESC))[1] AS "lastMessage",
       max(v.at + least(coalesce((v.data->>'retryAfterMs')::float8, 0), ${LONGEST_MS}) * interval '1 millisecond')
         FILTER (WHERE v.data->>'kind' = 'rate_limited') AS "limitedUntil"
     FROM workflow_runs r JOIN run_events v ON v.workflow_run_id = r.id
     WHERE ${ofPlace('r', '$1', '$3')} AND r.updated_at >= $2 AND v.type = 'model.failed' AND v.at >= $2
     GROUP BY 1 ORDER BY 1`,
    [workspace, since, workspaceId],
  )
}

/** A vendor may ask for any time. */
const LONGEST_MS = 86_400_000
