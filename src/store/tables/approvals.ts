import type { ExecutedCall, WaitingCall } from '../../agents/durable-turn.ts'
import type { Queries } from '../database/database.ts'
import { toJson } from './json.ts'
import { ofPlace, type RunPlace } from './run-place.ts'
import { SUBTREE } from './sub-agents.ts'

// Questions of agents' runs. The question itself, as one answers it, is a file beside what it holds back (a command's
// changes) and is locked and judged there, like every other; a run could otherwise be answered only where the database is.
// The row is written with the state of the run that waits for it, and says what became of it.

export async function insertApprovals(
  { query }: Queries,
  at: { run: string; execution: string; lifetimeMs: number },
  waiting: readonly WaitingCall[],
): Promise<void> {
  if (waiting.length === 0) return
  // A call asks anew when nobody answered in time, or when what it had asked about has changed.
  await query(
    `WITH w AS (SELECT * FROM jsonb_to_recordset($3) AS w(question text, call text, tool text, input jsonb)),
       earlier AS (UPDATE approvals a SET decided_at = NOW(),
         status = CASE WHEN a.created_at < NOW() - $4 * INTERVAL '1 millisecond' THEN 'expired' ELSE 'stale' END FROM w
         WHERE a.call_id = w.call AND a.id <> w.question AND a.status = 'pending')
     INSERT INTO approvals (id, workflow_run_id, execution_id, call_id, tool_name, input)
     SELECT question, $1, $2, call, tool, input FROM w ON CONFLICT (id) DO NOTHING`,
    [at.run, at.execution, toJson(waiting), at.lifetimeMs],
  )
}

/** What became of questions whose calls have ended. */
export async function settleApprovals(
  { query }: Queries,
  calls: readonly Pick<ExecutedCall, 'id' | 'result'>[],
): Promise<void> {
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

/** Of a run that was stopped. */
export async function cancelApprovals({ query }: Queries, run: string): Promise<void> {
  await query(
    `UPDATE approvals SET status = 'cancelled', decided_at = NOW() WHERE workflow_run_id = $1 AND status = 'pending'`,
    [run],
  )
}

/** Of a sub-agent that was stopped, and of those below it. */
export async function cancelAgentApprovals({ query }: Queries, execution: string): Promise<void> {
  await query(
    `WITH RECURSIVE ${SUBTREE}
     UPDATE approvals SET status = 'cancelled', decided_at = NOW()
     WHERE status = 'pending' AND execution_id IN (SELECT id FROM subtree)`,
    [execution],
  )
}

/** A call that failed after a yes was approved all the same. An answer that came too late is no denial. */
function statusOf(code: string | undefined): ApprovalStatus {
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

type ApprovalStatus = 'pending' | 'approved' | 'denied' | 'expired' | 'stale' | 'cancelled'

export interface ApprovalRecord {
  readonly id: string
  readonly run: string
  readonly call: string
  readonly tool: string | null
  readonly input: unknown
  readonly status: ApprovalStatus
  readonly decidedBy: string | null
  readonly decidedAt: Date | null
  readonly createdAt: Date
}

export interface ApprovalFilter {
  readonly place: RunPlace
  readonly run?: string
  readonly limit?: number
  /** Those before this one, for the next page. */
  readonly before?: string
}

/** The newest first. */
export async function listApprovals(
  { query }: Queries,
  { place, run, limit = 50, before }: ApprovalFilter,
): Promise<ApprovalRecord[]> {
  return query<ApprovalRecord>(
    `SELECT a.id, a.workflow_run_id AS run, a.call_id AS call, a.tool_name AS tool, a.input, a.status,
       a.decided_by AS "decidedBy", a.decided_at AS "decidedAt", a.created_at AS "createdAt"
     FROM approvals a JOIN workflow_runs r ON r.id = a.workflow_run_id
     WHERE ${ofPlace('r', '$1', '$5')} AND ($2::uuid IS NULL OR a.workflow_run_id = $2)
       AND ($4::text IS NULL OR (a.created_at, a.id) < (SELECT b.created_at, b.id FROM approvals b WHERE b.id = $4))
     ORDER BY a.created_at DESC, a.id DESC LIMIT $3`,
    [place.workspace, run ?? null, limit, before ?? null, place.workspaceId],
  )
}
