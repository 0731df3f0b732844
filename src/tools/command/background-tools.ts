import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { ToolError } from '../../core/errors.ts'
import type { Permit } from '../../core/permit.ts'
import { type AnyTool, defineTool, type ToolContext, type ToolOutput } from '../../core/tool.ts'
import type { BackgroundState } from '../../sandbox/background/background.ts'
import { type FoundLines, readOutputLines, searchOutput } from '../../sandbox/processes/output-reader.ts'
import { toAddress } from './background-ports.ts'
import { explainReadOnly } from './background-write.ts'
import { findKeptOutput, isOwner } from './kept-output.ts'
import type { CommandParts } from './parts.ts'

const id = () =>
  z.string().describe('Handle of a background command, or the call id of one whose output was cut')
const LONGEST_WAIT_MS = 60_000
const LOOK_AGAIN_MS = 100
const LABEL = { origin: 'command', trusted: true } as const

/** What can be done with commands that were started in the background, and with output that was too long to show. */
export function backgroundTools(parts: CommandParts): AnyTool[] {
  return [outputTool(parts), inputTool(parts), stopTool(parts), listTool(parts)]
}

function outputTool(parts: CommandParts): AnyTool {
  return defineTool({
    name: 'command_output',
    aliases: ['BashOutput', 'bash_output', 'read_command_output'],
    parameterAliases: { bash_id: 'id', shell_id: 'id', filter: 'search' },
    title: 'Read the output of a command',
    description:
      'Read lines of a background command, or of the full output of a command that printed more than was shown. ' +
      'Select a range with from and count, or search with a regular expression.',
    category: 'ReadOnly',
    risk: 'low',
    parallel: true,
    input: () =>
      z.object({
        id: id(),
        from: z.int().default(-100).describe('First line, counted from 1; negative: from the end'),
        count: z.int().min(1).max(2000).default(200).describe('How many lines'),
        search: z.string().optional().describe('Regular expression: only lines that match'),
        context: z.int().min(0).max(20).default(0).describe('Lines around each match'),
        wait_ms: z
          .int()
          .min(0)
          .max(LONGEST_WAIT_MS)
          .default(0)
          .describe('Follow: how long to wait for more output, or for the end of the command'),
      }),
    output: {
      lines: { type: 'array', items: { type: 'object' } },
      total_lines: { type: 'integer' },
      total_matches: { type: 'integer' },
      running: { type: 'boolean' },
      waiting_for_input: { type: 'boolean' },
    },
    access: () => [],
    async run({ id: handle, from, count, search, context, wait_ms }, { signal, permit, caller, run }) {
      if (!isCall(handle)) await refuseOthers(parts, handle, { caller, run })
      const state = isCall(handle) ? undefined : await follow(parts, handle, wait_ms, signal)
      const files = outputFiles(parts, handle, { caller, run })
      const matches = search === undefined ? undefined : await matcher(search)
      const found = await Promise.all(
        files.map(path =>
          matches === undefined
            ? readOutputLines(path, { from, count })
            : searchOutput(path, { matches, context, limit: count }),
        ),
      )
      return renderOutput(parts, found, state, permit)
    },
  })
}

function inputTool(parts: CommandParts): AnyTool {
  return defineTool({
    name: 'command_input',
    title: 'Write to a background command',
    description: 'Write text to the standard input of a background command.',
    category: 'Execution',
    risk: 'high',
    input: () =>
      z.object({
        id: id(),
        text: z.string().describe('Written as it is; end a line with \\n'),
        end: z.boolean().default(false).describe('Close its standard input afterwards'),
      }),
    output: {
      id: { type: 'string' },
    },
    // What a program does with its input can be anything: a shell runs it.
    access: ({ id: handle, text }) => [
      {
        kind: 'custom',
        name: 'command_input',
        details: `Writes ${JSON.stringify(text)} to the command ${handle}.`,
      },
    ],
    async run({ id: handle, text, end }) {
      await parts.background().input(handle, Buffer.from(text), end)
      return {
        text: `Wrote ${Buffer.byteLength(text)} bytes to ${handle}.`,
        data: { id: handle },
        label: LABEL,
      }
    },
  })
}

function stopTool(parts: CommandParts): AnyTool {
  return defineTool({
    name: 'command_stop',
    aliases: ['KillShell', 'KillBash', 'kill_shell'],
    parameterAliases: { shell_id: 'id', bash_id: 'id' },
    title: 'End a background command',
    description: 'End a background command and everything it started.',
    category: 'Execution',
    risk: 'low',
    input: () => z.object({ id: id() }),
    output: {
      id: { type: 'string' },
      running: { type: 'boolean' },
    },
    access: () => [],
    async run({ id: handle }) {
      const state = await parts.background().stop(handle)
      return { text: `${handle}: ${describe(state)}`, data: state, label: LABEL }
    },
  })
}

function listTool(parts: CommandParts): AnyTool {
  return defineTool({
    name: 'command_list',
    title: 'List background commands',
    description: 'List background commands, running and ended, with their handles.',
    category: 'ReadOnly',
    risk: 'low',
    parallel: true,
    input: () => z.object({}),
    output: {
      commands: { type: 'array', items: { type: 'object' } },
    },
    access: () => [],
    async run() {
      const states = await parts.background().list()
      const lines = states.map(state => `${state.id}  ${describe(state)}  ${parts.redact(state.title)}`)
      return { text: lines.join('\n') || 'No background commands.', data: { commands: states }, label: LABEL }
    },
  })
}

function isCall(handle: string): boolean {
  return /^call_[\w.-]+$/.test(handle)
}

async function refuseOthers(
  parts: CommandParts,
  handle: string,
  asker: Pick<ToolContext, 'caller' | 'run'>,
): Promise<void> {
  const { owner } = await parts.background().state(handle)
  if (isOwner(owner, asker)) return
  throw new ToolError('forbidden', `Only the run or the token that started ${handle} reads its output.`, {
    hint: 'End it with command_stop and start your own.',
  })
}

function outputFiles(
  parts: CommandParts,
  handle: string,
  asker: Pick<ToolContext, 'caller' | 'run'>,
): string[] {
  if (!isCall(handle)) return parts.background().outputFiles(handle)
  const path = findKeptOutput(parts.places.output, handle, asker)
  if (path === undefined) {
    throw new ToolError(
      'not_found',
      `No more output is stored for ${handle}: the result already had all of it, or another run made the call.`,
    )
  }
  return [path]
}

/** Waits until the command has ended or printed something more. */
async function follow(
  parts: CommandParts,
  handle: string,
  waitMs: number,
  signal: AbortSignal,
): Promise<BackgroundState> {
  const background = parts.background()
  const deadline = performance.now() + waitMs
  const before = await background.state(handle)
  const size = (): string => background.outputFiles(handle).map(sizeOf).join()
  const start = size()
  let state = before
  while (state.running && size() === start && performance.now() < deadline && !signal.aborted) {
    await sleep(LOOK_AGAIN_MS)
    state = await background.state(handle)
  }
  return state
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

async function matcher(pattern: string): Promise<(line: string) => boolean> {
  const { compileLinear } = await import('../../core/linear-pattern.ts')
  return compileLinear(pattern).test
}

function renderOutput(
  parts: CommandParts,
  found: readonly FoundLines[],
  state: BackgroundState | undefined,
  { isProtected }: Permit,
): ToolOutput {
  const lines = found.flatMap(part => part.lines)
  const said = lines.map(line => parts.redact(line.text))
  const denial = state === undefined ? null : explainReadOnly(said, parts, state.cwd, isProtected)
  const text = lines.map(line => `${line.number}\t${parts.redact(line.text)}`).join('\n')
  const wall = denial === null ? '' : `\n[sandbox: ${denial.message}]`
  const status = state === undefined ? '' : `${wall}\n[${describe(state)}]`
  return {
    text: `${text === '' ? '[no output]' : text}${status}`,
    data: {
      lines: lines.map(line => ({ ...line, text: parts.redact(line.text) })),
      total_lines: found.reduce((sum, part) => sum + part.totalLines, 0),
      total_matches: found.reduce((sum, part) => sum + part.totalMatches, 0),
      ...(state === undefined
        ? {}
        : {
            running: state.running,
            waiting_for_input: state.waitingForInput,
            ended: state.ended ?? null,
            denial,
          }),
    },
    label: LABEL,
  }
}

function describe({ running, waitingForInput, ended, ports }: BackgroundState): string {
  if (running) {
    const open = ports.length === 0 ? '' : ` at ${ports.map(toAddress).join(', ')}`
    return `running${open}${waitingForInput ? ', waits for input (command_input)' : ''}`
  }
  if (ended === undefined) return 'gone: its supervisor was killed'
  return ended.reason === 'exited' ? `ended with ${ended.exitCode ?? ended.signal}` : `ended: ${ended.reason}`
}
