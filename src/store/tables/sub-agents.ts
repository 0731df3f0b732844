import type { ExecutionResult } from '../../agents/sub-agent-tools.ts'
import type { Queries } from '../database/database.ts'
import { providerRow } from './llm-providers.ts'

// Agents that a model made for itself. They are never active: nobody lists them or runs them by their name, and only the
// execution that made one can use it. `source_path` says which one that is.

export interface NewSubAgent {
  readonly id: string
  readonly run: string
  /** The execution that makes it. */
  readonly execution: string
  readonly name: string
  readonly description: string
  readonly system: string
  readonly provider: string
  readonly model: string
}

const TEMPERATURE = 0.7
const MAX_TOKENS = 2048

/** Made again under the same id, it is the one that is there. */
export async function insertSubAgent(queries: Queries, agent: NewSubAgent): Promise<void> {
  const provider = await providerRow(queries, agent.provider)
  await queries.query(
    `INSERT INTO agents (id, workflow_id, llm_provider_id, name, description, system_prompt, model, temperature, max_tokens,
       source_path, is_active)
     SELECT $1, r.workflow_id, $3, $4, $5, $6, $7, ${TEMPERATURE}, ${MAX_TOKENS}, $8, FALSE FROM workflow_runs r WHERE r.id = $2
     ON CONFLICT (id) DO NOTHING`,
    [
      agent.id,
      agent.run,
      provider,
      agent.name,
      agent.description,
      agent.system,
      agent.model,
      madeBy(agent.execution),
    ],
  )
}

export interface SubAgentRecord {
  readonly id: string
  readonly name: string
  readonly system: string
  readonly temperature: number
  readonly maxTokens: number
}

export async function findSubAgent(
  { query }: Queries,
  id: string,
  execution: string,
): Promise<SubAgentRecord | undefined> {
  const [row] = await query<SubAgentRecord>(
    `SELECT id, name, system_prompt AS system, temperature, max_tokens AS "maxTokens" FROM agents
     WHERE id = $1 AND source_path = $2`,
    [id, madeBy(execution)],
  )
  return row
}

/** The part of a sub-agent in a run. Begun again under the same id, it is the one that is there. */
export async function insertChildExecution(
  { query }: Queries,
  child: { id: string; agent: string; run: string; parent: string; input: string },
): Promise<void> {
  await query(
    `INSERT INTO agent_executions (id, agent_id, workflow_run_id, parent_execution_id, status, input_text, started_at)
     VALUES ($1, $2, $3, $4, 'running', $5, NOW()) ON CONFLICT (id) DO NOTHING`,
    [child.id, child.agent, child.run, child.parent, child.input],
  )
}

export async function findChildExecution(
  { query }: Queries,
  id: string,
  parent: string,
): Promise<ExecutionResult | undefined> {
  const [row] = await query<ExecutionResult>(
    `SELECT id AS execution_id, agent_id, status, output_text AS output, error_message AS error,
       duration_ms::float8 AS duration_ms FROM agent_executions WHERE id = $1 AND parent_execution_id = $2`,
    [id, parent],
  )
  return row
}

/** Requests about a run that no execution of it made: its reviewers. */
const REVIEWS = `SELECT coalesce(sum(cost_usd), 0)::float8 AS cost, coalesce(sum(input_tokens + cached_tokens +
  cache_write_tokens + output_tokens + reasoning_tokens), 0) AS tokens
  FROM usage WHERE usage.workflow_run_id = $1 AND execution_id IS NULL`

/** What the other executions of a run have used up, and those who reviewed what it did. */
export async function spentElsewhere(
  { query }: Queries,
  run: string,
  execution: string,
): Promise<{ costUsd: number; tokens: number; calls: number }> {
  const [row] = await query<{ costUsd: number; tokens: number; calls: number }>(
    `SELECT coalesce(sum((state->>'costUsd')::float8), 0) + review.cost AS "costUsd",
       (coalesce(sum((token_usage->>'total')::float8), 0) + review.tokens)::float8 AS tokens,
       coalesce(sum((state->>'calls')::int), 0)::int AS calls
     FROM (${REVIEWS}) review LEFT JOIN agent_executions ON workflow_run_id = $1 AND id <> $2
     GROUP BY review.cost, review.tokens`,
    [run, execution],
  )
  return row ?? { costUsd: 0, tokens: 0, calls: 0 }
}

function madeBy(execution: string): string {
  return `execution:${execution}`
}
