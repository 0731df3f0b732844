import type { LoopState } from '../../agents/loop-state.ts'
import { totalTokens } from '../../agents/model.ts'
import type { Queries } from '../database/database.ts'
import { insertMessages, listMessages } from './agent-messages.ts'

/** The state of a loop; undefined before its first step. */
export async function loadState(queries: Queries, execution: string): Promise<LoopState | undefined> {
  const [row] = await queries.query<{ state: Omit<LoopState, 'messages'> | null }>(
    'SELECT state FROM agent_executions WHERE id = $1',
    [execution],
  )
  if (row?.state === undefined || row.state === null) return undefined
  return { ...row.state, messages: await listMessages(queries, execution) }
}

/**
 * Writes down a state, with the messages that are new since `known`. False: this executor does not own the run any
 * longer, and nothing was written.
 */
export async function saveState(
  queries: Queries,
  at: { run: string; execution: string; executor: string; known: number },
  { messages, ...state }: LoopState,
): Promise<boolean> {
  const { ending, usage } = state
  const status = ending === null ? 'running' : ending.error === undefined ? 'completed' : 'failed'
  const rows = await queries.query(
    `UPDATE agent_executions SET state = $4, status = $5::text, stop_reason = $6, output_text = $7, error_message = $8,
       token_usage = $9, duration_ms = $10, completed_at = CASE WHEN $5::text = 'running' THEN NULL ELSE NOW() END
     WHERE id = $1 AND EXISTS (SELECT 1 FROM workflow_runs WHERE id = $2 AND executor = $3 FOR UPDATE) RETURNING 1`,
    [
      at.execution,
      at.run,
      at.executor,
      JSON.stringify(state),
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
  if (rows.length === 0) return false
  await insertMessages(queries, at.execution, messages, at.known)
  return true
}
