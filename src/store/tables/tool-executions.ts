import type { CallResult } from '../../core/call.ts'
import type { Queries } from '../database/database.ts'
import { toJson } from './json.ts'

/** The log of every tool execution of agents, for looking things up; the audit log is what proves. */
export async function insertToolExecutions(
  { query }: Queries,
  execution: string,
  calls: readonly { id: string; input: unknown; result: CallResult; ambiguous: boolean }[],
): Promise<void> {
  if (calls.length === 0) return
  const rows = calls.map(({ id, input, result, ambiguous }) => ({
    call_id: id,
    tool_name: result.tool.slice(0, 100),
    input: input ?? {},
    output: result.error === null ? result.text : result.error.message,
    is_error: !result.ok,
    duration_ms: Math.round(result.durationMs),
    error_code: result.error?.code ?? null,
    decision: result.decision,
    effects: result.effects,
    is_ambiguous: ambiguous,
  }))
  await query(
    `INSERT INTO tool_executions (execution_id, call_id, tool_name, input, output, is_error, duration_ms, error_code,
       decision, effects, is_ambiguous)
     SELECT $1, call_id, tool_name, input, output, is_error, duration_ms, error_code, decision, effects, is_ambiguous
     FROM jsonb_to_recordset($2) AS c(call_id text, tool_name text, input jsonb, output text, is_error boolean,
       duration_ms bigint, error_code text, decision jsonb, effects jsonb, is_ambiguous boolean)
     ON CONFLICT (call_id) DO NOTHING`,
    [execution, toJson(rows)],
  )
}

export interface ToolExecution {
  readonly call: string
  readonly tool: string
  readonly input: unknown
  readonly output: string | null
  readonly isError: boolean
  readonly errorCode: string | null
  readonly durationMs: number
  readonly isAmbiguous: boolean
  readonly decision: CallResult['decision'] | null
  readonly effects: CallResult['effects'] | null
  readonly at: Date
}

const SELECT = `SELECT t.call_id AS call, t.tool_name AS tool, t.input, t.output, t.is_error AS "isError",
  t.error_code AS "errorCode", t.duration_ms::int AS "durationMs", t.is_ambiguous AS "isAmbiguous", t.decision, t.effects,
  t.created_at AS at`

export async function listToolExecutions({ query }: Queries, execution: string): Promise<ToolExecution[]> {
  return query<ToolExecution>(
    `${SELECT} FROM tool_executions t WHERE t.execution_id = $1 ORDER BY t.created_at, t.call_id`,
    [execution],
  )
}

/** Of all agents of a run; `agent` is the name of a sub-agent. */
export async function listCallsOfRun(
  { query }: Queries,
  run: string,
): Promise<(ToolExecution & { readonly agent: string | null })[]> {
  return query(
    `${SELECT}, CASE WHEN e.parent_execution_id IS NULL THEN NULL ELSE a.name END AS agent
     FROM tool_executions t JOIN agent_executions e ON e.id = t.execution_id LEFT JOIN agents a ON a.id = e.agent_id
     WHERE e.workflow_run_id = $1 ORDER BY t.created_at, t.call_id`,
    [run],
  )
}
