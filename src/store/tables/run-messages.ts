import type { Queries } from '../database/database.ts'

/** What a person says to a run, or to one sub-agent in it; it enters with the next turn. */
export async function sayToRun(
  { query }: Queries,
  id: string,
  run: string,
  text: string,
  subAgent?: string,
): Promise<void> {
  await query(
    `INSERT INTO run_messages (id, workflow_run_id, content, execution_id) VALUES ($1, $2, $3, $4)
     ON CONFLICT (id) DO NOTHING`,
    [id, run, text, subAgent ?? null],
  )
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
