import { randomUUID } from 'node:crypto'
import type { Plan } from '../../agents/events.ts'
import type { Message } from '../../agents/messages.ts'
import type { Queries } from '../database/database.ts'
import { toJson } from './json.ts'

/** One row of `orchestration_runs`: a run whose agent plans, and whose plan a person may have to approve. */
export interface Orchestration {
  readonly id: string
  readonly agent: string | null
  readonly run: string
  readonly execution: string
  readonly mode: 'automatic' | 'approval'
  readonly status: 'running' | 'awaiting_approval' | 'completed' | 'failed' | 'rejected'
  readonly plan: Plan | null
  readonly finalOutput: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

export const REJECTED = 'Plan rejected by user'

const SELECT = `SELECT id, orchestrator_agent_id AS agent, workflow_run_id AS run, execution_id AS execution, mode, status,
  plan_json AS plan, final_output AS "finalOutput", created_at AS "createdAt", updated_at AS "updatedAt"
  FROM orchestration_runs`

export async function insertOrchestration(
  { query }: Queries,
  { agent, run, execution, mode }: Pick<Orchestration, 'agent' | 'run' | 'execution' | 'mode'>,
): Promise<string> {
  const id = randomUUID()
  await query(
    `INSERT INTO orchestration_runs (id, orchestrator_agent_id, workflow_run_id, execution_id, mode)
     VALUES ($1, $2, $3, $4, $5)`,
    [id, agent, run, execution, mode],
  )
  return id
}

export async function findOrchestration({ query }: Queries, id: string): Promise<Orchestration | undefined> {
  const [row] = await query<Orchestration>(`${SELECT} WHERE id = $1`, [id])
  return row
}

export async function orchestrationOfRun(
  { query }: Queries,
  run: string,
): Promise<Orchestration | undefined> {
  const [row] = await query<Orchestration>(`${SELECT} WHERE workflow_run_id = $1`, [run])
  return row
}

/** The plan waits for a person. It continues the conversation of the execution; `messages` are for looking. */
export async function savePlan(
  { query }: Queries,
  id: string,
  { plan, messages }: { plan: Plan; messages: readonly Message[] },
): Promise<void> {
  await query(
    `UPDATE orchestration_runs SET plan_json = $2, messages_json = $3, status = 'awaiting_approval' WHERE id = $1 AND status = 'running'`,
    [id, toJson(plan), toJson(messages)],
  )
}

/** Of several answers the first one counts: false for the others, and where the run was stopped meanwhile. */
export async function answerPlan(
  { query }: Queries,
  id: string,
  status: 'running' | 'rejected',
): Promise<boolean> {
  const rows = await query(
    `UPDATE orchestration_runs o SET status = $2 FROM workflow_runs r
     WHERE o.id = $1 AND o.status = 'awaiting_approval' AND r.id = o.workflow_run_id AND r.status = 'pending' RETURNING 1`,
    [id, status],
  )
  return rows.length > 0
}

export async function finishOrchestration(
  { query }: Queries,
  id: string,
  status: 'completed' | 'failed',
  output: string | null,
): Promise<void> {
  await query(
    `UPDATE orchestration_runs SET status = $2, final_output = $3 WHERE id = $1 AND status = 'running'`,
    [id, status, output],
  )
}

/** The run of a rejected plan has ended, and none of the calls that it wanted to make was made. */
export async function failRejected(
  { query }: Queries,
  { run, execution }: Pick<Orchestration, 'run' | 'execution'>,
): Promise<void> {
  const ending = { stopReason: 'denied', text: '', error: REJECTED }
  await query(
    `UPDATE agent_executions SET status = 'failed', stop_reason = 'denied', error_message = $2, completed_at = NOW(),
       state = state || $3::jsonb WHERE id = $1`,
    [execution, REJECTED, JSON.stringify({ pending: [], answered: [], ending })],
  )
  await query(
    `UPDATE workflow_runs SET status = 'failed', stop_reason = 'denied', error_message = $2, completed_at = NOW()
     WHERE id = $1 AND executor IS NULL`,
    [run, REJECTED],
  )
}
