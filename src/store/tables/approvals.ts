import type { ExecutedCall, WaitingCall } from '../../agents/durable-turn.ts'
import type { Queries } from '../database/database.ts'

export async function insertApprovals(
  { query }: Queries,
  at: { run: string; execution: string },
  waiting: readonly WaitingCall[],
): Promise<void> {
  for (const { call, question } of waiting) {
    await query(
      `INSERT INTO approvals (id, workflow_run_id, execution_id, call_id) VALUES ($1, $2, $3, $4)
       ON CONFLICT (id) DO NOTHING`,
      [question, at.run, at.execution, call],
    )
  }
}

/** What became of questions whose calls have ended. */
export async function settleApprovals({ query }: Queries, calls: readonly ExecutedCall[]): Promise<void> {
  const ended = calls.map(({ id, result }) => ({
    call: id,
    status: statusOf(result.error?.code),
    user: result.decision.user ?? null,
  }))
  if (ended.length === 0) return
  await query(
    `UPDATE approvals a SET status = e.status, decided_by = e."user", decided_at = NOW()
     FROM jsonb_to_recordset($1) AS e(call text, status text, "user" text)
     WHERE a.call_id = e.call AND a.status = 'pending'`,
    [JSON.stringify(ended)],
  )
}

/** A call that failed after a yes was approved all the same. */
function statusOf(code: string | undefined): string {
  switch (code) {
    case 'denied':
    case 'forbidden':
      return 'denied'
    case 'expired':
    case 'stale':
    case 'cancelled':
      return code
    default:
      return 'approved'
  }
}

/** Of one run, or of all. */
export async function listWaiting({ query }: Queries, run: string): Promise<WaitingCall[]> {
  return query<WaitingCall>(
    "SELECT call_id AS call, id AS question FROM approvals WHERE workflow_run_id = $1 AND status = 'pending' ORDER BY created_at",
    [run],
  )
}
