import type { Access } from './access.ts'
import type { GivenAnswer } from './approval.ts'
import type { Permit } from './permit.ts'
import type { ResolvePath } from './real-path.ts'
import type { Run } from './run.ts'
import type { AnyTool, Risk } from './tool.ts'

export type Outcome = 'allow' | 'ask' | 'deny'

/** Who or what decided. `contained`: it runs contained first. `gate`: a pipeline requires a person's approval.
 * `validation`: the call was invalid and never judged. */
export type DecidedBy =
  | 'hard-stop'
  | 'rule'
  | 'grant'
  | 'mode'
  | 'reviewers'
  | 'user'
  | 'timeout'
  | 'hook'
  | 'contained'
  | 'gate'
  | 'validation'

/** The line that decided: a rule with its file and line, a built-in rule, a grant. */
export interface DecisionRef {
  id: string
  /** A file path, or `built-in`. */
  source: string
  line?: number
  text: string
}

/** One record, shown by explain, dry run, audit, dashboard and approval card alike. */
export interface Decision {
  outcome: Outcome
  by: DecidedBy
  ref: DecisionRef | null
  reason: string
  /** Other rules that matched but did not decide. */
  also?: readonly { id: string; outcome: Outcome; why: string }[]
  /** Consequences that the call itself does not show, in sentences: hosts it may contact, a missing sandbox. */
  notes?: readonly string[]
  /** The person who answered, if one did. */
  user?: string
}

export type Mode = 'ask' | 'accept-edits' | 'read-only' | 'auto'

export interface JudgeRequest {
  readonly tool: AnyTool
  /** Every current name of the tool, in lower case. */
  readonly toolNames: ReadonlySet<string>
  /** Hash of the tool's definition; a grant covers no other. */
  readonly fingerprint: string
  readonly input: Readonly<Record<string, unknown>>
  readonly access: readonly Access[]
  readonly risk: Risk
  readonly cwd: string
  /** The call is judged under its authority. */
  readonly run: Run
  /** The one that `access` was made with. Defaults to resolving each path afresh. */
  readonly resolvePath?: ResolvePath
}

export interface Judgement {
  readonly decision: Decision
  readonly mode: Mode
  /** The real working folder: shown in the question, bound by the answer, used by the run. */
  readonly cwd: string
  /** A hard limit; no approval can override it. */
  readonly hard: boolean
  readonly risk: Risk
  /** How risky the words of its command line are, from 0 (safe) to 10 (forbidden). */
  readonly command?: { readonly level: string; readonly score: number }
  readonly access: readonly Access[]
  /** Plain sentences, the strictest first. */
  readonly reasons: readonly string[]
  readonly permit: Permit
  /** The content of the question, if the decision is `ask`. */
  readonly preview?: Preview
}

/** What a person sees before saying yes. */
interface Preview {
  readonly effects: readonly string[]
  /** Hard to undo: approving needs a typed confirmation. */
  readonly dangerous: boolean
  /** The exact command, a diff, … if the input does not show it well enough. */
  readonly details?: string
  /** Real paths of files whose code a command starts. */
  readonly starts?: readonly string[]
  /** The grants on offer, narrowest first; each is known to cover this call. */
  readonly grants: readonly GrantOffer[]
}

export interface GrantOffer {
  readonly id: string
  readonly label: string
  /** For a command line: its words, and which of them can be generalised. */
  readonly pattern?: readonly PatternWord[]
  /** It can hold in other workspaces too. */
  readonly everywhere?: true
  /** What would be remembered; only the engine that offers it looks inside. */
  readonly specs: readonly unknown[]
}

/** A word of a command line. `lock`: why it is fixed; null if it can be any word, or be left out. */
export interface PatternWord {
  readonly text: string
  readonly lock:
    | 'says-what'
    | 'option'
    | 'interpreter'
    | 'package-runner'
    | 'fetcher'
    | 'wrapper'
    | 'whole-line'
    | null
}

/** The command lines that a person wants to allow: these words, null being any one word, and perhaps more after them. */
export interface CommandPattern {
  readonly words: readonly (string | null)[]
  readonly more: boolean
}

/** The only place that decides whether a call may run. If unsure, it asks or refuses. */
export interface PermissionEngine {
  judge(request: JudgeRequest): Judgement | Promise<Judgement>
  /** Keeps what a person answered (session and permanent grants, permanent denials) and says what was decided. */
  settle(
    request: JudgeRequest,
    judgement: Judgement,
    answer: GivenAnswer,
    /** The id of the call that asked. */
    call?: string,
  ): Decision | Promise<Decision>
  /** The offers that would allow a call which asks now. */
  coveredBy(request: JudgeRequest, offers: readonly GrantOffer[]): Promise<readonly GrantOffer[]>
  /** The offer with a person's choice of words: never wider than it was. Throws where it would not cover the call. */
  narrow(request: JudgeRequest, offer: GrantOffer, pattern: CommandPattern): Promise<GrantOffer>
}
