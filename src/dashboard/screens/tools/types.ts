/** What `GET /api/tools/verdicts` answers. */
export interface Verdict {
  readonly tool: string
  readonly outcome: 'allow' | 'ask' | 'deny'
  readonly by: string
  readonly reasons: readonly string[]
  readonly rule: {
    readonly id: string
    readonly source: string
    readonly line?: number
    readonly text: string
  } | null
  readonly sample: Readonly<Record<string, unknown>>
}

/** What `GET /api/dynamic-tools` lists. */
export interface DynamicTool {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly version: number
  readonly scope: 'project' | 'user'
  readonly status: 'unverified' | 'pending' | 'passed' | 'failed' | 'deprecated' | 'quarantined'
  readonly quarantined: string | null
  readonly safety: number
  readonly quality: number
  readonly confidence: number
  readonly uses: number
  readonly created_by: string
  readonly updated_at: string
  readonly metrics: {
    readonly runs: number
    readonly successRate: number | null
    readonly medianMs: number | null
    readonly errors: Readonly<Record<string, number>>
  }
}

export const CATEGORIES = [
  ...(['readability', 'errorHandling', 'documentation'] as const),
  ...(['testability', 'performance', 'securityAwareness'] as const),
] as const

export interface DynamicDetail extends DynamicTool {
  readonly code: string
  readonly parameters: readonly {
    readonly name: string
    readonly type?: string
    readonly description?: string
    readonly required?: boolean
  }[]
  readonly capabilities: Readonly<Record<'network' | 'read' | 'tools', readonly string[]>>
  readonly examples: readonly unknown[]
  readonly safety_analysis: {
    readonly issues: readonly {
      readonly type: string
      readonly severity: string
      readonly what: string
      readonly line: number
    }[]
  }
  readonly quality_assessment: {
    readonly categoryScores: Readonly<Record<(typeof CATEGORIES)[number], number>>
    readonly issues: readonly {
      readonly category: string
      readonly severity: string
      readonly rule: string
      readonly line: number
    }[]
  }
  readonly runs: readonly {
    readonly at: string
    readonly ok: boolean
    readonly ms: number
    readonly error?: string
  }[]
  readonly versions: readonly {
    readonly version: number
    readonly updatedAt: string
    readonly safetyScore: number
    readonly qualityScore: number
    readonly diff: string
  }[]
}

export interface DynamicList {
  readonly enabled: boolean
  readonly items: readonly DynamicTool[]
  readonly problems: readonly string[]
}
