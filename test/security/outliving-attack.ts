import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DEFAULT_SANDBOX_LIMITS, type SandboxProfile } from '../../src/core/sandbox.ts'
import { createBackground } from '../../src/sandbox/background/background.ts'
import { runOnOverlay } from '../../src/sandbox/layer/overlay.ts'
import { commitOverlay } from '../../src/sandbox/layer/overlay-commit.ts'
import { createProcesses } from '../../src/sandbox/processes/processes.ts'
import { createSandbox } from '../../src/sandbox/walls/sandbox.ts'
import { findSandboxSystem } from '../../src/sandbox/walls/system.ts'

/** How the program is run that tries to live on. */
export const OUTLIVING_WAYS = [
  'plainly',
  'on a layer that is committed',
  'as a preview',
  'with ports',
  'in the background',
  'in the background until it is stopped',
  'in the background until its supervisor is killed',
] as const
export type OutlivingWay = (typeof OUTLIVING_WAYS)[number]

export interface OutlivingReport {
  output: string
  exitCode: number | null
  /** Processes that were alive when the call had ended. */
  alive: number
  /** What the file holds that the program kept open. */
  content: string | null
}

export async function tryToOutlive(way: OutlivingWay, program: string): Promise<OutlivingReport> {
  const system = findSandboxSystem()
  if (typeof system === 'string') throw new Error(system)
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'kogu-outliving-')))
  const workspace = join(root, 'work')
  mkdirSync(join(workspace, '.kogu'), { recursive: true })
  mkdirSync(join(root, 'ports'))
  const processes = createProcesses()
  const sandbox = createSandbox({ processes, system })
  const mark = `outliving-${process.pid}-${OUTLIVING_WAYS.indexOf(way)}`
  const output: string[] = []
  const held = join(workspace, 'held')
  const command = {
    file: program,
    args: [held, mark],
    timeoutMs: 20_000,
    signal: new AbortController().signal,
    onStdout: (chunk: Uint8Array) => void output.push(Buffer.from(chunk).toString()),
    onStderr: (chunk: Uint8Array) => void output.push(Buffer.from(chunk).toString()),
    ...(way === 'with ports' ? { ports: { opened: { folder: join(root, 'ports'), ports: [3000] } } } : {}),
  }
  const profile = toProfile(workspace, program)
  try {
    if (way.startsWith('in the background')) {
      const end = await endInBackground(way, {
        folder: join(root, 'background'),
        held,
        mark,
        command,
        profile,
      })
      return { ...end, ...lookAround(mark, held) }
    }
    if (way === 'plainly' || way === 'with ports') {
      const { exitCode } = await sandbox.run(profile, command)
      return { output: output.join(''), exitCode, ...lookAround(mark, held) }
    }
    const folder = join(workspace, '.kogu/layer')
    const layer = await runOnOverlay(sandbox, processes, { workspace, folder, profile, command })
    if (way === 'as a preview') layer.discard()
    else await commitOverlay(layer.changes, ACCEPT)
    return { output: output.join(''), exitCode: layer.result.exitCode, ...lookAround(mark, held) }
  } finally {
    for (const pid of marked(mark)) process.kill(pid, 'SIGKILL')
    sandbox.close()
    await processes.close()
    rmSync(root, { recursive: true, force: true })
  }
}

interface InBackground {
  folder: string
  held: string
  mark: string
  command: { file: string; args: string[] }
  profile: SandboxProfile
}

async function endInBackground(
  way: OutlivingWay,
  { folder, held, mark, command, profile }: InBackground,
): Promise<Pick<OutlivingReport, 'output' | 'exitCode'>> {
  const background = createBackground(folder)
  const goesOn = way === 'in the background' ? '' : '; sleep 60'
  await background.start({
    ...{ id: 'one', ports: [], title: mark, lifetimeMs: 20_000, profile },
    ...{ file: '/bin/sh', args: ['-c', `"$0" "$@"${goesOn}`, command.file, ...command.args] },
  })
  const supervisor = Number(readFileSync(join(folder, 'supervisor.lock'), 'utf8').split(' ')[0])
  try {
    await until(async () => readOrNull(held) !== null)
    if (way.endsWith('stopped')) await background.stop('one')
    if (way.endsWith('killed')) {
      process.kill(supervisor, 'SIGKILL')
      // Nobody is left who waits for the end: the kernel ends it when it comes to it.
      await until(async () => marked(mark).length === 0)
    } else await until(async () => !(await background.state('one')).running)
  } finally {
    if (readOrNull(`/proc/${supervisor}/stat`) !== null) process.kill(supervisor, 'SIGKILL')
  }
  const [log = ''] = background.outputFiles('one')
  return { output: readOrNull(log) ?? '', exitCode: 0 }
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 500; tries += 1) {
    if (await isTrue()) return
    await sleep(20)
  }
  throw new Error('it did not come to that')
}

const ACCEPT = { refusal: () => null, keep: async () => {}, committed: async () => {} }

/** '' where there is a compiler; else why the program cannot be made, as the end of a test's name. */
export function makeOutlivingProgram(folder: string): string {
  const program = join(folder, 'outliving')
  const source = join(import.meta.dirname, 'outliving-program.c')
  chmodSync(folder, 0o755)
  execFileSync('cc', ['-o', program, source])
  return program
}

function toProfile(workspace: string, program: string): SandboxProfile {
  return {
    writable: [workspace],
    readable: [program],
    hidden: [],
    protected: [],
    network: 'none',
    unixSockets: false,
    env: { PATH: '/usr/bin:/bin' },
    cwd: workspace,
    limits: DEFAULT_SANDBOX_LIMITS,
  }
}

function lookAround(mark: string, held: string): Pick<OutlivingReport, 'alive' | 'content'> {
  return { alive: marked(mark).length, content: readOrNull(held) }
}

/** Processes with the mark among their arguments; one that has ended has none any more. */
function marked(mark: string): number[] {
  const pids = readdirSync('/proc').filter(name => /^\d+$/.test(name))
  return pids.filter(pid => readOrNull(`/proc/${pid}/cmdline`)?.split('\0')[2] === mark).map(Number)
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

if (import.meta.main) {
  const [, , way, program = ''] = process.argv
  process.stdout.write(JSON.stringify(await tryToOutlive(OUTLIVING_WAYS[Number(way)] ?? 'plainly', program)))
}
