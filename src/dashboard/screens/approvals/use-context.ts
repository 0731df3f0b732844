import { useGet } from '../../api/api.ts'

export interface Vote {
  readonly reviewer: string
  readonly verdict: 'approve' | 'reject' | 'abstain' | 'error'
  readonly reasoning: string
  readonly confidence?: number
  readonly ms?: number
}

export interface ApprovalContext {
  readonly review: {
    readonly passed: boolean
    readonly undecided: boolean
    readonly display: string
    readonly needed?: number
    readonly votes: readonly Vote[]
    readonly before?: readonly Vote[]
  } | null
  /** Files that are no longer what they were when it asked. */
  readonly changed: readonly string[]
  readonly addresses: readonly { readonly url: string; readonly leads_to: string }[]
  /** Of a command line. */
  readonly commands: readonly CommandStep[]
  readonly beside: readonly string[]
  readonly similar: {
    readonly what: string
    readonly calls: number
    readonly looked_at: number
    readonly allowed: number
    readonly denied: number
    readonly failed: number
    readonly same: number
    readonly last: string | null
  }
}

export interface CommandStep {
  readonly program: string
  readonly words: readonly string[]
  readonly options: readonly string[]
  readonly level: string
  readonly effects: readonly string[]
}

/** What helps to answer a question. It is no part of the question: without it, the answer is the same. */
export function useContext(question: string, isOpen: boolean) {
  return useGet<ApprovalContext>('approvals', `/api/approvals/${encodeURIComponent(question)}/context`, {
    enabled: isOpen,
  })
}
