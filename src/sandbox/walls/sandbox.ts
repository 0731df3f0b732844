import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ToolError } from '../../core/errors.ts'
import type { SandboxProfile } from '../../core/sandbox.ts'
import { type Layered, NO_HOME_LAYER, withLayers } from '../layer/overlay-mount.ts'
import { emptyFolder } from '../layer/remove-tree.ts'
import {
  type Passage,
  passagesOf,
  proxyEnvironment,
  RELAY_DESCRIPTORS,
  type SandboxPorts,
  toInnerArguments,
  withRelay,
} from '../network/network.ts'
import type { RunRequest, RunResult, SandboxProcesses } from '../processes/processes.ts'
import { fileCapabilities, toBubblewrapArguments } from './bubblewrap.ts'
import type { GroupLimits } from './cgroup.ts'
import { endNamespace } from './end-namespace.ts'
import { type HomeLayer, makeHomeLayer, makeMark } from './home-layer.ts'
import { findHostSockets } from './host-sockets.ts'
import { limitScript, withLimits } from './limits.ts'
import { makeMountPoints } from './mount-points.ts'
import { hiddenInLayer, type Mount, type Overlay, toMounts } from './mounts.ts'
import { createPrivateFolder } from './private-folder.ts'
import { type SeccompOptions, seccompFilter } from './seccomp.ts'
import type { SandboxSystem } from './system.ts'

/** Runs programs in the sandbox of a profile. */
export interface Sandbox {
  /** Whether the sandbox is built as root instead of in a user namespace. */
  readonly isPrivileged: boolean
  /** With `overlay`, the workspace that the program sees and changes is that layer. */
  run(profile: SandboxProfile, command: SandboxCommand, overlay?: Overlay): Promise<SandboxResult>
  close(): void
}

export interface SandboxCommand extends Omit<RunRequest, 'cwd' | 'env' | 'descriptors' | 'limits'> {
  /** Ports that lead across the wall of its network. */
  ports?: SandboxPorts
}

export type SandboxResult = RunResult

export interface SandboxOptions {
  processes: SandboxProcesses
  system: SandboxSystem
}

export function createSandbox({ processes, system }: SandboxOptions): Sandbox {
  const state: State = { folder: undefined, number: 0, newProc: true, mark: undefined }
  return {
    isPrivileged: system.privileged,
    async run(profile, command, overlay) {
      const job = { profile, command, overlay }
      for (let number = 1; ; number += 1) {
        const { result, problem } = await attempt(processes, system, state, job)
        if (problem === undefined) return result
        // Nothing ran yet, so it may be tried again.
        if (number < MOST_ATTEMPTS && isWorthAnother(state, problem)) {
          if (overlay !== undefined) renew(overlay)
          continue
        }
        throw new ToolError('failed', `The sandbox could not be set up, so nothing ran: ${problem}`, {
          hint: 'Run `kogu doctor` to see which sandbox features this machine has.',
        })
      }
    },
    close() {
      // A command that was killed a moment ago may still be setting itself up in there.
      if (state.folder !== undefined) rmSync(state.folder, { recursive: true, force: true, maxRetries: 5 })
      state.folder = undefined
    },
  }
}

/** The kernel mounts a layer only once; what is on it now are mount points at most. */
function renew({ folder }: Overlay): void {
  for (const path of [join(folder, 'upper'), join(folder, 'work')]) {
    const { mode } = lstatSync(path)
    emptyFolder(path)
    chmodSync(path, mode)
  }
}

const MOST_ATTEMPTS = 4
const NO_HOME_WORDS = 'no layer over the home folder can be mounted'

function isWorthAnother(state: State, problem: string): boolean {
  if (state.newProc && problem.includes('mount proc')) {
    // Containers that hide parts of /proc forbid a new one.
    state.newProc = false
    return true
  }
  if (problem === NO_HOME_WORDS) {
    state.mark = Promise.resolve(null)
    return true
  }
  // What was to be covered is gone, as sockets of the host may be at any moment.
  return /Can't (create file|mkdir|find source)/.test(problem)
}

interface State {
  /** Where the descriptors' contents lie; made when first needed. */
  folder: string | undefined
  number: number
  newProc: boolean
  /** For layers over the home: the mark of what is not there; null where there can be no such layers. */
  mark: Promise<string | null> | undefined
}

interface Job {
  profile: SandboxProfile
  command: SandboxCommand
  overlay: Overlay | undefined
}

interface Marked {
  /** Null when the home cannot have a layer. */
  mark: string | null
}

/** Made when it is first needed. */
function markOf(processes: SandboxProcesses, state: State): Promise<string | null> {
  state.folder ??= makeFolder()
  state.mark ??= makeMark(processes, join(state.folder, 'mark'))
  return state.mark
}

interface Attempt {
  result: SandboxResult
  /** Bubblewrap's words when it could not start the program. */
  problem: string | undefined
}

async function attempt(
  processes: SandboxProcesses,
  system: SandboxSystem,
  state: State,
  job: Job,
): Promise<Attempt> {
  const { command } = job
  const kernel = { unmappedMemory: processes.keeps('memory'), countsThreads: processes.keeps('processes') }
  const mark = job.profile.home === undefined ? null : await markOf(processes, state)
  const prepared = prepare(system, state, { ...job, ...kernel, mark })
  const { file, args, namespaces, descriptors, limits } = prepared
  const errors: Uint8Array[] = []
  try {
    const result = await processes.run({
      ...command,
      file,
      args,
      cwd: '/',
      env: {},
      descriptors,
      ...(namespaces === undefined ? {} : { namespaces }),
      limits,
      onStderr(chunk) {
        if (errors.length < 20) errors.push(chunk)
        return command.onStderr?.(chunk)
      },
    })
    return {
      result,
      problem: setUpProblem(result, prepared.statusFile, Buffer.concat(errors)),
    }
  } finally {
    // Also when it was stopped or can no longer be followed: what it was given is removed next.
    await endNamespace(readFileSync(prepared.statusFile, 'utf8'))
    for (const path of prepared.ownFiles) rmSync(path, { force: true, recursive: true })
  }
}

function prepareMounts(
  { folder = '', number }: State,
  { profile, mark, overlay }: Job & Marked,
  passages: readonly Passage[],
): { mounts: Mount[]; home: HomeLayer | undefined } {
  const homeFolder = join(folder, `home-${number}`)
  const mounts = toMounts(profile, {
    overlay,
    passages,
    layeredHome: mark === null ? undefined : join(homeFolder, 'merged'),
    sockets: profile.unixSockets ? findHostSockets() : [],
  })
  makeMountPoints(mounts)
  const layered = mounts.find(({ kind }) => kind === 'layered')
  if (layered === undefined || mark === null) return { mounts, home: undefined }
  const home = { folder: homeFolder, home: layered.path, hidden: hiddenInLayer(profile, mounts) }
  makeHomeLayer(home, mounts, mark)
  return { mounts, home }
}

interface Prepared extends Layered {
  descriptors: string[]
  limits: GroupLimits
  statusFile: string
  /** To be removed when it is over. */
  ownFiles: string[]
}

/** What follows from the limits that the kernel keeps here. */
interface Kernel extends Pick<SeccompOptions, 'unmappedMemory'> {
  countsThreads: boolean
}

function prepare(system: SandboxSystem, state: State, job: Job & Kernel & Marked): Prepared {
  const { profile, command, overlay, unmappedMemory, countsThreads } = job
  state.folder ??= makeFolder()
  state.number += 1
  const argumentsFile = join(state.folder, `arguments-${state.number}`)
  const statusFile = join(state.folder, `status-${state.number}`)
  const filter = seccompFile(state.folder, { unixSockets: profile.unixSockets, unmappedMemory })
  const passages = passagesOf(profile, command.ports ?? {})
  const { mounts, home } = prepareMounts(state, job, passages)
  const bubblewrap = toBubblewrapArguments(profile, system, mounts, {
    blankFile: join(state.folder, 'blank'),
    statusDescriptor: 4,
    seccompDescriptor: filter === undefined ? undefined : FILTER_DESCRIPTOR,
    newProc: state.newProc,
    overlay,
    passages,
  })
  writeArguments(argumentsFile, bubblewrap)
  writeFileSync(statusFile, '', { mode: 0o600 })
  // The shell that mounts a layer sets the limits too, unless that would limit the relay.
  const isEarly = passages.length === 0 && (overlay !== undefined || home !== undefined)
  const program: [string, ...string[]] = [command.file, ...command.args]
  const limited = isEarly ? program : withLimits(program, profile.limits, system)
  const relayed =
    passages.length === 0 ? undefined : prepareRelay(system, state, profile, { filter, passages })
  const inside = relayed === undefined ? limited : withRelay(limited, system, passages)
  const walled: [string, ...string[]] = [system.bubblewrap, '--args', '3', '--', ...inside]
  const early = isEarly ? limitScript(profile.limits, system) : undefined
  const started = withLayers(walled, { overlay, home }, system, early)
  const filters = filter === undefined ? [] : [filter]
  return {
    ...started,
    descriptors: [argumentsFile, statusFile, ...filters, ...(relayed?.descriptors ?? [])],
    limits: withOwnShare(profile.limits, { isRelayed: relayed !== undefined, countsThreads }),
    statusFile,
    ownFiles: [
      argumentsFile,
      statusFile,
      ...(relayed?.ownFiles ?? []),
      ...(home === undefined ? [] : [home.folder]),
    ],
  }
}

/** What bubblewrap and the relay take is not the command's to answer for. A control group counts the relay's threads. */
function withOwnShare(limits: GroupLimits, how: { isRelayed: boolean; countsThreads: boolean }): GroupLimits {
  const own = how.isRelayed
    ? { bytes: 128 * 1024 ** 2, processes: 5 }
    : { bytes: 4 * 1024 ** 2, processes: 2 }
  const threads = how.isRelayed && how.countsThreads ? 20 : 0
  return {
    memoryBytes: limits.memoryBytes + own.bytes,
    processes: limits.processes + own.processes + threads,
  }
}

/** In a file, because arguments can be read by everyone on the machine and the environment may hold secrets. */
function writeArguments(path: string, words: readonly string[]): void {
  writeFileSync(path, words.map(word => `${word}\0`).join(''), { mode: 0o600 })
}

/** What the second bubblewrap and the relay need, in the order of RELAY_DESCRIPTORS. */
function prepareRelay(
  system: SandboxSystem,
  { folder = '', number, newProc }: State,
  profile: SandboxProfile,
  { filter, passages }: { filter: string | undefined; passages: readonly Passage[] },
): Pick<Prepared, 'descriptors' | 'ownFiles'> {
  const relayFilter = seccompFile(folder, { unixSockets: true, unmappedMemory: false })
  if (filter === undefined || relayFilter === undefined) {
    throw new ToolError(
      'failed',
      `Commands cannot have a network here: Kogu has no filter for ${process.arch}.`,
    )
  }
  const path = join(folder, `inner-arguments-${number}`)
  const inner = toInnerArguments(system, {
    capabilities: system.privileged ? fileCapabilities(profile) : [],
    newProc,
    env: profile.network === 'none' ? profile.env : { ...profile.env, ...proxyEnvironment() },
    cwd: profile.cwd,
    passages,
  })
  writeArguments(path, inner)
  return { descriptors: [path, relayFilter], ownFiles: [path] }
}

const FILTER_DESCRIPTOR = RELAY_DESCRIPTORS.commandFilter

function makeFolder(): string {
  const folder = createPrivateFolder('sandbox')
  writeFileSync(join(folder, 'blank'), '', { mode: 0o000 })
  mkdirSync(join(folder, 'filters'))
  return folder
}

function seccompFile(folder: string, options: SeccompOptions): string | undefined {
  const path = join(folder, 'filters', `${options.unixSockets}-${options.unmappedMemory}`)
  if (existsSync(path)) return path
  const filter = seccompFilter(process.arch, options)
  if (filter === undefined) return undefined
  writeFileSync(path, filter)
  return path
}

/**
 * Bubblewrap writes how the program ended to a descriptor that the program does not have. No such line: it never
 * started, and nothing but bubblewrap can have written the errors.
 */
function setUpProblem(
  result: RunResult,
  statusFile: string,
  firstErrors: Uint8Array | undefined,
): string | undefined {
  // Above 128 a signal ended bubblewrap itself.
  if (result.exitCode === null || result.exitCode === 0 || result.exitCode > 128) return undefined
  if (readFileSync(statusFile, 'utf8').includes('"exit-code"')) return undefined
  if (result.exitCode === NO_HOME_LAYER) return NO_HOME_WORDS
  return (
    Buffer.from(firstErrors ?? [])
      .toString()
      .trim() || 'bubblewrap gave no reason'
  )
}
