import type { CallResult } from '../core/call.ts'
import type { NearLimit } from './limits.ts'
import type { Usage } from './model.ts'

/** What happens in a run, as it happens. Each becomes one row of `run_events` and one line of `--ndjson`. */
export type RunEvent =
  | { type: 'run.started'; model: string; task: string; resumed: boolean }
  | { type: 'run.finished'; status: string; stopReason: string; error?: string }
  | { type: 'run.paused'; reason: string }
  | { type: 'step.started'; turn: number }
  | { type: 'step.retry'; reason: string; attempt: number; waitMs: number }
  /** One request to a model, whether it is repeated or not. */
  | {
      type: 'model.failed'
      provider: string
      model: string
      kind: string
      message: string
      retryAfterMs?: number
    }
  | {
      type: 'step.finished'
      turn: number
      stopReason: string
      usage: Usage
      /** Null when the price is not known. */
      costUsd: number | null
      ms: number
    }
  /** What a request to a model used. */
  | { type: 'usage'; model: string; usage: Usage; costUsd: number | null }
  | { type: 'text.delta'; text: string }
  | { type: 'call.proposed'; call: string; tool: string; input: unknown }
  | { type: 'call.waiting'; call: string; tool: string; approval: string }
  /** It was let through, and runs. */
  | { type: 'call.started'; call: string; tool: string }
  /** What it says while it runs, without secrets; the result has all of it. */
  | { type: 'call.output'; call: string; text: string }
  | {
      type: 'call.finished'
      call: string
      /** Its id in the audit log and among the calls of the run; `call` is the model's. */
      record?: string
      tool: string
      ok: boolean
      error: CallResult['error']
      decision: CallResult['decision']
      effects: CallResult['effects']
      /** Low: it can have changed nothing. */
      risk?: CallResult['risk']
      ms: number
      waitMs: number
    }
  /** Interrupted between its claim and its result: nobody knows whether it had its effect. It is never repeated. */
  | { type: 'call.ambiguous'; call: string; tool: string }
  | { type: 'result.rejected'; call: string; tool: string }
  | { type: 'message.received'; text: string }
  /** Most of the day's or the month's budget is used up. */
  | { type: 'budget.warning'; text: string }
  /** The run has come close to one of its limits. */
  | ({ type: 'limit.near' } & NearLimit)
  | { type: 'agent.created'; agent: string; name: string; description: string }
  | { type: 'agent.started'; agent: string; name: string; execution: string }
  | { type: 'agent.finished'; agent: string; name: string; execution: string; status: string }
  /** An orchestrator in the mode `approval` says what it wants to do, before it does any of it. */
  | { type: 'plan.proposed'; orchestration: string; plan: Plan }
  | { type: 'plan.approved' | 'plan.rejected'; orchestration: string; user: string }
  /** Reviewers have voted on its plan, or on what it did. */
  | {
      type: 'review.finished'
      phase: 'plan' | 'final'
      passed: boolean
      display: string
      /** Why they reject it. */
      feedback: string
    }
  | { type: 'orchestration.finished'; orchestration: string; status: 'completed' | 'failed' }

/** The calls of an orchestrator's first answer. */
export interface Plan {
  readonly steps: readonly { readonly tool_use_id: string; readonly name: string; readonly input: unknown }[]
  readonly text: string
}

/** What happens in a workspace beside or around its runs. */
export type WorkspaceEvent =
  | { type: 'run.created'; run: string; task: string; agent: string | null }
  | { type: 'approval.created'; approval: string; run: string; call: string; tool: string; risk: string }
  | { type: 'approval.updated'; approval: string; run: string; answer: string; user: string }
  | { type: 'approval.closed'; approval: string; run: string }
  /** Somebody wrote a file that it is about; `state` says in which state all of them are. */
  | { type: 'approval.touched'; approval: string; run: string; state: string }
  /** Tools came, went or are others now. */
  | { type: 'tool.changed' }
  | { type: 'mcp.status'; server: string; trust: string; available: boolean; held: number }
  /** Files of the configuration are others than those that this server began with. */
  | { type: 'config.changed'; files: readonly string[] }
  | { type: 'panel.changed'; name: string }
  /** Its file, or a run of it. */
  | { type: 'pipeline.changed'; name: string; pipeline_run?: string }
