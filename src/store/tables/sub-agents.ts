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

/**
 * The part of a sub-agent in a run. Begun again under the same id, it is the one that is there; true: a person wants it to
 * end.
 */
export async function insertChildExecution(
  { query }: Queries,
  child: { id: string; agent: string; run: string; parent: string; input: string; tools: readonly string[] },
): Promise<boolean> {
  const [row] = await query<{ stopped: boolean }>(
    `INSERT INTO agent_executions AS e (id, agent_id, workflow_run_id, parent_execution_id, status, input_text, started_at,
       tools)
     VALUES ($1, $2, $3, $4, 'running', $5, NOW(), $6) ON CONFLICT (id) DO UPDATE SET id = EXCLUDED.id
     RETURNING e.stop_requested_at IS NOT NULL AS stopped`,
    [child.id, child.agent, child.run, child.parent, child.input, JSON.stringify(child.tools)],
  )
  return row?.stopped === true
}

/** Of an agent in a run: itself and all below it. */
export const SUBTREE = `subtree AS (SELECT id FROM agent_executions WHERE id = $1
  UNION ALL SELECT e.id FROM agent_executions e JOIN subtree ON e.parent_execution_id = subtree.id)`

/** Writes down that a person wants a sub-agent to end. False: there is none, or it has ended. */
export async function requestAgentStop(
  { query }: Queries,
  { run, execution }: { run: string; execution: string },
): Promise<boolean> {
  const rows = await query(
    `UPDATE agent_executions SET stop_requested_at = coalesce(stop_requested_at, NOW())
     WHERE id = $1 AND workflow_run_id = $2 AND parent_execution_id IS NOT NULL AND completed_at IS NULL RETURNING 1`,
    [execution, run],
  )
  return rows.length > 0
}

export async function findRunAgent(
  { query }: Queries,
  { run, execution }: { run: string; execution: string },
): Promise<{ parent: string | null; hasEnded: boolean } | undefined> {
  const [row] = await query<{ parent: string | null; hasEnded: boolean }>(
    `SELECT parent_execution_id AS parent, completed_at IS NOT NULL AS "hasEnded" FROM agent_executions
     WHERE id = $1 AND workflow_run_id = $2`,
    [execution, run],
  )
  return row
}

/** Ends all that work below a sub-agent which was stopped. Returns those that had not ended. */
export async function endBelow(
  { query }: Queries,
  execution: string,
): Promise<{ execution: string; agent: string; name: string }[]> {
  return query(
    `WITH RECURSIVE ${SUBTREE}, ended AS (UPDATE agent_executions SET status = 'failed', stop_reason = 'cancelled',
         error_message = 'It was stopped with the agent above it.', completed_at = NOW(),
         stop_requested_at = coalesce(stop_requested_at, NOW())
       WHERE id <> $1 AND completed_at IS NULL AND id IN (SELECT id FROM subtree) RETURNING id, agent_id)
     SELECT ended.id AS execution, coalesce(ended.agent_id::text, '') AS agent, coalesce(a.name, '') AS name
     FROM ended LEFT JOIN agents a ON a.id = ended.agent_id`,
    [execution],
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
       coalesce(sum((state->>'calls')::int + coalesce(jsonb_array_length(state->'answered'), 0)), 0)::int AS calls
     FROM (${REVIEWS}) review LEFT JOIN agent_executions ON workflow_run_id = $1 AND id <> $2
     GROUP BY review.cost, review.tokens`,
    [run, execution],
  )
  return row ?? { costUsd: 0, tokens: 0, calls: 0 }
}

function madeBy(execution: string): string {
  return `execution:${execution}`
}
