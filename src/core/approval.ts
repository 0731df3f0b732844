import type { Judgement } from './decision.ts'
import type { AnyTool } from './tool.ts'

export interface Question {
  readonly callId: string
  readonly runId: string
  readonly tool: AnyTool
  readonly input: Readonly<Record<string, unknown>>
  readonly cwd: string
  readonly judgement: Judgement
  /** The difference it would make, as far as the tool can tell. */
  readonly preview?: string
  /** Does it without any effect and says what it would change. */
  readonly tryOut?: () => Promise<string>
}

export type Answer =
  | { kind: 'once'; user: string }
  | { kind: 'session' | 'permanent'; user: string; grant: string }
  | { kind: 'deny' | 'deny-permanently'; user: string; message?: string }
  /** Nobody answered in time. Recorded as expired, never as a person's no. */
  | { kind: 'expired' }
  /** There is nobody to ask. */
  | { kind: 'unavailable'; reason: string }

/** A person, a client or a quorum that answers when the rules say ask. */
export interface Approver {
  ask(question: Question, signal: AbortSignal): Promise<Answer>
}

/** For doors without a person: every question is refused, and the message says how to allow the call. */
export function noApprover(reason: string): Approver {
  return { ask: async () => ({ kind: 'unavailable', reason }) }
}

/** A question that nobody answers in time has expired: it is neither a yes nor a person's no. */
export function withTimeout(approver: Approver, timeoutMs: number): Approver {
  return {
    async ask(question, signal) {
      const late = new AbortController()
      const expired = Promise.withResolvers<Answer>()
      const timer = setTimeout(() => {
        expired.resolve({ kind: 'expired' })
        late.abort()
      }, timeoutMs)
      try {
        return await Promise.race([
          approver.ask(question, AbortSignal.any([signal, late.signal])),
          expired.promise,
        ])
      } finally {
        clearTimeout(timer)
      }
    },
  }
}

/** Answers one question with "once"; for `--yes-once`. A second question in the same call is refused. */
export function onceApprover(user: string): Approver {
  const answered = new Set<string>()
  return {
    async ask(question) {
      if (answered.has(question.callId))
        return { kind: 'unavailable', reason: '--yes-once answers one question only' }
      answered.add(question.callId)
      return { kind: 'once', user }
    },
  }
}
