/** One argument after expansion, with what the forbidden scan must assume about it. */
import type { PlanWord, Word } from './types.ts'

interface GlobWord {
  /** Bash pattern; characters that were quoted carry a backslash. */
  pattern: string
  /** What bash passes when no file matches. */
  literal: string
}

export interface Arg {
  raw: string
  /** Exact text, or null for patterns and for what is only known when the line runs. */
  text: string | null
  glob: GlobWord | null
  /** Texts that it may turn into. `rm -rf $UNSET/` may be `rm -rf /`: an unknown variable counts as empty. */
  worst: string[]
  /** For `<(echo x)`: the text that the program would read from it, when that is known. */
  content?: string
}

export function literalArg(text: string): Arg {
  return { raw: text, text, glob: null, worst: [text] }
}

/** What it most likely is: exact text, the pattern as written, or the worst guess. */
export function seen(arg: Arg | undefined): string {
  if (arg === undefined) return ''
  return arg.text ?? arg.glob?.literal ?? arg.worst[0] ?? ''
}

export function isUnresolved(arg: Arg): boolean {
  return arg.text === null && arg.glob === null
}

export function toWord(arg: Arg): Word {
  const word: Word = { text: arg.text, raw: arg.raw }
  if (arg.glob !== null) word.glob = arg.glob.pattern
  return word
}

/** Null when one of them is only known when the line runs. */
export function toPlanWords(args: Arg[]): PlanWord[] | null {
  if (args.some(isUnresolved)) return null
  return args.map(({ text, glob }) => {
    // A pattern that begins with `-` is passed as it stands: it was checked as an option, so it stays one.
    if (text !== null || glob === null || glob.literal.startsWith('-')) return text ?? glob?.literal ?? ''
    return { glob: glob.pattern, literal: glob.literal }
  })
}

/** The program's own name: `/usr/bin/rm` is `rm`, `./rm` stays what it is. */
export function programName(text: string): string {
  const match = /^(?:\/usr(?:\/local)?)?\/s?bin\/([^/]+)$/.exec(text)
  return match?.[1] ?? text
}

/** Entries of a table: each of the names, which stand in one text, with the same value. */
export function entriesFor<Value>(names: string, value: Value): [string, Value][] {
  return names.split(' ').map(name => [name, value])
}

/** The last part of a path, for the forbidden scan, where `./rm` is looked at like `rm`. */
export function baseName(text: string): string {
  return text.slice(text.lastIndexOf('/') + 1)
}
