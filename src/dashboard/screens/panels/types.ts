import type { Run } from '../../api/types.ts'
import type { PanelKind } from '../../components/panel-kind/panel-kind.tsx'

/** What `GET /api/panels/{name}` answers; the list leaves the text out. */
export interface Panel {
  readonly name: string
  /** Null: it cannot be read. */
  readonly kind: PanelKind | null
  readonly state: 'trusted' | 'new' | 'changed' | 'broken'
  readonly hash: string
  readonly settings: PanelSettings | null
  readonly variables: readonly string[]
  readonly error: string | null
  readonly agent_id: string | null
  readonly last_run: Run | null
  readonly text?: string
}

/** A panel's file as JSON. Keys that the page does not know are kept as they are. */
export interface PanelSettings {
  readonly kind?: PanelKind
  /** Of a text and of what is drawn. */
  readonly text?: string
  readonly folder?: string
  readonly description?: string
  readonly system?: string
  readonly prompt?: string
  readonly model?: string
  readonly temperature?: number
  readonly max_tokens?: number
  readonly mode?: string
  readonly orchestration?: 'none' | 'automatic' | 'approval'
  readonly limits?: PanelLimits
  readonly tools?: Readonly<Record<string, ToolSettings>>
}

export interface PanelLimits {
  readonly max_turns?: number
  /** `10m`, `90s`. */
  readonly max_time?: string
  readonly max_cost?: number
  readonly on_limit?: 'stop' | 'ask'
}

export type ToolSettings = Readonly<Record<string, unknown>> & { readonly enabled?: boolean }

export interface Verdict {
  readonly tool: string
  readonly outcome: 'allow' | 'ask' | 'deny'
  readonly by: string
  readonly reasons: readonly string[]
  readonly rule: { readonly id: string; readonly source: string; readonly line?: number } | null
}

export interface Model {
  readonly id: string
  readonly name: string
  readonly context: number | null
  readonly max_output: number | null
  readonly tools: boolean
  readonly images: boolean
  readonly temperature: boolean
  readonly price: {
    readonly input: number
    readonly output: number
    readonly cached: number
    readonly cacheWrite: number
  } | null
}

export interface Models {
  readonly default: string | null
  readonly providers: readonly {
    readonly name: string
    readonly kind: string
    readonly key_place: string | null
    readonly has_key: boolean
    readonly is_default: boolean
    readonly models: readonly Model[]
  }[]
}
