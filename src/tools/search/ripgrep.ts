import { ToolError } from '../../core/errors.ts'
import type { Processes, ProcessResult } from '../../core/processes.ts'
import { repositoryRoot } from './ignore-chain.ts'
import { escapePattern, withAnyLineBreak } from './line-break.ts'

export interface RipgrepQuery {
  readonly pattern: string
  /** Real path of a folder, or of the folder of the one file to search. */
  readonly folder: string
  /** Name of the one file to search in the folder. */
  readonly file: string | undefined
  readonly fixedStrings: boolean
  readonly ignoreCase: boolean
  readonly multiline: boolean
  readonly noIgnore: boolean
  /** A type that ripgrep knows. */
  readonly type: string | undefined
  /** Globs over file names: what none of them matches is not opened. */
  readonly names: readonly string[] | undefined
  /** Globs of what is left out. */
  readonly excluded: readonly string[]
  /** How the bytes of files are read; undefined: UTF-8, or as a byte order mark says. */
  readonly encoding: string | undefined
  /** How results are printed. */
  readonly output: readonly string[]
}

export interface RipgrepRun {
  readonly signal: AbortSignal
  readonly timeoutMs: number
  /** Return false to stop. */
  readonly onOutput: (chunk: Uint8Array) => boolean | undefined
}

/** All that the search tool gets of processes: this one program, which only reads. */
export type Ripgrep = (query: RipgrepQuery, run: RipgrepRun) => Promise<ProcessResult & { errors: string }>

/**
 * The ripgrep that comes with this package, or the one at `path`. The environment is empty, so no configuration of anybody
 * applies.
 */
export function createRipgrep(processes: Processes, path?: string): Ripgrep {
  return async (query, run) => runRipgrep(processes, path ?? (await ripgrepPath()), query, run)
}

async function runRipgrep(
  processes: Processes,
  file: string,
  query: RipgrepQuery,
  run: RipgrepRun,
): ReturnType<Ripgrep> {
  const errors: Uint8Array[] = []
  let size = 0
  const result = await processes
    .run({
      file,
      args: toArguments(query),
      cwd: query.folder,
      env: {},
      timeoutMs: run.timeoutMs,
      signal: run.signal,
      onStdout: run.onOutput,
      onStderr: chunk => {
        if (size < 16_384) errors.push(chunk.slice())
        size += chunk.length
        return undefined
      },
    })
    .catch(cause => {
      throw unavailable('could not be started', cause)
    })
  run.signal.throwIfAborted()
  return { ...result, errors: Buffer.concat(errors).toString('utf8') }
}

/** Imported when needed: without a binary for this platform the package throws, and other tools must still work. */
async function ripgrepPath(): Promise<string> {
  try {
    return (await import('@vscode/ripgrep')).rgPath
  } catch (cause) {
    throw unavailable('is not installed for this platform', cause)
  }
}

function unavailable(what: string, cause: unknown): ToolError {
  return new ToolError('failed', `The search program ripgrep ${what}.`, {
    hint: 'Reinstall with optional dependencies: its binary comes with the package @vscode/ripgrep.',
    cause,
  })
}

function toArguments(query: RipgrepQuery): string[] {
  const acrossLines = query.multiline && /\\n|\n/.test(query.pattern)
  const inRepository = repositoryRoot(query.folder) !== undefined
  return [
    '--no-config',
    '--color=never',
    '--no-messages',
    '--no-follow',
    '--hidden',
    // The same files as glob_search: .gitignore files and the repository's own list, nothing of the user's.
    ...(query.noIgnore ? ['--no-ignore'] : ['--no-require-git', '--no-ignore-dot', '--no-ignore-global']),
    ...(query.noIgnore || inRepository ? [] : ['--no-ignore-parent']),
    ...(query.fixedStrings && !acrossLines ? ['--fixed-strings'] : []),
    query.ignoreCase ? '--ignore-case' : '--case-sensitive',
    ...(query.multiline ? ['--multiline', '--multiline-dotall'] : []),
    ...(meansEndOfLine(query) ? ['--crlf'] : []),
    ...(query.encoding === undefined ? [] : [`--encoding=${query.encoding}`]),
    ...(query.type === undefined ? [] : [`--type=${query.type}`]),
    ...(query.names === undefined
      ? []
      : [...query.names.map(name => `--type-add=kogu:${name}`), '--type=kogu']),
    ...query.excluded.map(glob => `--glob=!${glob}`),
    // What git and Kogu keep for themselves is not what the project says.
    '--glob=!.git',
    '--glob=!.kogu',
    ...(query.folder === '/' ? ['--glob=!/proc', '--glob=!/sys', '--glob=!/dev'] : []),
    ...query.output,
    // One argument each, behind `=` and `--`: nothing that was asked for can become an option.
    `--regexp=${acrossLines ? patternAcrossLines(query) : query.pattern}`,
    '--',
    query.file === undefined ? './' : `./${query.file}`,
  ]
}

function patternAcrossLines({ pattern, fixedStrings }: RipgrepQuery): string {
  return withAnyLineBreak(fixedStrings ? escapePattern(pattern.replaceAll('\r\n', '\n')) : pattern)
}

/** Then `$` is before a carriage return too, unless the pattern speaks of carriage returns itself. */
function meansEndOfLine({ pattern, fixedStrings }: RipgrepQuery): boolean {
  const plain = pattern.replaceAll(/\\[^rx]|\[[^\]]*\]/g, '')
  return !fixedStrings && plain.includes('$') && !/\\r|\\x(?:0d|\{0*d\})|\r/i.test(pattern)
}

/** What ripgrep says about a query that it does not take, in one or two lines. */
export function explainErrors(errors: string, pattern: string): ToolError {
  const text = errors
    // Advice about options of its own, which may go on for several lines.
    .replace(/\n\s*Consider enabling [\s\S]*$/, '')
    .split('\n')
    .map(line => line.replace(/^rg: /, '').trimEnd())
    .filter(line => line !== '' && !/PCRE2|--pcre2|--multiline|--text/.test(line))
    .slice(0, 8)
    .join('\n')
  if (/regex parse error|look-around|backreferences/.test(errors)) {
    const unsupported = /look-around|backreferences/.test(errors)
    const message = `The pattern is not a valid regular expression: ${reasonOf(errors, pattern)}: ${pattern.slice(0, 200)}`
    return new ToolError('invalid_input', message, {
      hint: unsupported
        ? 'Look-around and backreferences are not supported; search for a simpler pattern and filter the result.'
        : 'Escape the characters . * + ? ( ) [ ] { } | ^ $ \\ or pass fixed_strings: true to search for the text as it is.',
    })
  }
  if (/literal .*\\n.*not allowed/.test(errors)) {
    return new ToolError('invalid_input', 'The pattern contains a line break.', {
      hint: 'Pass multiline: true.',
    })
  }
  if (/error parsing glob/.test(errors)) {
    return new ToolError('invalid_input', `Invalid glob: ${text}`, {
      hint: 'A bracket opens a character class such as [abc]. Write \\[ to match the bracket itself.',
    })
  }
  return new ToolError(
    'failed',
    `The search for ${pattern.slice(0, 100)} failed: ${text || 'ripgrep gave no reason'}`,
  )
}

/** ripgrep shows the pattern as it puts it into a group, which nobody wrote: only its reason is passed on. */
function reasonOf(errors: string, pattern: string): string {
  // Its group would end with an escaped bracket.
  if (/(?<!\\)(?:\\\\)*\\$/.test(pattern)) return 'it ends with a single \\'
  return /^error: (.*)$/m.exec(errors)?.[1] ?? 'ripgrep does not say why'
}
