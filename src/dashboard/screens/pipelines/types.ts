/** What `GET /api/pipelines/{name}` answers. */
export interface Pipeline {
  readonly name: string
  readonly state: 'trusted' | 'untrusted' | 'broken'
  readonly hash: string
  readonly whole: {
    readonly hash: string
    readonly pipelines: readonly string[]
    readonly panels: readonly string[]
  } | null
  readonly definition: Definition | null
  readonly edges: readonly { readonly from: string; readonly to: string }[]
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
  readonly text: string
}

/** A pipeline's file as JSON. Keys that the page does not know are kept as they are. */
export interface Definition {
  readonly name: string
  readonly description?: string
  readonly input?: Readonly<Record<string, InputField>>
  readonly step: readonly Step[]
  readonly edge?: readonly Edge[]
}

export interface InputField {
  readonly type?: 'string' | 'number' | 'boolean'
  readonly required?: boolean
  readonly default?: string | number | boolean
  readonly description?: string
}

export interface Step {
  readonly id: string
  readonly title?: string
  readonly tool?: string
  readonly args?: Readonly<Record<string, unknown>>
  readonly rehearsal?: string | Readonly<Record<string, unknown>>
  readonly panel?: string
  readonly prompt?: string
  readonly vars?: Readonly<Record<string, unknown>>
  readonly pipeline?: string
  readonly input?: Readonly<Record<string, unknown>>
  readonly text?: string
  readonly folder?: string
  readonly condition?: string
  readonly value?: string
  readonly if_true?: string
  readonly if_false?: string
  readonly transform?: unknown
  readonly parse?: 'json' | 'lines'
  readonly where?: string
  readonly join?: string
  readonly for_each?: string
  readonly retry?: number
  readonly on_error?: 'stop' | 'continue'
  readonly default?: string | Readonly<Record<string, unknown>>
  readonly gate?: 'approval'
  readonly show?: 'table' | 'chart' | 'diagram'
}

export interface Edge {
  readonly from: string
  readonly to: string
  readonly when?: string
  readonly max_retries?: number
  readonly retry_delay?: string | number
  readonly summarize?: boolean
  readonly summarizer?: string
  readonly auto_chain?: boolean
}

/** What `GET /api/pipeline-runs/{id}` answers. */
export interface PipelineRun {
  readonly id: string
  readonly pipeline: string
  readonly status: 'running' | 'waiting' | 'stopped' | 'completed' | 'failed'
  readonly started_at: string
  readonly input: Readonly<Record<string, unknown>>
  readonly continues: string | null
  readonly rehearse: boolean
  readonly steps: Readonly<Record<string, StepRun>>
  readonly is_working: boolean
  readonly problem: string | null
  readonly hash: string
}

export interface StepRun {
  readonly status: 'waiting' | 'running' | 'done' | 'skipped' | 'failed'
  readonly attempts: number
  /** The run of its panel. */
  readonly run?: string
  readonly gate?: boolean
  readonly text?: string
  readonly data?: unknown
  readonly error?: string
  readonly reason?: string
  /** It ran, and its answer is no, or it could not tell. */
  readonly verdict?: { readonly is: 'failed' | 'unknown'; readonly why: string }
}
