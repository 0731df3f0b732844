import type { Queries } from '../database/database.ts'

/** The workflow that holds a workspace's agents and runs: one per person and workspace. */
export async function workflowOf({ query }: Queries, user: string, workspace: string): Promise<string> {
  const [row] = await query<{ id: string }>(
    `INSERT INTO workflows (user_id, name, workspace) VALUES ($1, $2, $2)
     ON CONFLICT (user_id, name) DO UPDATE SET is_active = TRUE, workspace = $2 RETURNING id`,
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

/** Whose workflows: of this person, in this workspace. */
export interface WorkflowPlace {
  readonly user: string
  readonly workspace: string
}

export async function listWorkflows(
  { query }: Queries,
  { user, workspace }: WorkflowPlace,
): Promise<WorkflowRecord[]> {
  return query<WorkflowRecord>(
    `${SELECT} WHERE user_id = $1 AND workspace = $2 AND is_active ORDER BY name LIMIT 500`,
    [user, workspace],
  )
}

export async function findWorkflow(
  { query }: Queries,
  { user, workspace }: WorkflowPlace,
  id: string,
): Promise<WorkflowRecord | undefined> {
  const [row] = await query<WorkflowRecord>(
    `${SELECT} WHERE id = $1 AND user_id = $2 AND workspace = $3 AND is_active`,
    [id, user, workspace],
  )
  return row
}

/** Undefined when the name is taken. */
export async function insertWorkflow(
  { query }: Queries,
  { user, workspace, name, description }: WorkflowPlace & { name: string; description: string | null },
): Promise<string | undefined> {
  const [row] = await query<{ id: string }>(
    `INSERT INTO workflows (user_id, workspace, name, description) VALUES ($1, $2, $3, $4)
     ON CONFLICT (user_id, name) DO NOTHING RETURNING id`,
    [user, workspace, name, description],
  )
  return row?.id
}
