import { hash } from 'node:crypto'
import { statSync } from 'node:fs'
import * as z from 'zod'
import { type Access, ANY_HOST, PROTECTED_FILES } from '../../core/access.ts'
import { ToolError } from '../../core/errors.ts'
import type { Permit } from '../../core/permit.ts'
import { PROCESS_FIELDS } from '../../core/processes.ts'
import { absolutePath, isInside, realPathOf } from '../../core/real-path.ts'
import type { AnyTool, ToolContext, ToolOutput } from '../../core/tool.ts'
import { defineTool } from '../../core/tool.ts'
import { toLine } from '../../core/visible.ts'
import { portsInput, refusePortsInForeground, toAddress } from './background-ports.ts'
import { startBackground } from './background-start.ts'
import { answerOf, exitMeaning } from './exit-meaning.ts'
import { type ForegroundRequest, type ForegroundResult, runForeground } from './foreground.ts'
import type { CommandParts } from './parts.ts'

const DEFAULT_TIMEOUT_MS = 120_000
const LONGEST_TIMEOUT_MS = 600_000
const LONGEST_NOTE = 10_000
const HOST = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*(:\d{1,5})?$/i
const BRINGING_OVER_MS = 300_000

const input = () =>
  z.object({
    command: z
      .string()
      .refine(line => line.trim() !== '', 'Command cannot be empty')
      .refine(line => !line.includes('\0'), 'Command cannot hold a NUL character')
      .describe('The bash command line'),
    description: z
      .string()
      .optional()
      .describe('What it is for, in a few words; shown to the person who is asked'),
    working_dir: z
      .string()
      .optional()
      .describe('Folder inside the workspace; defaults to where the last command of the run ended'),
    timeout_ms: z
      .int()
      .min(1)
      .max(LONGEST_TIMEOUT_MS)
      .default(DEFAULT_TIMEOUT_MS)
      .describe('Time limit in milliseconds; then it is stopped with everything it started'),
    idle_timeout_ms: z
      .int()
      .min(100)
      .optional()
      .describe('Stop it when it has printed nothing for this long'),
    background: z
      .boolean()
      .default(false)
      .describe(
        'Return a handle at once; the workspace is read-only for it. See command_output, command_stop',
      ),
    ports: portsInput().describe(
      'With background: ports it listens on, reachable at 127.0.0.1 by the person and by later commands',
    ),
    network: z
      .union([z.boolean(), z.array(z.string().regex(HOST, 'must be a host, such as "registry.npmjs.org"'))])
      .default(false)
      .describe(
        'Hosts it needs to contact, or true for any; the person is asked first. Defaults to no network',
      ),
    stdin: z.string().optional().describe('Text for its standard input; defaults to none'),
    env: z
      .record(z.string().regex(/^[A-Za-z_]\w*$/), z.string())
      .default({})
      .describe('More environment variables'),
    profile: z
      .enum(['shell', 'restricted'])
      .default('shell')
      .describe('restricted: one simple command of the allowed list, without a shell'),
    preview: z
      .boolean()
      .default(false)
      .describe('Run it on a copy without network and return what it would change'),
    brings: z
      .array(z.string().min(1))
      .max(50)
      .default([])
      .describe(
        'Editor, agent and hook files (.vscode/settings.json) that a git command may change; the person is asked about each',
      ),
    reset: z
      .boolean()
      .default(false)
      .describe('Start in the workspace again, without the exported variables of the run'),
  })

type Input = z.output<ReturnType<typeof input>>

/** Runs command lines. Permissions are decided before; sandboxing, recording and ending happen here. */
export function runCommandTool(parts: CommandParts, allowed: readonly string[]): AnyTool {
  return defineTool({
    name: 'run_command',
    aliases: ['Bash', 'bash', 'shell', 'shell_exec', 'run_shell_command'],
    parameterAliases: {
      timeout: 'timeout_ms',
      timeout_secs: {
        to: 'timeout_ms',
        convert: value => (typeof value === 'number' ? value * 1000 : value),
      },
      run_in_background: 'background',
      cwd: 'working_dir',
      directory: 'working_dir',
    },
    title: 'Run a command',
    description:
      'Run a bash command line in the workspace, in a sandbox without network. Most lines run at once and their changes are ' +
      'judged afterwards: the result says whether they were kept. Changes can be undone. Lines that need the network (pass ' +
      '"network"), publish, change the repository or are dangerous ask first. A background command cannot change the workspace. ' +
      'The folder and variables set by `export NAME=value` carry over to the next call of the run. ' +
      'Prefer read_file, edit_file, glob_search and grep_search to cat, sed, find and grep.',
    category: 'Execution',
    risk: 'high',
    unrecorded: ['env', 'stdin'],
    parallelContained: ({ command, reset }) => !reset && !MOVES_RUN.test(command),
    // Its own limit ends the command; the rest is for applying its changes.
    deadlineMs: ({ timeout_ms }) => timeout_ms + BRINGING_OVER_MS,
    input,
    output: {
      ...PROCESS_FIELDS,
      cwd: { type: 'string' },
      changes_kept: { type: 'boolean' },
    },
    async access(request, { cwd, runCwd }) {
      const { command, working_dir, profile, reset } = request
      refusePortsInForeground(request)
      await refuseUnfinished(command)
      const from = working_dir ?? (reset || !isFolder(runCwd) ? '.' : runCwd)
      const folder = realPathOf(absolutePath(from, cwd))
      refuseOutside(folder, parts.workspace)
      const hosts = Array.isArray(request.network) ? request.network : []
      return [
        { kind: 'execute', command, cwd: folder, ...(profile === 'shell' ? {} : { programs: allowed }) },
        ...hosts.map((host): Access => ({ kind: 'network', url: `https://${host}/`, method: 'CONNECT' })),
        ...circumstances(request, parts),
        ...broughtFiles(request, folder),
      ]
    },
    // The line alone would not tell the person that it goes on, what it reads and who can reach it.
    preview: (request, { cwd }) =>
      [
        ...showValues(request),
        ...[...circumstances(request, parts), ...broughtFiles(request, cwd)].map(toDetails),
      ].join('\n') || undefined,
    async tryOut(request, context) {
      if (context.permit.command?.plan !== null) return 'It only reads.'
      const done = await runForeground(parts, toForeground(request, true, context), context)
      return [parts.redact(done.output.text), ...done.notes].join('\n')
    },
    async run(request, context) {
      if (request.reset) resetRun(context)
      refuseOutside(context.permit.command?.cwd ?? context.workspace, context.workspace)
      if (request.background) return startBackground(parts, request, context)
      const started = performance.now()
      const done = await runForeground(parts, toForeground(request, request.preview, context), context)
      return render(request, done, performance.now() - started, parts, context)
    },
  })
}

/** The next call may rely on where it ends up and what it exports. */
const MOVES_RUN = /(^|[\s;&|({])(cd|pushd|popd|export|declare|typeset|readonly|unset|source|\.)(\s|$)/

/** No shell could run it, so nobody is asked about it. What only our parser does not know is not among these. */
async function refuseUnfinished(command: string): Promise<void> {
  const { parse } = await import('unbash')
  const error = attempt(() => parse(command).errors)?.find(({ message }) =>
    /^unterminated |^expected command after | to close /.test(message),
  )
  if (error === undefined) return
  throw new ToolError('invalid_input', `Syntax error in the command line: ${error.message}.`, {
    hint: `It begins at character ${error.pos + 1}. Close it, or quote the text.`,
  })
}

/** Undefined where the parser gives up: then the line is judged as one that cannot be understood. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

type CustomAccess = Access & { kind: 'custom' }

function toDetails({ details }: CustomAccess): string {
  return details
}

/**
 * What changes the meaning of a line without being in it: a rule or grant for the line alone does not cover it. A grant
 * binds the values by their digest: they may be secrets, and what is on record does not show them.
 */
function circumstances(
  { command, env, background, stdin, ports, network }: Input,
  { backgroundWrite }: CommandParts,
): CustomAccess[] {
  const variables = Object.entries(env)
  const found: CustomAccess[] = []
  if (variables.length > 0) {
    const names = variables.map(([name, value]) => `${name} (${digestOf(value)})`)
    found.push({ kind: 'custom', name: 'environment', details: `Sets ${names.join(', ')}.` })
  }
  if (network === true) {
    found.push({ kind: 'custom', name: ANY_HOST, details: 'It may contact any public host.' })
  }
  if (background) {
    const open = ports.length === 0 ? '' : `, can be reached at ${ports.map(toAddress).join(', ')}`
    const written = backgroundWrite.length === 0 ? '' : `, may write ${backgroundWrite.join(', ')} unrecorded`
    found.push({
      kind: 'custom',
      name: 'background',
      details: `It keeps running in the background${open}${written}: ${command}`,
    })
  }
  if (stdin !== undefined) {
    const details = `It reads ${Buffer.byteLength(stdin)} bytes of input (${digestOf(stdin)}).`
    found.push({ kind: 'custom', name: 'stdin', details })
  }
  return found
}

/** Relative to where the command starts. */
function broughtFiles({ brings }: Input, folder: string): CustomAccess[] {
  if (brings.length === 0) return []
  const details = `git may change ${brings.join(', ')}.`
  const paths = brings.map(path => realPathOf(absolutePath(path, folder)))
  return [{ kind: 'custom', name: PROTECTED_FILES, details, paths }]
}

function digestOf(text: string): string {
  return `sha256 ${hash('sha256', text).slice(0, 16)}`
}

/** For the person who is asked, and for nobody else. */
function showValues({ env, stdin }: Input): string[] {
  return [
    ...Object.entries(env).map(([name, value]) => `${name}=${JSON.stringify(value)}`),
    ...(stdin === undefined ? [] : [`Input: ${JSON.stringify(stdin)}`]),
  ]
}

function toForeground(request: Input, preview: boolean, { permit }: ToolContext): ForegroundRequest {
  return {
    line: request.command,
    timeoutMs: Math.min(request.timeout_ms, permit.command?.timeoutMs ?? Number.POSITIVE_INFINITY),
    idleTimeoutMs: request.idle_timeout_ms,
    stdin: request.stdin,
    additions: request.env,
    preview,
    tool: 'run_command',
    keepsState: true,
  }
}

function resetRun({ run }: ToolContext): void {
  delete run.cwd
  run.variables.clear()
}

/** By its real path: a folder outside would be readable, but the line's relative paths would all point there. */
function refuseOutside(folder: string, workspace: string): void {
  if (!isInside(folder, workspace)) {
    throw new ToolError('invalid_input', `The working directory must be inside the workspace: ${folder}`)
  }
  if (!isFolder(folder)) throw new ToolError('not_found', `The working directory does not exist: ${folder}`)
}

/** The folder in which the last command of a run ended may be gone by now; the next one starts at the top again. */
function isFolder(path: string | undefined): path is string {
  return path !== undefined && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** The line leaves something running. */
const STAYS_BEHIND = /(^|[^&>|])&\s*(disown\b.*)?$/
const ENDED_WITH_COMMAND =
  'What was started with & has ended with the command. To keep it running, pass background: true without the &.'

function render(
  request: Input,
  ran: ForegroundResult,
  durationMs: number,
  parts: CommandParts,
  { run, workspace, permit, callId }: ToolContext,
): ToolOutput {
  const { command: line } = request
  const { result, stdout, stderr, output, notKept, notes, hosts, denial } = ran
  const { exitCode, signal, timedOut, idledOut, stopped, limit } = result
  const meaning = exitMeaning(line, exitCode)
  const text = parts.redact(output.text)
  const lines = [
    text.trimEnd() === '' && exitCode === 0
      ? '[Command completed successfully with no output]'
      : text.trimEnd(),
    ...(exitCode === 0 ? [] : [`[${endOf(result, durationMs)}${meaning === null ? '' : `: ${meaning}`}]`]),
    ...(denial === null ? [] : [`[sandbox: ${denial.message}]`]),
    // One line each: a file's name must not begin one of its own.
    ...notes.map(note => `[${toLine(note, LONGEST_NOTE)}]`),
    ...(output.truncated ? [`[All of the output: command_output with id "${callId}"]`] : []),
    ...(STAYS_BEHIND.test(line) ? [`[${ENDED_WITH_COMMAND}]`] : []),
  ]
  return {
    text: lines.filter(part => part !== '').join('\n'),
    data: {
      command: line,
      exit_code: exitCode,
      exit_meaning: meaning,
      signal,
      success: exitCode === 0,
      stdout: parts.redact(stdout.text),
      stderr: parts.redact(stderr.text),
      truncated: stdout.truncated || stderr.truncated,
      full_output: output.spill?.path ?? null,
      timed_out: timedOut || idledOut,
      stopped,
      limit,
      duration_ms: Math.round(durationMs),
      cwd: run.cwd ?? workspace,
      hosts,
      denial,
      notes,
      ...(request.preview ? { would_change: notKept?.effects ?? [] } : {}),
      changes_kept: notKept === null,
      ...(notKept === null || request.preview ? {} : { not_kept: notKept }),
    },
    label: { origin: 'command', trusted: isTrusted(parts, permit) },
    ...verdictOf(request, ran, durationMs),
  }
}

/** That a search found nothing is an answer; that a command failed, or that its changes were not kept, is a no. */
function verdictOf(
  { command, preview }: Input,
  { result, notKept }: ForegroundResult,
  durationMs: number,
): Pick<ToolOutput, 'verdict'> {
  const failed = result.exitCode !== 0 && answerOf(command, result.exitCode) === undefined
  if (failed) return { verdict: { is: 'failed', why: `${endOf(result, durationMs)}.` } }
  if (notKept === null || preview) return {}
  return { verdict: { is: 'failed', why: `Its changes were not kept: ${notKept.reason}` } }
}

/** Other machines, and files outside the workspace, may say anything; so may what a command prints of them. */
export function isTrusted({ sandbox, workspace }: CommandParts, { access, command }: Permit): boolean {
  if (sandbox === null || (command?.plan === null && command.network !== undefined)) return false
  return access.every(item => item.kind !== 'file_read' || isInside(item.path, workspace))
}

function endOf(result: ForegroundResult['result'], durationMs: number): string {
  const { exitCode, signal, timedOut, idledOut, limit } = result
  if (timedOut) return `Command timed out after ${Math.round(durationMs)} ms; its changes were discarded`
  if (idledOut)
    return `Command printed nothing for too long and was stopped after ${Math.round(durationMs)} ms`
  if (limit !== null)
    return `Command was stopped: it used too ${limit === 'memory' ? 'much memory' : 'many processes'}`
  return exitCode === null
    ? `Command was ended by ${signal ?? 'a signal'}`
    : `Command exited with code ${exitCode}`
}
