import type { Run } from '../../api/types.ts'

/** What `GET /api/home` answers. */
export interface Home {
  readonly workspace: string
  readonly mode: 'ask' | 'accept-edits' | 'read-only' | 'auto'
  readonly setup: {
    readonly model: string | null
    readonly trust: 'not-needed' | 'trusted' | 'untrusted' | 'changed'
    readonly panels: number
    readonly runs: number
  }
  readonly waiting: readonly unknown[]
  readonly running: readonly Run[]
  readonly attention: readonly Attention[]
  readonly last_day: {
    readonly runs: number
    readonly failed_runs: number
    readonly calls: number
    readonly asked: number
    readonly refused: number
    readonly cost_usd: number
    readonly unknown_prices: number
    readonly budget_usd: number | null
  }
}

export interface Attention {
  readonly kind: string
  readonly subject: string
  /** In English. */
  readonly text: string
  /** Of what the page has words for. */
  readonly code?: string
  readonly count?: number
}
