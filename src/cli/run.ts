import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import type { Environment, TerminalHints } from '../config/environment.ts'
import { isSystemError, toToolError } from '../core/errors.ts'
import { closest } from '../core/suggest.ts'
import { toLine, underMargin } from '../core/visible.ts'
import {
  type Command,
  type CommandContext,
  CommandError,
  GLOBAL_OPTIONS,
  refuseExtraWords,
  textOption,
  UsageError,
} from './command.ts'
import { COMMANDS } from './commands.ts'
import { EXIT, EXIT_OF_ERROR } from './exit-codes.ts'
import { createOutput, type Output } from './output.ts'
import { VERSION } from './version.ts'

/** Runs one command line and returns its exit code. */
export async function run(args: readonly string[], environment: Environment): Promise<number> {
  exitWhenNothingCanBeWritten()
  const [name, ...rest] = commandFirst(args)
  if (name === '--version' || name === '-V' || name === 'version') {
    process.stdout.write(`${VERSION}\n`)
    return EXIT.ok
  }
  if (name === '__complete') return completeWords(rest, environment)
  if (name === undefined && process.stdout.isTTY === true) {
    const { showStatus } = await import('./status.ts')
    return showStatus(environment, outputFor({}, environment.terminal))
  }
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    return showHelp(name === 'help' ? rest[0] : undefined, name === undefined, environment.terminal)
  }
  // No command has a blank: `kogu "Find all TODO comments"` is a task.
  if (/\s/.test(name) && !isCommandLine(name)) return runCommand('run', [name, ...rest], environment)
  return runCommand(name, rest, environment)
}

/**
 * `"tools list"`, or with a blank of another keyboard between the two, is a mistake and not a task that a model is paid for.
 * `"explain this file"` is a task.
 */
function isCommandLine(text: string): boolean {
  const [name = '', verb] = text.trim().split(/\s+/)
  const listed = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (listed === undefined) return false
  return verb === undefined || verb.startsWith('-') || listed.verbs?.includes(verb) === true
}

/** For the scripts of `kogu completion`. Silent when anything goes wrong: a message would land in what is typed. */
async function completeWords(args: readonly string[], environment: Environment): Promise<number> {
  try {
    const dashes = args.indexOf('--')
    const words = [...args.slice(dashes + 1), ...(args.slice(0, dashes).includes('--new') ? [''] : [])]
    const { complete } = await import('./completion/complete.ts')
    const found = await complete(words, { environment, cwd: process.cwd() })
    const lines = found.map(({ value, meaning = '' }) =>
      meaning === '' ? value : `${value}\t${toLine(meaning, 60)}`,
    )
    if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`)
  } catch {
    // Nothing is completed.
  }
  return EXIT.ok
}

/** `kogu --cwd DIR call …` means `kogu call --cwd DIR …`. */
function commandFirst(args: readonly string[]): readonly string[] {
  let index = 0
  while (args[index]?.startsWith('-') === true) index += takesValue(args[index] ?? '') ? 2 : 1
  const name = args[index]
  const options = args.slice(0, index)
  const isOwn = ['--help', '-h', '--version', '-V'].some(own => options.includes(own))
  return name === undefined || isOwn ? args : [name, ...options, ...args.slice(index + 1)]
}

function takesValue(option: string): boolean {
  return Object.entries(GLOBAL_OPTIONS).some(
    ([name, { type, ...rest }]) =>
      type === 'string' && (option === `--${name}` || ('short' in rest && option === `-${rest.short}`)),
  )
}

async function runCommand(name: string, rest: readonly string[], environment: Environment): Promise<number> {
  let output = outputFor({ json: rest.includes('--json') }, environment.terminal)
  try {
    const listed = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
    if (listed === undefined) throw unknownCommand(name)
    const command = await listed.load()
    const { values, positionals } = parse(rest, optionsFor(command, rest))
    if (values.help === true) {
      process.stdout.write(`${command.help.trim()}\n`)
      return EXIT.ok
    }
    output = outputFor(values, environment.terminal)
    refuseExtraWords(name, command.words, positionals)
    const interrupts = listenForInterrupts(output, await readTimeout(values))
    const context: CommandContext = {
      positionals,
      values,
      output,
      environment,
      signal: interrupts.signal,
      stdin: process.stdin,
      cwd: process.cwd(),
    }
    const code = await command.run(context)
    return interrupts.signal.aborted && code === EXIT.interrupted ? interrupts.code() : code
  } catch (error) {
    return report(error, output)
  }
}

/** `deny --always` needs no number, `approve --always 2` does. */
function optionsFor({ options, flags }: Command, args: readonly string[]): ParseArgsOptionsConfig {
  if (flags === undefined) return options
  const known = { ...GLOBAL_OPTIONS, ...options }
  const [verb = ''] = parseArgs({ args: [...args], options: known, strict: false }).positionals
  const own = Object.hasOwn(flags, verb) ? (flags[verb] ?? []) : []
  return { ...options, ...Object.fromEntries(own.map(name => [name, { type: 'boolean' }])) }
}

function parse(args: readonly string[], options: ParseArgsOptionsConfig) {
  const known = { ...GLOBAL_OPTIONS, ...options }
  try {
    const parsed = parseArgs({
      args: [...args],
      options: known,
      allowPositionals: true,
      strict: true,
      tokens: true,
    })
    refuseRepeated(parsed.tokens, known)
    return parsed
  } catch (error) {
    if (!isSystemError(error) || !error.code?.startsWith('ERR_PARSE_ARGS')) throw error
    const unknown = /Unknown option '(--?[^']+)'/.exec(error.message)?.[1]
    if (unknown === undefined) throw new UsageError(firstSentence(error.message))
    const near = closest(
      unknown,
      Object.keys(known).map(option => `--${option}`),
    )
    throw new UsageError(
      `Unknown option '${unknown}'.`,
      near === undefined ? undefined : `Did you mean '${near}'?`,
    )
  }
}

type Token = NonNullable<ReturnType<typeof parseArgs>['tokens']>[number]

/** Of two values, parseArgs silently takes the last; a person may have read the first. */
function refuseRepeated(tokens: readonly Token[], options: ParseArgsOptionsConfig): void {
  const given = new Set<string>()
  for (const token of tokens) {
    if (token.kind !== 'option' || token.value === undefined || options[token.name]?.multiple === true)
      continue
    if (given.has(token.name)) throw new UsageError(`--${token.name} is given twice.`)
    given.add(token.name)
  }
}

function firstSentence(text: string): string {
  return `${text.split('. ')[0]?.replace(/\.$/, '')}.`
}

function unknownCommand(name: string): UsageError {
  if (isCommandLine(name)) {
    const words = name.trim().split(/\s+/).join(' ')
    return new UsageError(
      `'${toLine(name)}' is a single argument with spaces.`,
      `For the command: kogu ${words}\nFor a task: kogu run '${words}'`,
    )
  }
  const near = closest(name, Object.keys(COMMANDS))
  return new UsageError(
    `Unknown command '${name}'.`,
    near === undefined ? 'See: kogu --help' : `Did you mean '${near}'?`,
  )
}

async function showHelp(
  topic: string | undefined,
  noArguments: boolean,
  terminal: TerminalHints,
): Promise<number> {
  const listed = topic !== undefined && Object.hasOwn(COMMANDS, topic) ? COMMANDS[topic] : undefined
  if (topic !== undefined && listed === undefined)
    return report(unknownCommand(topic), outputFor({}, terminal))
  if (listed !== undefined) {
    process.stdout.write(`${(await listed.load()).help.trim()}\n`)
    return EXIT.ok
  }
  const width = Math.max(...Object.keys(COMMANDS).map(name => name.length))
  const lines = Object.entries(COMMANDS).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`)
  process.stdout.write(`${OVERVIEW}\n\nCommands\n${lines.join('\n')}\n\n${FOOTER}\n`)
  // Called without a command by a script: that is a mistake, and the help is not its data.
  return noArguments ? EXIT.usage : EXIT.ok
}

const OVERVIEW = `kogu ${VERSION}: safe tools for AI agents

  kogu mcp install claude                             use Kogu's tools from Claude Code, Codex, Cursor, …
  kogu run "Find the TODOs in src"                    let a model work with the tools
  kogu call read_file '{"path":"README.md"}'          call a tool yourself
  kogu explain write_file '{"path":"/etc/hosts","content":"x"}'   what would be decided, and why
  kogu undo                                           undo the last change`

const FOOTER = `Every command: -h/--help  --json  --cwd DIR  --config FILE  -c key=value  --profile NAME
               -q/--quiet  -v/--verbose  --color auto|always|never  --no-color  --plain  --no-input
               --lang en|ja|ko  --timeout 10m (stops what runs, exit code 8)
Exit codes: 0 ok, 1 failed, 2 usage or invalid input, 3 configuration, 4 no key or refused, 5 vendor not reachable,
            6 denied, 7 needs a person, 8 a limit was reached, 9 not found, 10 conflict or stale,
            20 ask and 21 deny (permissions test --exit-code), 130 interrupted, 143 terminated`

/** The one place where errors that are not results become words and exit codes. */
async function report(error: unknown, output: Output): Promise<number> {
  const { code, message, hint, exit } = await classify(error)
  const { cause } = error instanceof Error ? error : { cause: undefined }
  if (output.json) output.object({ ok: false, error: { code, message, hint: hint ?? null } })
  output.problem(`${output.noteStyle('red', 'error:')} ${underMargin(message)}`)
  if (hint !== undefined) output.problem(underMargin(hint))
  if (cause instanceof Error && cause.message !== message)
    output.detail(`because: ${underMargin(cause.message)}`)
  return exit
}

interface Failure {
  code: string
  message: string
  hint: string | undefined
  exit: number
}

async function classify(error: unknown): Promise<Failure> {
  if (error instanceof CommandError)
    return { code: 'failed', message: error.message, hint: error.hint, exit: error.exit }
  if (error instanceof UsageError) {
    return { code: 'usage', message: error.message, hint: error.hint, exit: EXIT.usage }
  }
  const { ConfigError } = await import('../config/config-error.ts')
  if (error instanceof ConfigError) {
    const { describeConfigError } = await import('../config/describe-error.ts')
    return { code: 'config', message: describeConfigError(error), hint: undefined, exit: EXIT.config }
  }
  const known = toToolError(error)
  return { code: known.code, message: known.message, hint: known.hint, exit: EXIT_OF_ERROR[known.code] }
}

function outputFor(values: Readonly<Record<string, unknown>>, terminal: TerminalHints): Output {
  const color = values['no-color'] === true ? 'never' : (textOption(values, 'color') ?? 'auto')
  if (color !== 'auto' && color !== 'always' && color !== 'never') {
    throw new UsageError(`--color takes auto, always or never, not '${color}'.`)
  }
  return createOutput({
    json: values.json === true,
    plain: values.plain === true || terminal.dumb,
    quiet: values.quiet === true,
    verbose: values.verbose === true,
    color,
    wantsColor: terminal.noColor || terminal.dumb ? false : terminal.forceColor ? true : undefined,
    stdout: process.stdout,
    stderr: process.stderr,
  })
}

async function readTimeout(values: CommandContext['values']): Promise<number | undefined> {
  // Loaded only now: most command lines do without the reader of durations.
  return values.timeout === undefined
    ? undefined
    : (await import('./read-time.ts')).readDuration(values, 'timeout')
}

/** After its time is over, a command has this long to stop by itself. */
const STOP_MS = 5_000

/** Ctrl-C, a polite end or the end of --timeout: stop what runs and say what was cut off. Ctrl-C twice: now. */
function listenForInterrupts(
  output: Output,
  timeoutMs: number | undefined,
): { signal: AbortSignal; code(): number } {
  const controller = new AbortController()
  let code: number = EXIT.interrupted
  const listen = (name: 'SIGINT' | 'SIGTERM', exit: number): void => {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(exit)
      code = exit
      if (name === 'SIGINT') output.note('Stopping… (Ctrl-C again to stop at once)')
      controller.abort()
    })
  }
  listen('SIGINT', EXIT.interrupted)
  listen('SIGTERM', EXIT.terminated)
  const stop = (): void => {
    if (controller.signal.aborted) return
    code = EXIT.limit
    output.note('Stopping: the time limit of --timeout is reached.')
    controller.abort()
    setTimeout(() => process.exit(EXIT.limit), STOP_MS).unref()
  }
  if (timeoutMs !== undefined) setTimeout(stop, timeoutMs).unref()
  return { signal: controller.signal, code: () => code }
}

function exitWhenNothingCanBeWritten(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // Whoever read has seen enough.
      if (error.code === 'EPIPE') process.exit(EXIT.ok)
      if (stream === process.stdout)
        process.stderr.write(`error: Cannot write the output: ${error.message}\n`)
      process.exit(EXIT.failed)
    })
  }
}
