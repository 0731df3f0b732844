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
  readonly quality: number | null
  readonly confidence: number
  readonly uses: number
  readonly uses_30d: number
  readonly verified: { readonly at: string; readonly passed: number; readonly total: number } | null
  readonly created_by: string
  readonly created_in: string | null
  readonly updated_at: string
  readonly metrics: {
    readonly runs: number
    readonly successRate: number | null
    readonly medianMs: number | null
    readonly p95Ms: number | null
    readonly errors: Readonly<Record<string, number>>
  }
}

export interface Finding {
  readonly severity: 'critical' | 'high' | 'medium' | 'low' | 'good'
  readonly text: string
  readonly line: number
}

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
  readonly hash: string
  readonly is_running: boolean
  readonly evidence: {
    readonly safety: readonly {
      readonly kind: string
      readonly text: string
      readonly state: 'clear' | 'declared' | 'found'
      readonly findings: readonly Finding[]
    }[]
    readonly quality: readonly {
      readonly category:
        | 'readability'
        | 'errorHandling'
        | 'documentation'
        | 'testability'
        | 'performance'
        | 'securityAwareness'
      readonly score: number | null
      readonly findings: readonly Finding[]
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
