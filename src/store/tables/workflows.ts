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

export interface WorkflowRecord {
  readonly id: string
  readonly user: string
  readonly name: string
  readonly description: string | null
  readonly createdAt: Date
}

const SELECT = `SELECT id, user_id AS user, name, description, created_at AS "createdAt" FROM workflows`

export async function listWorkflows({ query }: Queries, user: string): Promise<WorkflowRecord[]> {
  return query<WorkflowRecord>(`${SELECT} WHERE user_id = $1 AND is_active ORDER BY name LIMIT 500`, [user])
}

export async function findWorkflow(
  { query }: Queries,
  user: string,
  id: string,
): Promise<WorkflowRecord | undefined> {
  const [row] = await query<WorkflowRecord>(`${SELECT} WHERE id = $1 AND user_id = $2 AND is_active`, [
    id,
    user,
  ])
  return row
}

/** Undefined when the name is taken. */
export async function insertWorkflow(
  { query }: Queries,
  workflow: { user: string; name: string; description: string | null },
): Promise<string | undefined> {
  const [row] = await query<{ id: string }>(
    `INSERT INTO workflows (user_id, name, description) VALUES ($1, $2, $3)
     ON CONFLICT (user_id, name) DO NOTHING RETURNING id`,
    [workflow.user, workflow.name, workflow.description],
  )
  return row?.id
}
