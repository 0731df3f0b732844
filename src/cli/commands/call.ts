import { openSync } from 'node:fs'
import { resolve } from 'node:path'
import { ReadStream } from 'node:tty'
import { type Approver, laterApprover, noApprover, onceApprover } from '../../core/approval.ts'
import type { CallResult } from '../../core/call.ts'
import type { Decision } from '../../core/decision.ts'
import { ToolError, toToolError } from '../../core/errors.ts'
import { toLine, underMargin } from '../../core/visible.ts'
import { type Command, type CommandContext, flag, textOption, UsageError } from '../command.ts'
import { doorHint } from '../door-hint.ts'
import { EXIT, EXIT_OF_ERROR } from '../exit-codes.ts'
import { openRuntime } from '../open-runtime.ts'
import type { Output } from '../output.ts'
import { readBatch, readCallInput } from '../read-input.ts'
import { renderResult } from '../render-result.ts'

export const call: Command = {
  help: `
Call one tool. Kogu validates the call, decides about it, runs the tool and records the result.

  kogu call read_file '{"path":"README.md"}'
  kogu call Read '{"file_path":"README.md","limit":5}' --json
  echo '{"path":"a.txt","content":"hi"}' | kogu call write_file - --mode accept-edits
  printf '%s\\n' '{"tool":"read_file","input":{"path":"a.txt"}}' | kogu call --batch

  kogu call TOOL [JSON | -]     - reads the JSON from standard input
  kogu call --continue ID       continue a call whose question was answered; ID is the question's or the call's
  kogu call --batch             reads one {"tool", "input", "cwd"?} per line, prints one JSON result per line; one run

Options
  --mode MODE     ask (default): asks before changes · accept-edits: file tools may write in the workspace
                  read-only: refuses every change · auto: never asks, refuses what no rule allows
  --yes-once      approve the question that this call may raise, once; does not override a deny or a hard limit
  --run ID        part of this run: files that were read in it count as read
  --json          one object: {ok, tool, text, data, error, decision, risk, effects, duration_ms, wait_ms, …}

Exit codes: 0 ok · 1 the tool failed · 2 usage or invalid input · 6 denied or forbidden · 7 needs a person
See also: kogu explain, kogu tools list
`,
  options: {
    batch: { type: 'boolean' },
    continue: { type: 'string' },
    mode: { type: 'string' },
    'yes-once': { type: 'boolean' },
    run: { type: 'string' },
  },
  async run(context) {
    const [tool, argument, ...extra] = context.positionals
    if (extra.length > 0) throw new UsageError('Too many arguments.', "Quote the JSON: kogu call TOOL '{…}'")
    if (flag(context.values, 'batch')) {
      if (tool !== undefined) throw new UsageError('--batch takes the tools from standard input.')
      return runBatch(context)
    }
    const continued = textOption(context.values, 'continue')
    if (continued !== undefined) {
      if (tool !== undefined)
        throw new UsageError('--continue takes the tool and its input from the question.')
      return goOn(context, continued)
    }
    if (tool === undefined) throw new UsageError('Which tool?', 'See: kogu tools list')
    let input: unknown
    try {
      input = await readCallInput(argument, context)
    } catch (error) {
      const failure = unreadableInput(tool, toToolError(error))
      print(failure, context)
      return EXIT_OF_ERROR[failure.error.code]
    }
    const runtime = await openRuntime(context, await approverFor(context))
    try {
      const live = createLive(context.output)
      for (const sentence of await runtime.recover()) context.output.note(toLine(sentence))
      const result = await runtime.call({
        tool,
        input,
        caller: 'cli',
        signal: context.signal,
        ...runOption(context),
        ...(context.stdin.isTTY === true ? { onProgress: live.show } : {}),
      })
      print(live.withoutShown(result), context)
      return exitOf(result)
    } finally {
      await runtime.close()
    }
  },
}

async function goOn(context: CommandContext, id: string): Promise<number> {
  const runtime = await openRuntime(context, await approverFor(context))
  try {
    const result = await runtime.continueCall(id, { signal: context.signal })
    print(result, context)
    return exitOf(result)
  } finally {
    await runtime.close()
  }
}

/** A tool that ran and says no is no success for the script that called it. */
function exitOf({ error, verdict }: CallResult): number {
  if (error !== null) return EXIT_OF_ERROR[error.code]
  return verdict?.is === 'failed' ? EXIT.failed : EXIT.ok
}

/** What a command prints is shown as it comes, and only once where the result goes to the same screen. */
function createLive(output: Output) {
  let shown = ''
  return {
    show(text: string): void {
      if (shown.length < MOST_LIVE) shown += text
      output.live(text)
    },
    withoutShown(result: CallResult): CallResult {
      if (shown !== '' && !shown.endsWith('\n')) output.live('\n')
      const same = shown.trimEnd()
      const isShown =
        process.stdout.isTTY === true && !output.json && same !== '' && result.text.startsWith(same)
      return isShown ? { ...result, text: result.text.slice(same.length).trimStart() } : result
    },
  }
}

const MOST_LIVE = 1024 * 1024

async function runBatch(context: CommandContext): Promise<number> {
  const runtime = await openRuntime(context, await approverFor(context))
  try {
    const { run } = runOption(context)
    const batch = await runtime.openRun(run === undefined ? {} : { id: run })
    for await (const line of readBatch(context)) {
      if (context.signal.aborted) return EXIT.interrupted
      if (line instanceof ToolError) {
        context.output.object(toJson(unreadableInput('', line)))
        continue
      }
      const { tool, input, cwd } = line
      const result = await runtime.call({
        tool,
        input,
        caller: 'cli',
        run: batch.id,
        signal: context.signal,
        ...(cwd === undefined ? {} : { cwd: resolve(runtime.cwd, cwd) }),
      })
      context.output.object(toJson(result))
    }
    return EXIT.ok
  } finally {
    await runtime.close()
  }
}

/** Who answers: --yes-once, a person at this terminal, or somebody later. */
async function approverFor(context: CommandContext): Promise<Approver> {
  const { environment, values, stdin, output } = context
  if (environment.insideCall !== undefined) {
    // Otherwise a command that an agent runs could approve what the agent may not do.
    return noApprover('this Kogu was started from inside a Kogu call, which never approves')
  }
  if (flag(values, 'yes-once')) return onceApprover('--yes-once')
  const terminal = flag(values, 'no-input') || process.stderr.isTTY !== true ? undefined : findTerminal(stdin)
  if (terminal === undefined) return laterApprover
  const { terminalApprover } = await import('../prompt.ts')
  return terminalApprover({ stdin: terminal, output, user: environment.variables.USER ?? 'terminal' })
}

/** Where answers are typed: the input itself, or where that is a pipe, the terminal that the program was started on. */
function findTerminal(stdin: NodeJS.ReadStream): NodeJS.ReadStream | undefined {
  if (stdin.isTTY === true) return stdin
  try {
    const terminal = new ReadStream(openSync('/dev/tty', 'r+'))
    // It keeps nobody from ending; a question that is open does.
    terminal.pause()
    terminal.unref()
    return terminal
  } catch {
    // There is none: a service, or a job of CI.
    return undefined
  }
}

function runOption(context: CommandContext): { run?: string } {
  const run = textOption(context.values, 'run')
  return run === undefined ? {} : { run }
}

function print(result: CallResult, context: CommandContext): void {
  const { output } = context
  if (output.json) {
    output.object(toJson(result))
  } else if (result.text !== '' && result.error === null) output.result(renderResult(result, output))
  if (result.error !== null) {
    output.problem(`${output.noteStyle('red', `${result.error.code}:`)} ${underMargin(result.error.message)}`)
    const hint = doorHint(result)
    if (hint !== null) output.problem(underMargin(hint))
  }
}

/** In the shape of every other result, although there is nothing to call a tool with. */
function unreadableInput(tool: string, { code, message, hint }: ToolError) {
  const error = { code, message, hint: hint ?? null }
  const decision: Decision = { outcome: 'deny', by: 'validation', ref: null, reason: message }
  const result = {
    ok: false,
    call: '',
    number: 0,
    tool,
    text: message,
    data: null,
    error,
    decision,
    effects: [],
    label: null,
  }
  return { ...result, risk: 'high', durationMs: 0, waitMs: 0 } as const
}

/** The contract of `--json`. */
function toJson(result: CallResult): Record<string, unknown> {
  const { ok, call, number, tool, text, data, images, error, question } = result
  const { decision, risk, effects, label, durationMs, waitMs } = result
  return {
    ok,
    tool,
    text,
    data,
    ...(images === undefined ? {} : { images }),
    error: error === null ? null : { ...error, hint: doorHint(result) },
    ...(question === undefined ? {} : { question }),
    decision,
    risk,
    effects,
    label,
    call,
    number,
    duration_ms: Math.round(durationMs * 1000) / 1000,
    wait_ms: Math.round(waitMs),
  }
}
