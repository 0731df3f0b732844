import type { StoredEvent } from '../../store/tables/run-events.ts'

/** What `/api/ws` sends. */
export interface Envelope {
  readonly id: string
  readonly timestamp: string
  readonly event: { readonly type: string; readonly [field: string]: unknown }
}

/** An event under the names of the founding documents; none for what those do not know. */
export function toEnvelopes({ seq, run, execution, at, event }: StoredEvent): Envelope[] {
  const of = { workflow_run_id: run, execution_id: execution }
  const named = toNamed({ run, execution, event }, of)
  return named.map((each, index) => ({
    id: index === 0 ? String(seq) : `${seq}.${index}`,
    timestamp: at.toISOString(),
    event: each,
  }))
}

function toNamed(
  { event }: Pick<StoredEvent, 'run' | 'execution' | 'event'>,
  of: { workflow_run_id: string | null; execution_id: string | null },
): Envelope['event'][] {
  switch (event.type) {
    case 'run.started':
      return event.resumed
        ? []
        : [
            { type: 'WorkflowRunStarted', ...of },
            { type: 'AgentExecutionStarted', ...of },
          ]
    case 'run.finished': {
      const failed = event.status !== 'completed'
      const how = { status: event.status, error: event.error ?? null }
      return [
        { type: failed ? 'AgentExecutionFailed' : 'AgentExecutionCompleted', ...of, ...how },
        { type: 'WorkflowRunCompleted', ...of, ...how },
      ]
    }
    case 'text.delta':
      return [{ type: 'AgentExecutionProgress', ...of, text: event.text }]
    case 'call.proposed':
      return [{ type: 'ToolExecutionStarted', ...of, tool_name: event.tool, call_id: event.call }]
    case 'call.finished':
      return [
        {
          type: 'ToolExecutionCompleted',
          ...of,
          tool_name: event.tool,
          call_id: event.call,
          duration_ms: event.ms,
          is_error: !event.ok,
        },
      ]
    case 'agent.created':
      return [{ type: 'SubAgentCreated', ...of, agent_id: event.agent, name: event.name }]
    case 'plan.proposed':
      return [
        {
          type: 'OrchestratorPlanProposed',
          ...of,
          orchestration_run_id: event.orchestration,
          plan: event.plan,
        },
      ]
    case 'plan.approved':
      return [{ type: 'OrchestratorPlanApproved', ...of, orchestration_run_id: event.orchestration }]
    case 'plan.rejected':
      return [{ type: 'OrchestratorPlanRejected', ...of, orchestration_run_id: event.orchestration }]
    case 'orchestration.finished':
      return [
        {
          type: event.status === 'completed' ? 'OrchestratorCompleted' : 'OrchestratorFailed',
          ...of,
          orchestration_run_id: event.orchestration,
        },
      ]
    default:
      return []
  }
}
