import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { CommandPermit } from '../../core/command.ts'
import { ToolError, toToolError } from '../../core/errors.ts'
import { Pending } from '../../core/obtain-approval.ts'
import type { TrustedFile } from '../../core/processes.ts'
import type { SandboxDenial, SandboxProfile } from '../../core/sandbox.ts'
import type { ProcessContext } from '../../core/tool.ts'
import { type FilteringProxy, startProxy } from '../../sandbox/network/proxy.ts'
import { createOutputKeeper, type KeptOutput } from '../../sandbox/processes/output.ts'
import { explainDenial, fromRefusedHost } from '../../sandbox/walls/denial.ts'
import type { SandboxCommand, SandboxResult } from '../../sandbox/walls/sandbox.ts'
import { portsInReach } from './background-ports.ts'
import { cachesFor } from './caches.ts'
import { environmentFor } from './environment.ts'
import { findHidden } from './hidden-paths.ts'
import { keptOutputName } from './kept-output.ts'
import { openFolders } from './open-folders.ts'
import type { CommandParts } from './parts.ts'
import {
  hinting,
  type LayeredRequest,
  type NotKept,
  type Ran,
  resumeLayered,
  runLayered,
  wasCut,
} from './run-layered.ts'
import { readState, rememberState } from './run-state.ts'
import { type Start, startOf } from './start-of.ts'
import { findInStores } from './store-secrets.ts'
import { type CommandTemporary, openTemporary, stateFolderOf } from './temporary.ts'

export interface ForegroundRequest {
  readonly line: string
  /** The words of the line: its program is started with them, without a shell. */
  readonly words?: readonly string[]
  /** One of the words, which stands for a private copy with this content. */
  readonly trusted?: TrustedFile
  readonly timeoutMs: number
  /** How many bytes of each stream are shown; defaults to the configured number. */
  readonly outputBytes?: number
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
  /** What it did on its layer, when that was not kept. */
  readonly notKept: NotKept | null
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
  if (context.heldLayer !== undefined) return resumeForeground(parts, request, context, context.heldLayer)
  const { plan, contained = false } = commandOf(context)
  const { preview } = request
  const use = { runId: context.run.id, preview, readsOnly: plan !== null, contained }
  const temporary = await openTemporary(parts, use)
  try {
    return await runIn(temporary, parts, request, context)
  } finally {
    temporary.end(false)
  }
}

/** What is kept of a command that ran, until its changes are. */
interface Remembered {
  readonly kept: Pick<ForegroundResult, 'stdout' | 'stderr' | 'output'>
  readonly state: string | null
}

async function resumeForeground(
  parts: CommandParts,
  request: ForegroundRequest,
  context: ProcessContext,
  layer: string,
): Promise<ForegroundResult> {
  const done = await resumeLayered(parts, request, context, layer)
  // Written by `notes` below.
  const { kept, state } = done.ran as Remembered
  if (done.notKept === null && request.keepsState && state !== null)
    rememberState(context.run, context.workspace, state, commandOf(context).exports)
  return { ...done, ...kept, hosts: [], denial: null }
}

async function runIn(
  temporary: CommandTemporary,
  parts: CommandParts,
  request: ForegroundRequest,
  context: ProcessContext,
): Promise<ForegroundResult> {
  const command = commandOf(context)
  const keepers = createKeepers({ ...parts, ...request }, context)
  const proxy = await proxyFor(parts, request, command)
  try {
    const env = environmentFor(parts, command, {
      id: context.callId,
      run: context.run,
      additions: request.additions,
    })
    const given = { env, temporary, proxySocket: proxy?.socketPath }
    const profile = await profileFor(parts, request, context, given)
    const start = startOf(parts, request, command, request.keepsState && parts.sandbox !== null)
    const sandboxCommand: SandboxCommand = {
      ...withTrusted(parts, start, request.trusted, temporary),
      ...toOptions(request, context, keepers),
      ports: { reached: await portsInReach(parts, command, request.preview) },
    }
    const notes = (): Remembered => ({ kept: keepers.read(), state: readState(temporary.state) ?? null })
    const ran = await runIsolated(parts, { ...request, notes }, context, profile, sandboxCommand).catch(
      error => {
        if (error instanceof Pending) throw error
        throw keepers.withOutput(toToolError(error))
      },
    )
    if (ran.notKept === null && request.keepsState)
      rememberState(context.run, context.workspace, readState(temporary.state), command.exports)
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
      notes: [
        ...ran.notes,
        ...temporary.end(wasCut(ran.result)),
        ...hosts,
        ...hiddenObjects(profile, exitCode),
      ],
      hosts: [...(proxy?.contacted ?? [])],
      denial: parts.sandbox === null ? null : withParameter(denial, command),
    }
  } finally {
    await proxy?.close()
    keepers.close()
  }
}

/** Git then says that its objects are bad, and nobody would know why. */
function hiddenObjects({ hidden }: SandboxProfile, exitCode: number | null): string[] {
  const objects = exitCode === 0 ? [] : hidden.filter(path => path.endsWith('/.git/objects'))
  return objects.map(
    path =>
      `git had no objects (${path}): they hold files that may not be read unasked. git_ops still shows what may be read.`,
  )
}

/** Puts what was trusted into the folder of this call, which holds nothing else, and starts it from there. */
function withTrusted(
  { sandbox }: CommandParts,
  start: Start,
  trusted: TrustedFile | undefined,
  temporary: CommandTemporary,
): Start {
  if (trusted === undefined) return start
  const name = basename(trusted.path)
  writeFileSync(join(temporary.state, name), trusted.content, { mode: 0o700, flag: 'wx' })
  const copy = join(sandbox === null ? temporary.state : stateFolderOf(temporary).path, name)
  const moved = (word: string): string => (word === trusted.path ? copy : word)
  return { file: moved(start.file), args: start.args.map(moved) }
}

/** Nobody was asked, so there was no network to be had; whoever needs one says so. */
function withParameter(denial: SandboxDenial | null, { contained }: CommandPermit): SandboxDenial | null {
  if (denial?.kind !== 'network' || contained !== true) return denial
  const host = denial.target ?? 'HOST'
  const message = `It ran without network. If it needs one, run it again with "network": ["${host}"], which is asked about first.`
  return { ...denial, message }
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

async function runIsolated(
  parts: CommandParts,
  request: ForegroundRequest & LayeredRequest,
  context: ProcessContext,
  profile: SandboxProfile,
  command: SandboxCommand,
): Promise<Ran> {
  const readsOnly = commandOf(context).plan !== null
  if (parts.sandbox === null) return runWithoutWalls(parts, request, profile, command, readsOnly)
  if (readsOnly) {
    return { result: await parts.sandbox.run(profile, command), notKept: null, notes: [] }
  }
  // A contained line is one because there can be a layer.
  const problem = commandOf(context).contained === true ? null : parts.overlayProblem()
  if (problem === null) return runLayered(parts, request, context, profile, command)
  // Without a layer nothing could be checked before it is there: hooks, start-up files, what rules forbid to write.
  throw new ToolError(
    'failed',
    `Commands that may write cannot run here, because their changes cannot be checked: ${problem}`,
    {
      hint: 'Use the file tools for changes; read-only lines still run. kogu doctor says more.',
    },
  )
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
  return { result: { ...result, limit: null }, notKept: null, notes }
}

async function profileFor(
  parts: CommandParts,
  { preview, words }: ForegroundRequest,
  context: ProcessContext,
  given: { env: Record<string, string>; temporary: CommandTemporary; proxySocket: string | undefined },
): Promise<SandboxProfile> {
  const command = commandOf(context)
  const readsOnly = command.plan !== null
  const isApart = preview || command.contained === true
  const hidden = [
    ...(await findHidden(context.permit)),
    ...(await findInStores(parts, command)),
    parts.places.temporary,
    ...parts.places.own,
    ...parts.socketFolders,
  ]
  return {
    writable: readsOnly ? [] : context.permit.writeScope,
    replaced: [stateFolderOf(given.temporary), ...(readsOnly ? [] : cachesFor(parts, { preview: isApart }))],
    // What only reads is over before anybody saves anything, and starts faster without.
    ...(readsOnly || command.contained === true ? {} : { home: parts.home }),
    hidden,
    ...openFolders(parts, command, hidden, words?.[0]),
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

function createKeepers(
  { places, outputBytes }: Pick<CommandParts, 'places' | 'outputBytes'>,
  context: ProcessContext,
) {
  mkdirSync(places.output, { recursive: true, mode: 0o700 })
  const limit = outputBytes === undefined ? {} : { limit: outputBytes }
  const stdout = createOutputKeeper(limit)
  const stderr = createOutputKeeper(limit)
  // The only one with a file: it holds all that the other two do.
  const spillPath = join(places.output, keptOutputName(context.callId, context))
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
