import type { ParseArgsOptionsConfig } from 'node:util'
import type { Environment } from '../config/environment.ts'
import { closest } from '../core/suggest.ts'
import { toLine } from '../core/visible.ts'
import type { Output } from './output.ts'

/** One command of the program: its help, its options, and what it does. */
export interface Command {
  /** Shown by --help: one sentence, examples, options. At most 60 lines. */
  readonly help: string
  readonly options: ParseArgsOptionsConfig
  /** Of its options, those that a verb takes without a value. */
  readonly flags?: Readonly<Record<string, readonly string[]>>
  /**
   * How many words it takes, also by its verb, which is one of them. More are an error: `audit verify old.jsonl` must not
   * call another log intact. Undefined: any number, or it says itself what is wrong.
   */
  readonly words?: number | Readonly<Record<string, number>>
  run(context: CommandContext): Promise<number>
}

export interface CommandContext {
  readonly positionals: readonly string[]
  readonly values: Readonly<Record<string, unknown>>
  readonly output: Output
  readonly environment: Environment
  /** Aborted by the first Ctrl-C. */
  readonly signal: AbortSignal
  readonly stdin: NodeJS.ReadStream
  /** The folder the person stands in. */
  readonly cwd: string
}

/** Options that every command takes. */
export const GLOBAL_OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  json: { type: 'boolean' },
  quiet: { type: 'boolean', short: 'q' },
  verbose: { type: 'boolean', short: 'v' },
  'no-color': { type: 'boolean' },
  plain: { type: 'boolean' },
  color: { type: 'string' },
  'no-input': { type: 'boolean' },
  cwd: { type: 'string' },
  config: { type: 'string' },
  set: { type: 'string', short: 'c', multiple: true },
  profile: { type: 'string' },
  lang: { type: 'string' },
  timeout: { type: 'string' },
} as const satisfies ParseArgsOptionsConfig

/** Of `kogu run`, `kogu runs` and `kogu approvals`: done at a `kogu serve` elsewhere (remote.ts). */
export const SERVER_OPTION = { server: { type: 'string' } } as const

export function isRemote({ values }: Pick<CommandContext, 'values'>): boolean {
  return values.server !== undefined
}

/** A mistake in how the program was called: exit 2, and what to do. */
export class UsageError extends Error {
  override name = 'UsageError'
  readonly hint: string | undefined

  constructor(message: string, hint?: string) {
    super(message)
    this.hint = hint
  }
}

/** A failure with an exit code of its own: no token, a server that cannot be reached. */
export class CommandError extends UsageError {
  override name = 'CommandError'
  readonly exit: number

  constructor(exit: number, message: string, hint?: string) {
    super(message, hint)
    this.exit = exit
  }
}

export function refuseExtraWords(
  name: string,
  words: Command['words'],
  positionals: readonly string[],
): void {
  const verb = positionals[0] ?? ''
  const most = typeof words === 'object' && Object.hasOwn(words, verb) ? words[verb] : words
  const extra = typeof most === 'number' ? positionals[most] : undefined
  if (extra === undefined) return
  throw new UsageError(`Unexpected argument: '${toLine(extra)}'.`, `See: kogu ${name} --help`)
}

/** A misspelt second word. */
export function unknownVerb(command: string, verb: string, verbs: readonly string[]): UsageError {
  const near = closest(verb, verbs)
  const hint =
    near === undefined
      ? `Use: kogu ${command} ${verbs.join(' | ')}`
      : `Did you mean 'kogu ${command} ${near}'?`
  return new UsageError(`Unknown: kogu ${command} ${verb}`, hint)
}

export function textOption(values: CommandContext['values'], name: string): string | undefined {
  const value = values[name]
  return typeof value === 'string' ? value : undefined
}

export function flag(values: CommandContext['values'], name: string): boolean {
  return values[name] === true
}

/** A whole number of at least 1. */
export function countOption(values: CommandContext['values'], name: string): number | undefined {
  const text = textOption(values, name)
  if (text === undefined) return undefined
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new UsageError(`--${name} takes a whole number of at least 1, not '${text}'.`)
  return Number(text)
}
