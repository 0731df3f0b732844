import type { Access } from './access.ts'
import type { GivenAnswer } from './approval.ts'
import type { Permit } from './permit.ts'
import type { ResolvePath } from './real-path.ts'
import type { Run } from './run.ts'
import type { AnyTool, Risk } from './tool.ts'

export type Outcome = 'allow' | 'ask' | 'deny'

/** Who or what settled it. `contained`: it runs behind walls first. `gate`: a pipeline wants a person to look first.
 * `validation`: it never got as far as being judged. */
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
  /** What else matched and did not count. */
  also?: readonly { id: string; outcome: Outcome; why: string }[]
  /** What it lets happen that the call does not say itself, in sentences: hosts it may contact, a missing sandbox. */
  notes?: readonly string[]
  /** Who answered, when a person did. */
  user?: string
}

export type Mode = 'ask' | 'accept-edits' | 'read-only' | 'auto'

export interface JudgeRequest {
  readonly tool: AnyTool
  /** Every name the tool answers to now, in lower case. */
  readonly toolNames: ReadonlySet<string>
  /** Of what the tool claims to be; a grant holds for no other. */
  readonly fingerprint: string
  readonly input: Readonly<Record<string, unknown>>
  readonly access: readonly Access[]
  readonly risk: Risk
  readonly cwd: string
  /** Its authority is what the call is judged under. */
  readonly run: Run
  /** The one that `access` was made with. Defaults to resolving each path afresh. */
  readonly resolvePath?: ResolvePath
}

export interface Judgement {
  readonly decision: Decision
  readonly mode: Mode
  /** The real folder that the call acts in: what a question shows, an answer binds and the run uses. */
  readonly cwd: string
  /** A limit that nobody can approve away. */
  readonly hard: boolean
  readonly risk: Risk
  readonly access: readonly Access[]
  /** Plain sentences, the strictest first. */
  readonly reasons: readonly string[]
  readonly permit: Permit
  /** What the person is asked about, when the decision is `ask`. */
  readonly preview?: Preview
}

/** What a person sees before saying yes. */
interface Preview {
  readonly effects: readonly string[]
  /** Hard to undo: a plain "once" is not enough of an answer. */
  readonly dangerous: boolean
  /** The exact command, a diff, … when the input itself does not show it well enough. */
  readonly details?: string
  /** Real paths of files whose code a command starts. */
  readonly starts?: readonly string[]
  /** The grants that can be offered from the narrowest to the widest; each covers this call for certain. */
  readonly grants: readonly GrantOffer[]
}

export interface GrantOffer {
  readonly id: string
  readonly label: string
  /** Of a command line: its words, and which of them can be chosen. */
  readonly pattern?: readonly PatternWord[]
  /** It can hold in other workspaces too. */
  readonly everywhere?: true
  /** What would be remembered; only the engine that offers it looks inside. */
  readonly specs: readonly unknown[]
}

/** A word of a command line. `lock`: why it stays as it is; null when it can be any word, or be left out. */
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

/** The one place that answers "may this happen?". Where it is unsure it asks or refuses. */
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
  /** Which of these offers would let through, unasked, a call that is asked about now. */
  coveredBy(request: JudgeRequest, offers: readonly GrantOffer[]): Promise<readonly GrantOffer[]>
  /** The offer with a person's choice of words: never wider than it was. Throws where it would not cover the call. */
  narrow(request: JudgeRequest, offer: GrantOffer, pattern: CommandPattern): Promise<GrantOffer>
}
