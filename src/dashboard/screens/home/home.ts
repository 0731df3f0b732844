import type { Run } from '../../api/types.ts'

/** What `GET /api/home` answers. */
export interface Home {
  readonly workspace: string
  readonly mode: string
  readonly setup: {
    readonly model: string | null
    readonly trust: 'not-needed' | 'trusted' | 'untrusted' | 'changed'
    readonly panels: number
    readonly runs: number
  }
  readonly waiting: readonly {
    readonly id: string
    readonly tool: string
    readonly risk: string
    readonly run: string
    readonly created_at: string
    readonly expires_at: string
  }[]
  readonly running: readonly Run[]
  readonly attention: readonly { readonly kind: string; readonly subject: string; readonly text: string }[]
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
