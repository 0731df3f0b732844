import type { ConfigLayer } from '../../components/config-file/config-file-drawer.tsx'
import type { Setting } from '../../components/setting.tsx'

export type Outcome = 'allow' | 'ask' | 'deny'

export interface Rule {
  readonly id: string
  readonly decision: Outcome
  readonly text: string
  readonly source: string
  readonly line: number | null
  /** Whose file it stands in, when that is one that can be edited here. */
  readonly layer: ConfigLayer | null
  readonly reason: string | null
  /** As its file has it; null for built-in ones. */
  readonly definition: Readonly<Record<string, unknown>> | null
}

export interface Finding {
  readonly rule: string
  readonly kind: string
  readonly message: string
}

export interface AuditSummary {
  readonly rules: Readonly<Record<string, RuleHistory>>
  readonly always_approved: readonly Candidate[]
}

export interface RuleHistory {
  readonly hits: number
  readonly last: string | null
  readonly overruled: number
  readonly overruled_by: string | null
}

/** A call that was asked about several times and always approved. */
export interface Candidate {
  readonly tool: string
  readonly command: string | null
  readonly path: string | null
  readonly times: number
}

export interface DryRun {
  readonly calls: number
  readonly notComparable: number
  readonly transitions: Readonly<Record<string, number>>
  readonly changed: readonly {
    readonly at: string
    readonly call: string
    readonly tool: string
    readonly input: unknown
    readonly was: Outcome
    readonly now: Outcome
    readonly by: string
    readonly deniedByPerson: boolean
  }[]
}

export interface Grant {
  readonly id: string
  readonly decision: Outcome
  readonly covers: string
  readonly workspace: string
  readonly user: string
  readonly scope: 'session' | 'permanent'
  readonly run: string | null
  readonly agent: string | null
  readonly tool: string | null
  readonly everywhere: boolean
  /** The call whose question was answered so. */
  readonly call: string | null
  readonly created_at: string
  readonly expires_at: string | null
}

export interface Explanation {
  readonly canonical: string
  readonly decision: Outcome
  readonly by: string
  readonly hard: boolean
  readonly risk: string
  /** Of a command line: its level, with a score from 0 to 10. */
  readonly command?: { readonly level: string; readonly score: number }
  readonly reasons: readonly string[]
  readonly ref: { readonly id: string; readonly source: string; readonly line?: number } | null
  /** What the call would touch. */
  readonly access: readonly Readonly<Record<string, unknown>>[]
  readonly also: readonly { readonly id: string; readonly outcome: Outcome; readonly why: string }[]
}

/** Of `GET /api/config`: settings with where they come from. */
export interface Effective {
  readonly mode: string
  /** Why the files as they are now do not count. */
  readonly problem: string | null
  readonly settings: readonly Setting[]
}

/** What `GET /api/tools/verdicts` answers. */
export interface ToolVerdict {
  readonly tool: string
  readonly outcome: Outcome
  readonly by: string
  readonly rule: { readonly id: string; readonly source: string; readonly line?: number } | null
  readonly sample: Readonly<Record<string, unknown>>
}
