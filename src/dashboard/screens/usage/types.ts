export const TOKEN_KINDS = ['input', 'cached', 'cacheWrite', 'output', 'reasoning'] as const
type TokenKind = (typeof TOKEN_KINDS)[number]

export type Sums = Readonly<Record<TokenKind, number>> & {
  readonly requests: number
  readonly costUsd: number
  readonly unknown: number
}

export interface Budget {
  readonly limit_usd: number | null
  readonly spent_usd: number
}

/** What `GET /api/usage/summary` answers. */
export type Summary = Sums & {
  readonly runs: number
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  readonly budget: {
    readonly day: Budget
    readonly month: Budget
    readonly warn_at: number
    readonly run_usd: number | null
  }
}

export type DaySums = Sums & { readonly day: string; readonly key: string }

/** What `GET /api/usage/groups` lists. */
export type GroupSums = Sums & Pick<Summary, 'p50Ms' | 'p95Ms'> & { readonly key: string }

interface Calls {
  readonly tool: string
  readonly calls: number
  readonly failed: number
  readonly refused: number
}

export type ToolDay = Calls & { readonly day: string }

export interface ToolUse extends Calls {
  readonly asked: number
  readonly p50Ms: number
  readonly p95Ms: number
}

export function tokensOf(sums: Sums): number {
  return TOKEN_KINDS.reduce((total, kind) => total + sums[kind], 0)
}

/** Null when nothing of it has a known price: that is not the same as free. */
export function knownCost({ costUsd, unknown, requests }: Sums): number | null {
  return requests > 0 && unknown >= requests ? null : costUsd
}

/** What `GET /api/reviews/stats` answers. */
export interface Agreement {
  readonly calls: number
  readonly unanimous: number
  readonly reviewers: readonly {
    readonly reviewer: string
    readonly approvals: number
    readonly rejections: number
    readonly without_vote: number
    readonly approval_precision: number | null
    readonly rejection_precision: number | null
  }[]
}
