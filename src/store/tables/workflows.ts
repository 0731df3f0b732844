import type { Queries } from '../database/database.ts'

/** The workflow that holds a workspace's agents and runs: one per person and workspace. */
export async function workflowOf({ query }: Queries, user: string, workspace: string): Promise<string> {
  const [row] = await query<{ id: string }>(
    `INSERT INTO workflows (user_id, name) VALUES ($1, $2)
     ON CONFLICT (user_id, name) DO UPDATE SET is_active = TRUE RETURNING id`,
    [user, workspace],
  )
  return row?.id ?? ''
}
