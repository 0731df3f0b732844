import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { CommandPermit } from '../../core/command.ts'
import type { Effect } from '../../core/effects.ts'
import { ToolError, toToolError } from '../../core/errors.ts'
import type { SandboxDenial, SandboxProfile } from '../../core/sandbox.ts'
import type { ProcessContext } from '../../core/tool.ts'
import { runOnOverlay } from '../../sandbox/layer/overlay.ts'
import type { Displaced } from '../../sandbox/layer/overlay-apply.ts'
import type { OverlayChanges } from '../../sandbox/layer/overlay-changes.ts'
import { commitOverlay, few, isDecided, type OverlayTarget } from '../../sandbox/layer/overlay-commit.ts'
import { type FilteringProxy, startProxy } from '../../sandbox/network/proxy.ts'
import { createOutputKeeper, type KeptOutput } from '../../sandbox/processes/output.ts'
import { explainDenial, fromRefusedHost } from '../../sandbox/walls/denial.ts'
import type { SandboxCommand, SandboxResult } from '../../sandbox/walls/sandbox.ts'
import { portsInReach } from './background-ports.ts'
import { cachesFor } from './caches.ts'
import { environmentFor } from './environment.ts'
import { findHidden } from './hidden-paths.ts'
import { openFolders } from './open-folders.ts'
import type { CommandParts } from './parts.ts'
import { describeChanges, recordChanges } from './record-changes.ts'
import { rememberState } from './run-state.ts'
import { startOf } from './start-of.ts'
import { type CommandTemporary, openTemporary, stateFolderOf } from './temporary.ts'

export interface ForegroundRequest {
  readonly line: string
  /** The words of the line: its program is started with them, without a shell. */
  readonly words?: readonly string[]
  readonly timeoutMs: number
  readonly idleTimeoutMs: number | undefined
  readonly stdin: string | undefined
  readonly additions: Readonly<Record<string, string>>
  readonly preview: boolean
  /** The tool that runs it, for the undo record. */
  readonly tool: string
  /** Where it ends up and what it exports carries over to the next command of the run. */
  readonly keepsState: boolean
}

export interface ForegroundResult {
  readonly result: SandboxResult
  readonly stdout: KeptOutput
  readonly stderr: KeptOutput
  /** Both, in the order in which they came. */
  readonly output: KeptOutput
  /** What it would change, when it was a preview. */
  readonly wouldChange: readonly Effect[]
  /** What the person and the model have to know beyond the output. */
  readonly notes: readonly string[]
  /** Hosts that were contacted. */
  readonly hosts: readonly string[]
  readonly denial: SandboxDenial | null
}

/** Runs a line that was judged: behind the sandbox's walls, with everything it changes on record, or not at all. */
export async function runForeground(
  parts: CommandParts,
  request: ForegroundRequest,
  context: ProcessContext,
): Promise<ForegroundResult> {
  const readsOnly = commandOf(context).plan !== null
  const { runId } = context
  const temporary = await openTemporary(parts, { runId, preview: request.preview, readsOnly })
  try {
    return await runIn(temporary, parts, request, context)
  } finally {
    temporary.end(false)
  }
}

async function runIn(
  temporary: CommandTemporary,
  parts: CommandParts,
  request: ForegroundRequest,
  context: ProcessContext,
): Promise<ForegroundResult> {
  const command = commandOf(context)
  const keepers = createKeepers(parts, context)
  const proxy = await proxyFor(parts, request, command)
  try {
    const env = environmentFor(parts, command, {
      id: context.callId,
      run: context.run,
      additions: request.additions,
    })
    const given = { env, temporary, proxySocket: proxy?.socketPath }
    const profile = await profileFor(parts, request, context, given)
    const sandboxCommand: SandboxCommand = {
      ...startOf(parts, request, command, request.keepsState && parts.sandbox !== null),
      ...toOptions(request, context, keepers),
      ports: { reached: await portsInReach(parts, command, request.preview) },
    }
    const ran = await runIsolated(parts, request, context, profile, sandboxCommand).catch(error => {
      throw keepers.withOutput(toToolError(error))
    })
    if (!request.preview && request.keepsState)
      rememberState(context.run, context.workspace, temporary.state, env)
    const kept = keepers.read()
    const { exitCode, signal, limit } = ran.result
    const refusedHosts = new Map(proxy?.refused)
    const failed = { exitCode, signal, limit, stderr: kept.stderr.text, refusedHosts }
    const denial = exitCode === 0 ? fromRefusedHost(failed) : explainDenial(failed, profile)
    const hosts = [...refusedHosts]
      .filter(([host]) => !host.startsWith(`${denial?.target}:`))
      .map(([host, { reason }]) => `Not contacted: ${host} (${reason})`)
    return {
      ...ran,
      ...kept,
      notes: [...ran.notes, ...temporary.end(wasCut(ran.result)), ...hosts],
      hosts: [...(proxy?.contacted ?? [])],
      denial: parts.sandbox === null ? null : denial,
    }
  } finally {
    await proxy?.close()
    keepers.close()
  }
}

function toOptions(request: ForegroundRequest, { signal }: ProcessContext, keepers: Keepers) {
  const { timeoutMs, idleTimeoutMs, stdin } = request
  return {
    timeoutMs,
    signal,
    ...(idleTimeoutMs === undefined ? {} : { idleTimeoutMs }),
    ...(stdin === undefined ? {} : { stdin: Buffer.from(stdin) }),
    onStdout: keepers.onStdout,
    onStderr: keepers.onStderr,
  }
}

/** Nothing that it did is to stay. */
function wasCut(result: SandboxResult): boolean {
  return result.timedOut || result.idledOut || result.stopped || result.limit !== null
}

/** A way out only for lines whose approval covered it, and never for a preview. */
async function proxyFor(
  parts: CommandParts,
  request: ForegroundRequest,
  { plan, network }: CommandPermit,
): Promise<FilteringProxy | undefined> {
  if (plan !== null || network === undefined || request.preview || parts.sandbox === null) return undefined
  return startProxy(network)
}

function commandOf({ permit }: ProcessContext): CommandPermit {
  if (permit.command === undefined)
    throw new ToolError('forbidden', 'The command was never authorized, so it does not run.')
  return permit.command
}

type Ran = Pick<ForegroundResult, 'result' | 'wouldChange' | 'notes'>

async function runIsolated(
  parts: CommandParts,
  request: ForegroundRequest,
  context: ProcessContext,
  profile: SandboxProfile,
  command: SandboxCommand,
): Promise<Ran> {
  const readsOnly = commandOf(context).plan !== null
  if (parts.sandbox === null) return runWithoutWalls(parts, request, profile, command, readsOnly)
  if (readsOnly) {
    return { result: await parts.sandbox.run(profile, command), wouldChange: [], notes: [] }
  }
  const problem = parts.overlayProblem()
  if (problem === null) return runRecorded(parts, request, context, profile, command)
  // Without a layer nothing could be checked before it is there: hooks, start-up files, what rules forbid to write.
  throw new ToolError(
    'failed',
    `Commands that may write cannot run here, because their changes cannot be checked: ${problem}`,
    {
      hint: 'Use the file tools for changes; lines that only read do run. kogu doctor says more.',
    },
  )
}

async function runRecorded(
  parts: CommandParts,
  request: ForegroundRequest,
  context: ProcessContext,
  profile: SandboxProfile,
  command: SandboxCommand,
): Promise<Ran> {
  if (parts.sandbox === null) throw new Error('runs behind walls only')
  mkdirSync(parts.places.overlays, { recursive: true, mode: 0o700 })
  const { result, changes, discard } = await runOnOverlay(parts.sandbox, parts.processes, {
    workspace: parts.workspace,
    folder: join(parts.places.overlays, randomUUID()),
    profile,
    command,
  })
  const dropped = changes.dropped.map(({ path, why }) => `Not kept: ${path} (${why})`)
  if (request.preview || wasCut(result)) {
    const effects = await describeChanges(changes)
    discard()
    const why = request.preview ? 'This was a preview' : 'The command was cut off'
    return {
      result,
      wouldChange: request.preview ? effects : [],
      notes: [...dropped, `${why}: ${wouldHave(effects)}`],
    }
  }
  const { effects, displaced } = await commit(parts, request.tool, context, changes, discard).catch(error => {
    throw hinting(toToolError(error), `The command itself ${endOf(result)}.`)
  })
  const notes = [...dropped, ...displaced.map(describeDisplaced), ...describeLost(effects, parts.workspace)]
  return { result, wouldChange: [], notes }
}

function endOf({ exitCode, signal }: SandboxResult): string {
  return exitCode === null ? `was ended by ${signal ?? 'a signal'}` : `exited with code ${exitCode}`
}

function hinting({ code, message, hint, cause }: ToolError, sentence: string): ToolError {
  return new ToolError(code, message, { hint: [hint, sentence].filter(Boolean).join(' '), cause })
}

/** Nobody was asked about it: which files a line deletes is not known before it ran. */
function describeLost(effects: readonly Effect[], workspace: string): string[] {
  const lost = effects.filter(({ undoable }) => undoable === false)
  if (lost.length === 0) return []
  const names = few(lost.map(({ path }) => relative(workspace, path)))
  return [`Cannot be undone, because undo could not keep the content: ${names}`]
}

/** As a sentence. */
function describeDisplaced({ path, keptAs }: Displaced): string {
  if (path === keptAs) return `Not deleted: ${path}, which someone else wrote at the same moment.`
  return `Someone else wrote ${path} at the same moment; their version is in ${keptAs}.`
}

/** Locked as by the file tools, so that what another call or process is about to write is seen or waits. */
function filesOf({ workspace, changes }: OverlayChanges): string[] {
  return changes.filter(({ entry }) => entry !== 'directory').map(({ path }) => join(workspace, path))
}

async function commit(
  parts: CommandParts,
  tool: string,
  context: ProcessContext,
  changes: OverlayChanges,
  discard: () => void,
): Promise<{ effects: readonly Effect[]; displaced: readonly Displaced[] }> {
  if (changes.changes.length === 0) {
    // Times alone are no effect that is recorded, but `make` goes by them.
    if (changes.touched.length > 0) await commitOverlay(changes, NOTHING_TO_RECORD)
    else discard()
    return { effects: [], displaced: [] }
  }
  const record = parts.undo().begin({ id: context.callId, run: context.runId, tool })
  const effects: Effect[] = []
  try {
    const target = recordChanges(record, context.permit, changes, effects)
    const displaced = await parts.locks().hold(filesOf(changes), () => commitOverlay(changes, target))
    context.reportEffects(effects)
    return { effects, displaced }
  } catch (error) {
    // Refused or in conflict: nothing was changed. Otherwise the next start needs both to finish what was begun.
    if (!isDecided(changes)) {
      record.abort()
      discard()
    } else {
      context.reportEffects(effects)
    }
    throw error
  }
}

const NOTHING_TO_RECORD: OverlayTarget = {
  refusal: () => null,
  keep: async () => {},
  committed: async () => {},
}

function wouldHave(effects: readonly Effect[]): string {
  if (effects.length === 0) return 'it had changed nothing in the workspace.'
  const names = effects.slice(0, 20).map(({ change, path }) => `${change} ${path}`)
  const more = effects.length > names.length ? ` and ${effects.length - names.length} more` : ''
  return `nothing was changed. It would have ${names.join(', ')}${more}.`
}

async function runWithoutWalls(
  parts: CommandParts,
  request: ForegroundRequest,
  profile: SandboxProfile,
  command: SandboxCommand,
  readsOnly: boolean,
): Promise<Ran> {
  if (parts.sandboxRequired) {
    throw new ToolError('forbidden', `No sandbox, so no command runs: ${parts.noSandboxReason}`, {
      hint: 'Install bubblewrap, or set [sandbox] required = false.',
    })
  }
  if (request.preview) throw new ToolError('failed', `A preview needs the sandbox: ${parts.noSandboxReason}`)
  const result = await parts.processes.run({ ...command, cwd: profile.cwd, env: profile.env })
  const notes = readsOnly
    ? [`It ran without a sandbox: ${parts.noSandboxReason}`]
    : [`It ran without a sandbox, and what it changed cannot be undone: ${parts.noSandboxReason}`]
  return { result: { ...result, limit: null }, wouldChange: [], notes }
}

async function profileFor(
  parts: CommandParts,
  { preview }: ForegroundRequest,
  context: ProcessContext,
  given: { env: Record<string, string>; temporary: CommandTemporary; proxySocket: string | undefined },
): Promise<SandboxProfile> {
  const command = commandOf(context)
  const readsOnly = command.plan !== null
  return {
    writable: readsOnly ? [] : context.permit.writeScope,
    replaced: [stateFolderOf(given.temporary), ...(readsOnly ? [] : cachesFor(parts, { preview }))],
    ...openFolders(parts, command),
    // What only reads is over before anybody saves anything, and starts faster without.
    ...(readsOnly ? {} : { home: parts.home }),
    hidden: [
      ...(await findHidden(context.permit)),
      parts.places.temporary,
      ...parts.places.own,
      ...parts.socketFolders,
    ],
    protected: [join(parts.workspace, '.kogu'), join(parts.workspace, 'kogu.toml')],
    network: given.proxySocket === undefined ? 'none' : { proxySocket: given.proxySocket },
    unixSockets: !readsOnly,
    // Lines that only read cannot write to the /tmp of the run.
    env: readsOnly ? { ...given.env, TMPDIR: '/var/tmp' } : given.env,
    ...given.temporary.walls,
    cwd: command.cwd,
    limits: parts.limits,
  }
}

type Keepers = ReturnType<typeof createKeepers>

function createKeepers({ places, outputBytes }: CommandParts, context: ProcessContext) {
  mkdirSync(places.output, { recursive: true, mode: 0o700 })
  const limit = outputBytes === undefined ? {} : { limit: outputBytes }
  const stdout = createOutputKeeper(limit)
  const stderr = createOutputKeeper(limit)
  // The only one with a file: it holds all that the other two do.
  const spillPath = join(places.output, `${context.callId}.output`)
  const output = createOutputKeeper({ ...limit, spillPath })
  // One each: a character that one stream has only begun must not swallow the beginning of the other's.
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() }
  const show = (decoder: typeof decoders.stdout, chunk: Uint8Array): void =>
    context.progress(decoder.decode(chunk, { stream: true }))
  return {
    onStdout(chunk: Uint8Array): undefined {
      stdout.write(chunk)
      output.write(chunk)
      show(decoders.stdout, chunk)
    },
    onStderr(chunk: Uint8Array): undefined {
      stderr.write(chunk)
      output.write(chunk)
      show(decoders.stderr, chunk)
    },
    read: () => ({ stdout: stdout.read(), stderr: stderr.read(), output: output.read() }),
    /** What it printed often says why its changes were refused. It is read like any other output, with its label. */
    withOutput(error: ToolError): ToolError {
      const { text } = output.read()
      if (text.trim() === '') return error
      try {
        if (!existsSync(spillPath)) writeFileSync(spillPath, text, { mode: 0o600 })
      } catch {
        // A full disk, for example, which the error itself is about.
        return error
      }
      return hinting(error, `What it printed is kept: command_output with the id ${context.callId}.`)
    },
    close() {
      for (const keeper of [stdout, stderr, output]) keeper.close()
    },
  }
}
