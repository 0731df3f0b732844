/** How to run a line that only reads: its words as they are, nothing left for a shell to interpret. */
export interface CommandPlan<Word = string> {
  readonly steps: readonly CommandStep<Word>[]
}

export type CommandStep<Word = string> = { readonly join: CommandJoin; readonly negate: boolean } & (
  | { readonly kind: 'cd'; readonly directory: string }
  | { readonly kind: 'pipeline'; readonly stages: readonly CommandStage<Word>[] }
)

/** Whether a step runs, by the status of the last one that ran. */
type CommandJoin = 'first' | ';' | '&&' | '||'

export interface CommandStage<Word = string> {
  readonly argv: readonly Word[]
  readonly redirects: readonly CommandRedirect[]
}

export type CommandRedirect =
  | { readonly kind: 'null'; readonly fd: 0 | 1 | 2 }
  | { readonly kind: 'dup'; readonly fd: 1 | 2; readonly of: 1 | 2 }
  | { readonly kind: 'file'; readonly fd: 0; readonly path: string }
  | { readonly kind: 'text'; readonly fd: 0; readonly text: string }

/**
 * Why a command may not contact this host, or null. Asked before its name is looked up, without addresses, because a
 * lookup alone tells others something; and again with all addresses that the name stands for.
 */
export type JudgeHost = (host: string, port: number, addresses: readonly string[]) => HostRefusal | null

export interface HostRefusal {
  readonly reason: string
  /** A rule that allows the host, or the setting `sandbox.network`, would let it through. */
  readonly canBeAllowed: boolean
}

/** Whether command lines run contained, or a sentence that says why not; null: the person does not want it. */
export type Containment = { readonly works: true } | { readonly works: false; readonly reason: string | null }

/** What a command must not see, by real paths. A folder stands for all that is in it. */
export interface HiddenFiles {
  /** Fixed places that are there now. */
  readonly places: () => readonly string[]
  /** Folders in which every entry has to be looked at. */
  readonly searched: readonly string[]
  readonly hides: (path: string) => boolean
  /**
   * All that is there outside the workspace and the system's own folders, so that a program which reads more than its
   * words say finds nothing. Null: everything that is not hidden.
   */
  readonly shown: readonly string[] | null
  /** False when `hides` is false for every call under the same `rules`, so that the answer can be kept. */
  readonly mayHide: ((path: string) => boolean) & { readonly rules: string }
}

/** What the engine found out about a command line and lets it do. */
export interface CommandPermit {
  readonly cwd: string
  /** The longest that a command of this run may take. */
  readonly timeoutMs?: number
  /** Set for lines that only read; they run without a shell and cannot write anything. Null: run by bash, as approved. */
  readonly plan: CommandPlan | null
  /**
   * Nobody was asked: it runs without network and with nothing shared, and what it changed on its layer is judged before
   * anything of it is kept.
   */
  readonly contained?: true
  /** What must not be there while it runs. */
  readonly hidden: HiddenFiles
  /** The approval covered contacting other machines, and these only. */
  readonly network?: JudgeHost
  /** Rules that forbid changes hold for what a command did, too: why this real path may not be changed, or null. */
  readonly deniesChange?: (kind: 'file_write' | 'file_delete', realPath: string) => string | null
  /** Subcommands of the line's git commands that do more than read: what they are for, they may change in `.git`. */
  readonly git: { readonly subcommands: readonly string[] }
  /** `NAME=value` that the line itself exports; nothing else becomes a variable of the run. */
  readonly exports: readonly string[]
  /** A rule or an earlier answer allowed it: git takes no folder for a repository that merely looks like one. */
  readonly unasked?: true
}
