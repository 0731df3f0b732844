import type { ServerRun } from '../../client.ts'
import type { Decision } from '../../core/decision.ts'
import type { ShownQuestion } from '../../core/stored-question.ts'

// What the server's routes answer, as /api/openapi.json describes it.

export type Approval = ShownQuestion

export type Run = ServerRun & {
  readonly turn: number
  readonly workspace: string
  /** Calls that were refused, and those that failed. */
  readonly asked?: number
  readonly denied?: number
  readonly failed_calls?: number
  readonly agents?: number
  readonly started_by: string | null
  readonly max_cost_usd: number | null
  readonly can_extend: boolean
  readonly error_kind: string | null
  /** What a person wants of it and has not happened yet. */
  readonly requested: 'pause' | 'stop' | 'stop_after_step' | null
}

export interface Page<T> {
  readonly items: readonly T[]
  readonly next: string | null
}

export interface Tool {
  readonly name: string
  readonly aliases: readonly string[]
  readonly title: string
  readonly category: string
  readonly risk: 'low' | 'high'
  readonly provider: string
  readonly enabled: boolean
  readonly definition: {
    readonly name: string
    readonly description: string
    readonly input_schema: Readonly<Record<string, unknown>>
    readonly output_schema: Readonly<Record<string, unknown>> | null
  }
  /** What a panel can set for it. */
  readonly settings_schema: Readonly<Record<string, unknown>>
}

export interface Change {
  readonly call: string
  readonly run: string
  readonly tool: string
  readonly at: string
  readonly undone: boolean
  readonly undoes: readonly string[]
  readonly paths: readonly { readonly path: string; readonly change: string }[]
}

export interface UndoPlan {
  readonly calls: readonly string[]
  readonly steps: readonly { readonly path: string; readonly action: 'create' | 'restore' | 'delete' }[]
  readonly conflicts: readonly { readonly path: string; readonly call: string; readonly reason: string }[]
  readonly staying: readonly string[]
  readonly digest: string
}

export interface AuditItem {
  readonly seq: number
  readonly at: string
  readonly segment: string
  readonly prev: string
  readonly hash: string
  readonly type: 'call-started' | 'approval-requested' | 'approval-answered' | 'call-finished' | 'note'
  readonly call?: string
  readonly run?: string
  readonly tool?: string
  readonly ok?: boolean
  readonly error?: { readonly code: string; readonly message: string }
  readonly decision?: Decision
  readonly risk?: string
  readonly action?: string
  readonly details?: Readonly<Record<string, unknown>>
  readonly answer?: string
  readonly digest?: string
  readonly user?: string
  readonly runMs?: number
  readonly waitMs?: number
  readonly input?: unknown
  readonly caller?: string
  readonly agent?: string
  readonly [field: string]: unknown
}
