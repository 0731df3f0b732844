import type { Access } from '../../core/access.ts'
import type { CommandPlan, CommandStep } from '../../core/command.ts'
import type { EffectName } from '../effect-names.ts'

export type Level = 'safe' | 'caution' | 'interactive' | 'unknown' | 'dangerous' | 'forbidden'

export const LEVEL_SCORES: Readonly<Record<Level, number>> = {
  safe: 0,
  caution: 3,
  interactive: 4,
  unknown: 5,
  dangerous: 7,
  forbidden: 10,
}

/** Absolute real paths; the analyser itself never touches the file system. */
export interface CommandContext {
  cwd: string
  home: string
  workspace: string
}

/** Why the line has its level: one plain sentence for a person or a model. */
export interface Finding {
  level: Level
  text: string
  command?: string
}

/** One argument. `text` is null when it cannot be known before the line runs; `glob` is set for file patterns. */
export interface Word {
  text: string | null
  raw: string
  glob?: string
}

export interface FoundCommand {
  argv: Word[]
  program: string | null
  /** Where it may run; null when that is not known. */
  cwds: readonly string[] | null
  level: Level
  effects: EffectName[]
  /** One of its options names a further command. */
  embeds?: true
  /** What git is told to do, in the end: `git -C . push` is a push. Not set when only the running line knows. */
  subcommand?: string
}

/** `pattern` is absolute; characters that were quoted are escaped with a backslash; `**` means `*`, as in bash. */
export interface GlobAccess {
  /** What happens to every match. */
  kind: 'file_read' | 'file_write' | 'file_delete'
  pattern: string
  directory: string
}

/**
 * A folder that is read with everything below it. `content`: file contents, not only names and sizes. `history`: the
 * contents come from the objects of the git repository around it, where hiding files does not help; of all of it, only
 * of what lies below the path, or only of what is tracked now.
 */
export interface TreeAccess {
  path: string
  content: boolean
  history?: 'all' | 'below' | 'tracked'
}

/** A folder in which git reads, and which programs that its repository names it may start there. */
export interface RepositoryAccess {
  path: string
  /** `filters` change file contents, `converters` turn files into text, too; `anything`: hooks and all others. */
  starts: 'nothing' | 'filters' | 'converters' | 'anything'
}

export interface InteractiveProgram {
  program: string
  instead: string
}

export interface CommandAnalysis {
  line: string
  level: Level
  score: number
  /** Strictest first. */
  reasons: Finding[]
  commands: FoundCommand[]
  access: Access[]
  /** Patterns that the runner expands; the engine checks every match. */
  globs: GlobAccess[]
  trees: TreeAccess[]
  repositories: RepositoryAccess[]
  effects: EffectName[]
  unresolved: boolean
  /** Some of it is too long, too deep or no shell code, so nobody knows all of its commands. */
  unread: boolean
  /** It starts a program or code that is put together when it runs. */
  startsUnknown: boolean
  /** Set for full-screen programs, which are refused and not asked about. */
  interactiveProgram: InteractiveProgram | null
  /** Not null exactly when the level is safe: how to run the line without a shell. */
  plan: SafePlan | null
}

/**
 * Steps run from left to right; each `join` looks at the status of the last step that ran (left-associative, as
 * in bash). A `cd` step resolves `directory` lexically against the current directory. The runner must refuse to go on
 * when the real path of a `cd` target differs from the lexical one, since `..` in later paths was judged lexically.
 */
export type SafePlan = CommandPlan<PlanWord>
export type PlanStep = CommandStep<PlanWord>

/**
 * `glob`: expand against files (sorted; a leading dot only matches a dot; `*` never matches `/`), and pass `literal` when
 * nothing matches. A match that begins with `-` needs `./` before it: a file name is never an option.
 */
export type PlanWord = string | { glob: string; literal: string }
