import { resolve } from 'node:path'
import { ToolError, toToolError } from '../../core/errors.ts'
import { toBlock, toLine } from '../../core/visible.ts'
import type { Explanation, Runtime } from '../../runtime.ts'
import { type Command, type CommandContext, flag, textOption, UsageError } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { openRuntime } from '../open-runtime.ts'
import type { Output } from '../output.ts'
import { readBatch, readCallInput } from '../read-input.ts'

export const explain: Command = {
  help: `
Show what would be decided about a call, and why. Runs nothing, asks nobody, records nothing.

  kogu explain write_file '{"path":"/etc/hosts","content":"x"}'
  kogu explain run_command '{"command":"git push"}' --json
  kogu explain --batch < calls.jsonl

  kogu explain TOOL [JSON | -]
  kogu explain --batch          one {"tool", "input", "cwd"?} per line; one JSON line each, in order

Options
  --mode MODE     as for kogu call
  --run ID        as a call of this run: files that were read in it count as read
  --json          {tool, canonical, decision: allow|ask|deny, by, hard, risk, command, access, reasons, ref};
                  command: {level, score} of a command line, from safe 0 to forbidden 10
`,
  options: { batch: { type: 'boolean' }, mode: { type: 'string' }, run: { type: 'string' } },
  async run(context) {
    const [tool, argument, ...extra] = context.positionals
    if (extra.length > 0)
      throw new UsageError('Too many arguments.', "Quote the JSON: kogu explain TOOL '{…}'")
    if (flag(context.values, 'batch')) return explainBatch(context)
    if (tool === undefined) throw new UsageError('Which tool?', 'See: kogu tools list')
    const input = await readCallInput(argument, context)
    const runtime = await openRuntime(context)
    try {
      const explanation = await runtime.explain({ tool, input, ...runOption(context) })
      if (context.output.json) context.output.object(explanation)
      else context.output.data(render(explanation, context.output))
      return EXIT.ok
    } finally {
      await runtime.close()
    }
  },
}

/** Nothing is saved: the run is only looked at. */
function runOption({ values }: CommandContext): { run?: string } {
  const run = textOption(values, 'run')
  return run === undefined ? {} : { run }
}

async function explainBatch(context: CommandContext): Promise<number> {
  const runtime = await openRuntime(context)
  try {
    for await (const line of readBatch(context)) {
      if (context.signal.aborted) return EXIT.interrupted
      const answer =
        line instanceof ToolError
          ? toError(line)
          : await explainLine(runtime, { ...line, ...runOption(context) })
      context.output.object(answer)
    }
    return EXIT.ok
  } finally {
    await runtime.close()
  }
}

async function explainLine(
  runtime: Runtime,
  line: { tool: string; input: unknown; cwd: string | undefined; run?: string },
): Promise<unknown> {
  try {
    const { tool, input, cwd, run } = line
    return await runtime.explain({
      tool,
      input,
      ...(run === undefined ? {} : { run }),
      ...(cwd === undefined ? {} : { cwd: resolve(runtime.cwd, cwd) }),
    })
  } catch (error) {
    return toError(toToolError(error))
  }
}

function toError(error: ToolError): unknown {
  return { error: { code: error.code, message: error.message, hint: error.hint ?? null } }
}

const STYLE = { allow: 'green', ask: 'yellow', deny: 'red' } as const

function render(explanation: Explanation, output: Output): string {
  const { decision, by, hard, risk, command, access, reasons, ref } = explanation
  const place = ref?.line === undefined ? (ref?.source ?? '') : `${ref.source}:${ref.line}`
  const touches = access.map(item => toBlock(`${item.kind}  ${Object.values(item).slice(1).join(' ')}`))
  return [
    `${output.style(STYLE[decision], decision)}${hard ? ' (hard limit; no approval can override it)' : ''}  ${toLine(explanation.canonical)}  risk ${risk}`,
    ...(by === 'contained' ? ['  would run contained; its changes would be judged'] : []),
    ...(command === undefined
      ? []
      : [`  level of the command line: ${command.level}, score ${command.score} of 10`]),
    ...reasons.map(reason => toBlock(reason)),
    ...(ref === null ? [] : [`  decided by ${toLine(ref.id)} (${toLine(place)}): ${toLine(ref.text)}`]),
    ...(touches.length === 0 ? [] : ['touches', ...touches]),
  ].join('\n')
}
