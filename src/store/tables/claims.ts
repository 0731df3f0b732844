import { randomUUID } from 'node:crypto'
import type { CallResult } from '../../core/call.ts'
import type { Queries } from '../database/database.ts'
import { toJson } from './json.ts'

export interface Claim {
  readonly call: string
  readonly digest: string
  /** Null when it was interrupted, and nobody knows whether it had its effect. */
  readonly result: CallResult | null
}

/**
 * Committed right before a call with side effects runs. False: this call was claimed before, or this executor does not
 * own the run any longer; either way it must not run.
 */
export async function insertClaim(
  { query }: Queries,
  claim: { call: string; run: string; execution: string; tool: string; digest: string; executor: string },
): Promise<boolean> {
  const rows = await query(
    `INSERT INTO claims (call_id, execution_id, tool_name, digest, executor, token)
     SELECT $1, $2, $3, $4, $5, $7 WHERE EXISTS (SELECT 1 FROM workflow_runs WHERE id = $6 AND executor = $5 FOR UPDATE)
     ON CONFLICT (call_id) DO UPDATE SET token = EXCLUDED.token WHERE claims.token = EXCLUDED.token RETURNING 1`,
    [claim.call, claim.execution, claim.tool, claim.digest, claim.executor, claim.run, randomUUID()],
  )
  return rows.length > 0
}

export async function finishClaim({ query }: Queries, call: string, result: CallResult): Promise<void> {
  await query('UPDATE claims SET result = $2, finished_at = NOW() WHERE call_id = $1 AND result IS NULL', [
    call,
    toJson(result),
  ])
}

/** Of calls that wait and have not ended. */
export async function releaseClaims({ query }: Queries, calls: readonly string[]): Promise<void> {
  await query('DELETE FROM claims WHERE call_id = ANY($1) AND result IS NULL', [calls])
}

export async function findClaims({ query }: Queries, calls: readonly string[]): Promise<Map<string, Claim>> {
  const rows = await query<{ call_id: string; digest: string; result: CallResult | null }>(
    'SELECT call_id, digest, result FROM claims WHERE call_id = ANY($1)',
    [calls],
  )
  return new Map(
    rows.map(row => [row.call_id, { call: row.call_id, digest: row.digest, result: row.result }]),
  )
}
