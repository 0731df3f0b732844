import { randomUUID } from 'node:crypto'
import type { Queries } from '../database/database.ts'

/** What a person says to a run; it enters with the next turn. */
export async function sayToRun({ query }: Queries, id: string, run: string, text: string): Promise<void> {
  await query(
    'INSERT INTO run_messages (id, workflow_run_id, content) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING',
    [id, run, text],
  )
}

/**
 * The same to one sub-agent in it. False: there is none, or it has ended. The row is locked, so that one that is about to end
 * either finds the message or has ended before it.
 */
export async function sayToSubAgent(
  { query }: Queries,
  { run, execution }: { run: string; execution: string },
  text: string,
): Promise<boolean> {
  const rows = await query(
    `WITH at_work AS MATERIALIZED (SELECT id FROM agent_executions
       WHERE id = $1 AND workflow_run_id = $2 AND completed_at IS NULL FOR SHARE)
     INSERT INTO run_messages (id, workflow_run_id, content, execution_id) SELECT $3, $2, $4, id FROM at_work RETURNING 1`,
    [execution, run, randomUUID(), text],
  )
  return rows.length > 0
}

/** Those that nobody has taken yet. They are marked in the transaction that writes down the state they are part of. */
export async function waitingMessages(
  { query }: Queries,
  run: string,
  subAgent: string | null,
): Promise<{ id: string; content: string }[]> {
  return query(
    `SELECT id, content FROM run_messages WHERE workflow_run_id = $1 AND taken_at IS NULL
       AND execution_id IS NOT DISTINCT FROM $2 ORDER BY sequence`,
    [run, subAgent],
  )
}

export async function markTaken({ query }: Queries, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await query('UPDATE run_messages SET taken_at = NOW() WHERE id = ANY($1)', [ids])
}
