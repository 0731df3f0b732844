import type { AuthorityWish } from '../core/authority.ts'
import { ToolError } from '../core/errors.ts'
import type { Label } from '../core/tool.ts'
import type { RunLimits } from './limits.ts'
import type { ModelErrorKind } from './model.ts'
import type { RunWish } from './run-control.ts'

// What is kept of a run. Plain data: the store writes it down, doors show it.

/** What was asked for. Only its limits can be raised later, so that a run that goes on is the same run. */
export interface RunSpec {
  readonly task: string
  /** `cli`, `pipeline`, or `http:` with a name and the id of a token. Missing where an older Kogu wrote it down. */
  readonly startedBy?: string
  /** As `--model` takes it. */
  readonly model: string
  /** The panel or agent that it runs as. */
  readonly agent?: string
  readonly agentId?: string
  readonly system?: string
  readonly authority: AuthorityWish
  readonly limits: RunLimits
  readonly temperature?: number
  readonly maxTokens?: number
  /** Defaults to one agent with its tools. With a value, it may have sub-agents; `approval`: once a person has seen its plan. */
  readonly orchestration?: Orchestration
  /** What its task is made of, where that came from outside: it has entered the run before the first call. */
  readonly labels?: readonly Label[]
}

export type Orchestration = 'automatic' | 'approval'

export type RunStatus = 'pending' | 'running' | 'completed' | 'failed' | 'cancelled'

export interface RunRecord {
  readonly id: string
  /** Of the agent's part in it. */
  readonly execution: string
  readonly workspace: string
  /** Of the folder itself. Null for a run of a Kogu that gave folders no ids. */
  readonly workspaceId: string | null
  readonly status: RunStatus
  /** Why it stands still or ended. */
  readonly stopReason: string | null
  readonly error: string | null
  /** Why the model could not be asked. */
  readonly errorKind: ModelErrorKind | null
  readonly output: string | null
  readonly spec: RunSpec
  /** The number of the next turn. */
  readonly turn: number
  readonly requested: RunWish | null
  readonly createdAt: Date
  readonly completedAt: Date | null
  /** Null as soon as one request had an unknown price. */
  readonly costUsd: number | null
  readonly tokens: number
  readonly calls: number
}

/** A run belongs to its folder: elsewhere there are other files, other rules, and none of its undo records. */
export function requireHome(
  { workspace, workspaceId }: Pick<RunRecord, 'workspace' | 'workspaceId'>,
  here: { readonly workspace: string; readonly workspaceId: string },
): void {
  if (workspaceId !== null && workspace === here.workspace && workspaceId !== here.workspaceId) {
    throw new ToolError('conflict', 'This run belongs to another folder that has the same path.')
  }
  if (workspace !== here.workspace) {
    throw new ToolError('conflict', `This run belongs to ${workspace}.`, { hint: `Add: --cwd ${workspace}` })
  }
}
