import type { DynamicTool, RunRecord } from './definition.ts'

/** Where dynamic tools are kept; implemented by store/. */
export interface DynamicStore {
  list(): readonly StoredTool[]
  /** As it is stored at this moment: another Kogu may have changed, quarantined or deleted it. */
  current(id: string): StoredTool | undefined
  /** Files that are no tool of ours, one sentence each. */
  problems(): readonly string[]
  /** Replaces the file of `replaces`, when that is another id. Returns when every listener knows. */
  save(tool: DynamicTool, options?: { scope?: Scope; replaces?: string }): Promise<void>
  remove(id: string): Promise<void>
  /** Adds one use; written soon, together with others. */
  recordRun(id: string, run: RunRecord): void
  /** Where the files lie; they need not be there yet. */
  readonly folders: readonly string[]
  onChange(listener: () => Promise<void>): void
  flush(): void
}

/** `user`: for all of the person's workspaces. */
export type Scope = 'project' | 'user'

export interface StoredTool {
  readonly tool: DynamicTool
  readonly scope: Scope
  /** Of its definition. */
  readonly hash: string
}

const MOST_RUNS = 100
const SUCCESS = 0.02
const FAILURE = 0.05
const LEAST_CONFIDENCE = 0.1

/** What a use changes in a tool. */
export function withRun(tool: DynamicTool, run: RunRecord): DynamicTool {
  const confidence = run.ok
    ? Math.min(1, tool.confidenceScore + SUCCESS)
    : Math.max(LEAST_CONFIDENCE, tool.confidenceScore - FAILURE)
  return {
    ...tool,
    usageCount: tool.usageCount + 1,
    lastUsedAt: run.at,
    confidenceScore: Math.round(confidence * 1000) / 1000,
    runs: [...tool.runs, run].slice(-MOST_RUNS),
  }
}

export interface Metrics {
  readonly runs: number
  readonly successRate: number | null
  readonly medianMs: number | null
  readonly p95Ms: number | null
  readonly errors: Readonly<Record<string, number>>
}

/** Over the last runs that are kept. */
export function metricsOf({ runs }: DynamicTool): Metrics {
  const errors: Record<string, number> = {}
  for (const { error } of runs) if (error !== undefined) errors[error] = (errors[error] ?? 0) + 1
  const times = runs.map(({ ms }) => ms).sort((a, b) => a - b)
  return {
    runs: runs.length,
    successRate: runs.length === 0 ? null : runs.filter(({ ok }) => ok).length / runs.length,
    medianMs: times[Math.floor(times.length / 2)] ?? null,
    p95Ms: times[Math.ceil(times.length * 0.95) - 1] ?? null,
    errors,
  }
}
