import type { RunRecord } from '../agents/run-record.ts'
import type { Orchestration } from '../store/tables/orchestration-runs.ts'
import { z } from './api.ts'

// Runs, executions and orchestrations as the API shows them.

export const runShape = z
  .object({
    id: z.string(),
    execution_id: z.string(),
    status: z.enum(['pending', 'running', 'completed', 'failed', 'cancelled']),
    stop_reason: z.string().nullable(),
    error: z.string().nullable(),
    text: z.string().nullable(),
    task: z.string(),
    model: z.string(),
    agent: z.string().nullable(),
    /** `cli`, `pipeline`, or `http:` with a name and the id of a token. */
    started_by: z.string().nullable(),
    workspace: z.string(),
    created_at: z.string(),
    completed_at: z.string().nullable(),
    cost_usd: z.number().nullable(),
    tokens: z.int(),
    calls: z.int(),
    turn: z.int(),
    max_cost_usd: z.number().nullable(),
    /** It has ended at a limit, and a person may let it go on with more. */
    can_extend: z.boolean(),
    /** Why the model could not be asked. */
    error_kind: z.string().nullable(),
    mode: z.string().nullable(),
    orchestration: z.string().nullable(),
    /** What a person wants of it and has not happened yet. */
    requested: z.enum(['pause', 'stop', 'stop_after_step']).nullable(),
  })
  .openapi('Run')

export function showRun(run: RunRecord): z.infer<typeof runShape> {
  return {
    id: run.id,
    execution_id: run.execution,
    status: run.status,
    stop_reason: run.stopReason,
    error: run.error,
    text: run.output,
    task: run.spec.task,
    model: run.spec.model,
    agent: run.spec.agent ?? null,
    started_by: run.spec.startedBy ?? null,
    workspace: run.workspace,
    created_at: run.createdAt.toISOString(),
    completed_at: run.completedAt?.toISOString() ?? null,
    cost_usd: run.costUsd,
    tokens: run.tokens,
    calls: run.calls,
    turn: run.turn,
    max_cost_usd: run.spec.limits.maxCostUsd ?? null,
    can_extend: mayExtend(run),
    error_kind: run.errorKind,
    mode: run.spec.authority.mode ?? null,
    orchestration: run.spec.orchestration ?? null,
    requested: run.status === 'running' ? run.requested : null,
  }
}

/** A budget of all runs, at which a run waits, is raised in the configuration and not in passing. */
export function mayExtend({ status, stopReason, spec }: RunRecord): boolean {
  return status === 'failed' && stopReason === 'limit_reached' && spec.limits.onLimit === 'ask'
}

/** Beside the run itself: what became of its calls. */
export const countedRunShape = runShape
  .extend({ asked: z.int(), denied: z.int(), failed_calls: z.int(), agents: z.int() })
  .openapi('CountedRun')

export const executionShape = z
  .object({
    id: z.string(),
    agent_id: z.string().nullable(),
    workflow_run_id: z.string(),
    status: z.enum(['pending', 'running', 'completed', 'failed']),
    stop_reason: z.string().nullable(),
    input_text: z.string(),
    output_text: z.string().nullable(),
    token_usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int() }).nullable(),
    duration_ms: z.int().nullable(),
    error_message: z.string().nullable(),
    started_at: z.string().nullable(),
    completed_at: z.string().nullable(),
    created_at: z.string(),
  })
  .openapi('AgentExecution')

export const orchestrationShape = z
  .object({
    id: z.string(),
    orchestrator_agent_id: z.string().nullable(),
    workflow_run_id: z.string(),
    execution_id: z.string(),
    mode: z.enum(['automatic', 'approval']),
    status: z.enum(['running', 'awaiting_approval', 'completed', 'failed', 'rejected']),
    plan_json: z
      .object({
        steps: z.array(z.object({ tool_use_id: z.string(), name: z.string(), input: z.unknown() })),
        text: z.string(),
      })
      .nullable(),
    final_output: z.string().nullable(),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .openapi('OrchestrationRun')

export function showOrchestration(row: Orchestration): Record<string, unknown> {
  return {
    id: row.id,
    orchestrator_agent_id: row.agent,
    workflow_run_id: row.run,
    execution_id: row.execution,
    mode: row.mode,
    status: row.status,
    plan_json: row.plan,
    final_output: row.finalOutput,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  }
}
