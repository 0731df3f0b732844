import type { AgentRecord } from '../../agents/agent-record.ts'
import type { Queries } from '../database/database.ts'
import type { WorkflowPlace } from './workflows.ts'

const SELECT = `SELECT a.id, a.name, a.description, a.system_prompt AS system, p.name AS provider, p.id AS "providerId", a.model, a.temperature,
  a.max_tokens AS "maxTokens", a.source_path AS "sourcePath", a.source_hash AS "sourceHash", a.created_at AS "createdAt"
  FROM agents a JOIN llm_providers p ON p.id = a.llm_provider_id`

export async function listAgents({ query }: Queries, workflow: string): Promise<AgentRecord[]> {
  return query<AgentRecord>(`${SELECT} WHERE a.workflow_id = $1 AND a.is_active ORDER BY a.name`, [workflow])
}

/** Names are compared as they are written: an agent is authority. */
export async function findAgent(
  { query }: Queries,
  workflow: string,
  name: string,
): Promise<AgentRecord | undefined> {
  const [row] = await query<AgentRecord>(
    `${SELECT} WHERE a.workflow_id = $1 AND a.name = $2 AND a.is_active`,
    [workflow, name],
  )
  return row
}

export interface AgentSettings {
  readonly name: string
  readonly provider: string
  readonly description?: string | null
  readonly system?: string | null
  readonly model?: string | null
  readonly temperature?: number | null
  readonly maxTokens?: number | null
  readonly sourcePath?: string | null
  readonly sourceHash?: string | null
}

/** A new agent; what is left out has the defaults of the table. Undefined: the name is taken. */
export async function insertAgent(
  { query }: Queries,
  workflow: string,
  settings: AgentSettings,
): Promise<string | undefined> {
  const { name, provider, description, system, model, temperature, maxTokens, sourcePath, sourceHash } =
    settings
  const [row] = await query<{ id: string }>(
    `INSERT INTO agents (workflow_id, llm_provider_id, name, description, system_prompt, model, temperature, max_tokens,
       source_path, source_hash)
     VALUES ($1, $2, $3, $4, $5, coalesce($6, 'claude-sonnet-4-5-20250929'), coalesce($7, 0.7), coalesce($8, 1024), $9, $10)
     ON CONFLICT (workflow_id, name) WHERE is_active DO NOTHING RETURNING id`,
    [
      workflow,
      provider,
      name,
      description ?? null,
      system ?? null,
      model ?? null,
      temperature ?? null,
      maxTokens ?? null,
      sourcePath ?? null,
      sourceHash ?? null,
    ],
  )
  return row?.id
}

/** What is undefined stays as it is. */
export async function updateAgent(
  { query }: Queries,
  id: string,
  { provider, description, system, model, temperature, maxTokens, sourceHash }: Partial<AgentSettings>,
): Promise<void> {
  await query(
    `UPDATE agents SET llm_provider_id = coalesce($2, llm_provider_id), description = coalesce($3, description),
       system_prompt = coalesce($4, system_prompt), model = coalesce($5, model), temperature = coalesce($6, temperature),
       max_tokens = coalesce($7, max_tokens), source_hash = coalesce($8, source_hash) WHERE id = $1`,
    [
      id,
      provider ?? null,
      description ?? null,
      system ?? null,
      model ?? null,
      temperature ?? null,
      maxTokens ?? null,
      sourceHash ?? null,
    ],
  )
}

/** Its runs stay; its name is free again. */
export async function retireAgent({ query }: Queries, id: string): Promise<void> {
  await query('UPDATE agents SET is_active = FALSE WHERE id = $1', [id])
}

/** By id, of any workflow of this person in this workspace: another one's server has its rules and its files. */
export async function findAgentById(
  { query }: Queries,
  { user, workspace }: WorkflowPlace,
  id: string,
): Promise<(AgentRecord & { workflow: string }) | undefined> {
  const [row] = await query<AgentRecord & { workflow: string }>(
    `${SELECT.replace('SELECT', 'SELECT a.workflow_id AS workflow,')} JOIN workflows w ON w.id = a.workflow_id
     WHERE a.id = $1 AND w.user_id = $2 AND w.workspace = $3 AND a.is_active`,
    [id, user, workspace],
  )
  return row
}
