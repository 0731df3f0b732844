import { isDeepStrictEqual } from 'node:util'
import type { Access } from './access.ts'
import type { CommandPattern, Decision } from './decision.ts'
import type { Risk } from './tool.ts'

/** A call as its approver sees it. Plain data: it can be stored, sent and shown anywhere. */
export interface CallSummary {
  readonly callId: string
  readonly runId: string
  /** Ids of the runs above and of this one, the outermost first. */
  readonly runPath: readonly string[]
  readonly agent?: string | undefined
  /** The calls that it is a part of, the outermost first. */
  readonly within?: readonly { readonly callId: string; readonly tool: string }[] | undefined
  /** The beginning of the outermost run's task, if known. */
  readonly task?: string | undefined
  readonly tool: { readonly name: string; readonly title: string; readonly fingerprint: string }
  readonly input: Readonly<Record<string, unknown>>
  readonly cwd: string
  readonly risk: Risk
  /** What was judged, with command lines expanded. */
  readonly access: readonly Access[]
  /** What a command does, by name. */
  readonly effects: readonly string[]
  /** The decision to ask. */
  readonly decision: Decision
  /** Plain sentences, the strictest first. */
  readonly reasons: readonly string[]
  /** Hard to undo: approving needs a typed confirmation. */
  readonly isDangerous: boolean
  /** The exact command, …, when the input itself does not show it well enough. */
  readonly details?: string | undefined
  /** The difference it would make, as far as the tool can tell. */
  readonly preview?: string
  /** Parts of the preview that can be left out one by one. */
  readonly parts?: number
}

export interface Question extends CallSummary {
  readonly id: string
  /** What the answer decides about. */
  readonly subject: QuestionSubject
  /** What can be remembered, from the narrowest to the widest. */
  readonly offers: readonly { readonly id: string; readonly label: string }[]
  /** Digest of everything that was judged. If it changes, the answer no longer covers the call. */
  readonly digest: string
  /** In milliseconds since 1970. */
  readonly createdAt: number
  readonly expiresAt: number
}

export type QuestionSubject =
  /** Whether the call may run. */
  | { readonly kind: 'call' }
  /** Whether a step of a pipeline may begin that is more than one call. */
  | { readonly kind: 'gate' }
  /** Whether changes that a command has already made on its layer are kept. */
  | {
      readonly kind: 'changes'
      readonly layer: string
      readonly digest: string
      readonly summary: string
      /** What the shown paths are relative to. */
      readonly root: string
    }

export type Answer =
  /** `paths`: of the changes that the question is about, only these and what is below them. */
  | { kind: 'once'; user: string; paths?: readonly string[] }
  | RememberedAnswer
  | { kind: 'deny' | 'deny-permanently'; user: string; message?: string }
  /** The answer comes later: the question is stored, and the call can be continued or repeated then. */
  | { kind: 'pending' }
  /** Nobody answered in time. Recorded as expired, never as a person's no. */
  | { kind: 'expired' }
  /** There is nobody to ask. */
  | { kind: 'unavailable'; reason: string }

/** A yes that counts for later calls too. `session`: for this run. */
export interface RememberedAnswer {
  readonly kind: 'session' | 'permanent'
  readonly user: string
  /** The id of one of the offers. */
  readonly grant: string
  /** How long it lasts, when that is shorter than the configured time. */
  readonly hours?: number
  /** Where a permanent one holds. Defaults to the agent that asked, or to the workspace where none did. */
  readonly scope?: 'panel' | 'project' | 'everywhere'
  /** Of a command line: which words, instead of those that the offer names. */
  readonly pattern?: CommandPattern
}

/** An answer of a person, a client or a quorum. */
export type GivenAnswer = Extract<Answer, { user: string }>

/** Ignores who answered and when. An answer with another scope, duration, choice or message must not seem to count. */
export function isSameAnswer(kept: object, wanted: GivenAnswer): boolean {
  const said = (answer: object): object => ({ ...answer, user: '', at: 0 })
  return isDeepStrictEqual(said(kept), said(wanted))
}

/** A person, a client or a quorum that answers when the rules say ask. */
export interface Approver {
  ask(question: Question, signal: AbortSignal, live: LiveQuestion): Promise<Answer>
}

/** Actions for approvers in the same process. */
export interface LiveQuestion {
  /** Runs the call without effect and returns what it would change. */
  tryOut?(): Promise<string>
}

/** For doors without a person: every question is refused, and the message says how to allow the call. */
export function noApprover(reason: string): Approver {
  return { ask: async () => ({ kind: 'unavailable', reason }) }
}

/** For doors whose person answers later, elsewhere. */
export const laterApprover: Approver = { ask: async () => ({ kind: 'pending' }) }

/** A question that nobody answers in time has expired: it is neither a yes nor a person's no. */
export function withTimeout(approver: Approver, timeoutMs: number): Approver {
  return {
    async ask(question, signal, live) {
      const late = new AbortController()
      const expired = Promise.withResolvers<Answer>()
      const timer = setTimeout(() => {
        expired.resolve({ kind: 'expired' })
        late.abort()
      }, timeoutMs)
      try {
        return await Promise.race([
          approver.ask(question, AbortSignal.any([signal, late.signal]), live),
          expired.promise,
        ])
      } finally {
        clearTimeout(timer)
      }
    },
  }
}

/** Answers one question of each call with "once". A second one in the same call is refused. */
export function onceApprover(user: string): Approver {
  const answered = new Set<string>()
  return {
    async ask(question) {
      if (answered.has(question.callId))
        return { kind: 'unavailable', reason: 'one question of a call is answered, and this is another' }
      answered.add(question.callId)
      return { kind: 'once', user }
    },
  }
}
