import type { LoopState } from '../../agents/loop-state.ts'
import { totalTokens } from '../../agents/model.ts'
import type { Queries } from '../database/database.ts'
import { insertMessages, listMessages } from './agent-messages.ts'
import { toJson } from './json.ts'
import { ofPlace, type RunPlace } from './run-place.ts'

/** The state of a loop; undefined before its first step. */
export async function loadState(queries: Queries, execution: string): Promise<LoopState | undefined> {
  const [row] = await queries.query<{ state: Omit<LoopState, 'messages'> | null }>(
    'SELECT state FROM agent_executions WHERE id = $1',
    [execution],
  )
  if (row?.state === undefined || row.state === null) return undefined
  return { ...row.state, messages: await listMessages(queries, execution) }
}

/** Writes down a state, with the messages that are new since `known`. One that was stopped with its parent stays so. */
export async function saveState(
  queries: Queries,
  at: { execution: string; known: number },
  { messages, ...state }: LoopState,
): Promise<void> {
  const { ending, usage } = state
  const status = ending === null ? 'running' : ending.error === undefined ? 'completed' : 'failed'
  const updated = queries.query(
    `UPDATE agent_executions SET state = $2, status = $3::text, stop_reason = $4, output_text = $5, error_message = $6,
       token_usage = $7, duration_ms = $8, completed_at = CASE WHEN $3::text = 'running' THEN NULL ELSE NOW() END
     WHERE id = $1 AND ($3::text <> 'running' OR stop_requested_at IS NULL OR completed_at IS NULL)`,
    [
      at.execution,
      toJson(state),
      status,
      ending?.stopReason ?? null,
      ending?.text ?? null,
      ending?.error ?? null,
      JSON.stringify({
        input_tokens: usage.input + usage.cached + usage.cacheWrite,
        output_tokens: usage.output + usage.reasoning,
        total: totalTokens(usage),
      }),
      Math.round(state.activeMs),
    ],
  )
  await Promise.all([updated, insertMessages(queries, at.execution, messages, at.known)])
}

/** One row of `agent_executions`, as it is. */
export interface ExecutionRecord {
  readonly id: string
  readonly agent_id: string | null
  readonly workflow_run_id: string
  readonly status: 'pending' | 'running' | 'completed' | 'failed'
  readonly stop_reason: string | null
  readonly input_text: string
  readonly output_text: string | null
  readonly token_usage: { input_tokens: number; output_tokens: number } | null
  readonly duration_ms: number | null
  readonly error_message: string | null
  readonly started_at: Date | null
  readonly completed_at: Date | null
  readonly created_at: Date
}

export interface ExecutionFilter {
  readonly place: RunPlace
  readonly id?: string
  readonly run?: string
  readonly agent?: string
  readonly limit?: number
  /** Those before this one, for the next page. */
  readonly before?: string
}

/** The newest first. */
export async function listExecutions(
  { query }: Queries,
  { place, id, run, agent, limit = 50, before }: ExecutionFilter,
): Promise<ExecutionRecord[]> {
  return query<ExecutionRecord>(
    `SELECT e.id, e.agent_id, e.workflow_run_id, e.status, e.stop_reason, e.input_text, e.output_text, e.token_usage,
       e.duration_ms::int, e.error_message, e.started_at, e.completed_at, e.created_at
     FROM agent_executions e JOIN workflow_runs r ON r.id = e.workflow_run_id
     WHERE ${ofPlace('r', '$1', '$7')} AND ($2::uuid IS NULL OR e.id = $2) AND ($3::uuid IS NULL OR e.workflow_run_id = $3)
       AND ($4::uuid IS NULL OR e.agent_id = $4)
       AND ($6::uuid IS NULL OR (e.created_at, e.id) < (SELECT b.created_at, b.id FROM agent_executions b WHERE b.id = $6))
     ORDER BY e.created_at DESC, e.id DESC LIMIT $5`,
    [place.workspace, id ?? null, run ?? null, agent ?? null, limit, before ?? null, place.workspaceId],
  )
}
