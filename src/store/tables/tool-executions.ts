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

export async function listToolExecutions({ query }: Queries, execution: string): Promise<ToolExecution[]> {
  return query<ToolExecution>(
    `SELECT call_id AS call, tool_name AS tool, input, output, is_error AS "isError", error_code AS "errorCode",
       duration_ms::int AS "durationMs", is_ambiguous AS "isAmbiguous", decision, effects, created_at AS at
     FROM tool_executions WHERE execution_id = $1 ORDER BY created_at, call_id`,
    [execution],
  )
}
