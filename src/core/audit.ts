import type { Access } from './access.ts'
import type { Answer } from './approval.ts'
import type { Decision, Mode } from './decision.ts'
import type { Effect } from './effects.ts'
import type { ErrorCode } from './errors.ts'
import type { Label, Risk } from './tool.ts'

/** What is recorded. The log adds sequence number, time, previous hash and hash (store/audit). */
export type AuditEvent =
  | CallStarted
  | ApprovalRequested
  | ApprovalAnswered
  | CallFinished
  /** Changes of authority and state: grants, trust, undo, configuration, repairs of the log itself. */
  | { type: 'note'; action: string; details: Record<string, unknown> }

interface OfCall {
  call: string
  run: string
}

export interface CallStarted extends OfCall {
  type: 'call-started'
  /** The name as the caller spelled it. */
  tool: string
  /** Secrets removed, long strings replaced by their hash and size. */
  input: unknown
  /** Keyed, of the input as it was given, secrets too: what ran can be proven although it is not on record. */
  inputDigest?: string | undefined
  caller: string
  agent?: string | undefined
  cwd: string
}

/** Between the start and the end of a call. */
interface ApprovalRequested extends OfCall {
  type: 'approval-requested'
  question: string
  tool: string
  /** Over everything that was judged. */
  digest: string
  expiresAt: number
}

interface ApprovalAnswered extends OfCall {
  type: 'approval-answered'
  question: string
  /** `stale`: what was asked about has changed, so that no answer counts. */
  answer: Answer['kind'] | 'stale' | 'withdrawn'
  user?: string | undefined
  /** What is remembered, in words. */
  grant?: string | undefined
}

export interface CallFinished extends OfCall {
  type: 'call-finished'
  /** Canonical name, when the tool is known. */
  tool: string
  agent?: string | undefined
  provider?: string | undefined
  /** Of what the tool claimed to be. */
  fingerprint?: string | undefined
  /** What the tool said it would touch; with it a decision can be made again under other rules. */
  access?: readonly Access[] | undefined
  mode?: Mode | undefined
  ok: boolean
  error?: { code: ErrorCode; message: string } | undefined
  decision: Decision
  risk: Risk
  effects: readonly Effect[]
  label?: Label | undefined
  runMs: number
  waitMs: number
}

/**
 * Where calls are recorded. `record` returns when the event has been written to the log (not yet synced to the disk);
 * it throws when that is impossible, and then nothing may run.
 */
export interface AuditLog {
  record(event: AuditEvent): void
  /** Syncs everything to the disk and renews the anchor. */
  flush(): Promise<void>
  close(): Promise<void>
}
