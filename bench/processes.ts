import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { rgPath } from '@vscode/ripgrep'
import { installSystemParts, TEST_PARTS } from '../scripts/system-parts.ts'
import { DEFAULT_SANDBOX_LIMITS, type SandboxProfile } from '../src/core/sandbox.ts'
import { runOnOverlay } from '../src/sandbox/layer/overlay.ts'
import { createProcesses, type SandboxProcesses } from '../src/sandbox/processes/processes.ts'
import { createSandbox, type Sandbox } from '../src/sandbox/walls/sandbox.ts'
import { findSandboxSystem } from '../src/sandbox/walls/system.ts'
import { interleave } from './measure.ts'
import { measureOutputMemory } from './output-memory.ts'
import { type Row, toPlainRow, toRow } from './table.ts'

const ROUNDS = 30
const MEGABYTE = 1024 ** 2
const TRUE = { file: '/bin/true', args: [], timeoutMs: 10_000, signal: new AbortController().signal }
/** What anybody would write by hand, with the same namespaces as ours. */
const BARE_BUBBLEWRAP =
  '--ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --tmpfs /run --unshare-all --die-with-parent --new-session --cap-drop ALL /bin/true'

/** The cost of running `true`, at two sizes of the process that asks for it. */
export async function measureProcesses(): Promise<Row[]> {
  const system = findSandboxSystem()
  if (typeof system === 'string') throw new Error(system)
  const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'kogu-bench-')))
  mkdirSync(join(workspace, '.kogu'))
  const processes = createProcesses()
  const sandbox = createSandbox({ processes, system })
  const peer = await startSandboxRuntime(workspace)
  const ballast: Buffer[] = []
  const rows: Row[] = []
  try {
    // First, while there is no ballast that could be given back.
    rows.push(...(await measureOutputMemory(processes)))
    for (const megabytes of [80, 600]) {
      while (process.memoryUsage.rss() < megabytes * MEGABYTE) ballast.push(Buffer.alloc(16 * MEGABYTE, 1))
      rows.push(...(await measureAt(megabytes, { processes, sandbox, workspace, peer })))
    }
    if (typeof peer === 'string')
      rows.push(toPlainRow({ name: 'sandbox-runtime', kogu: '', peer: `not measured: ${peer}` }))
    return rows
  } finally {
    if (typeof peer !== 'string') await peer.close()
    sandbox.close()
    await processes.close()
    rmSync(workspace, { recursive: true, force: true })
  }
}

interface Subjects {
  processes: SandboxProcesses
  sandbox: Sandbox
  workspace: string
  peer: Peer | string
}

async function measureAt(
  megabytes: number,
  { processes, sandbox, workspace, peer }: Subjects,
): Promise<Row[]> {
  const numbers = { overlay: 0 }
  const onOverlay = async (): Promise<void> => {
    numbers.overlay += 1
    const folder = join(workspace, '.kogu', `${megabytes}-${numbers.overlay}`)
    const profile = toProfile(workspace, [workspace])
    const run = await runOnOverlay(sandbox, processes, { workspace, folder, profile, command: TRUE })
    run.discard()
  }
  const helper = (): Promise<unknown> => processes.run({ ...TRUE, cwd: '/', env: {} })
  const bare = (): Promise<void> => spawned('/bin/true', [])
  const times = await interleave(ROUNDS, {
    bare: { run: bare },
    helper: { run: helper },
    bubblewrap: { run: () => spawned('/usr/bin/bwrap', BARE_BUBBLEWRAP.split(' ')) },
    sandbox: { run: () => sandbox.run(toProfile(workspace, []), TRUE) },
    overlay: { run: onOverlay },
    runtime: { run: () => (typeof peer === 'string' ? undefined : peer.runTrue()) },
  })
  const blocked = { kogu: await blockedBy(helper), peer: await blockedBy(bare) }
  const at = `at ${megabytes} MB`
  const bubblewrap = { name: 'bwrap', samples: times.bubblewrap }
  return [
    toRow({
      name: `true, no sandbox, ${at}`,
      kogu: times.helper,
      peer: { name: 'spawn', samples: times.bare },
    }),
    toRow({ name: `true, sandboxed, ${at}`, kogu: times.sandbox, peer: bubblewrap, target: { ratio: 1.6 } }),
    toRow({
      name: `true, sandboxed, on a layer, ${at}`,
      kogu: times.overlay,
      peer: bubblewrap,
      target: { ratio: 3 },
    }),
    ...(typeof peer === 'string'
      ? []
      : [
          toRow({
            name: `true, sandboxed, ${at}`,
            kogu: times.sandbox,
            peer: { name: 'sandbox-runtime', samples: times.runtime },
            target: { ratio: 0.5 },
          }),
        ]),
    toRow({
      name: `event loop blocked, ${at}`,
      kogu: blocked.kogu,
      peer: { name: 'spawn', samples: blocked.peer },
      target: { ms: 2 },
    }),
  ]
}

function toProfile(workspace: string, writable: string[]): SandboxProfile {
  return {
    writable,
    readable: [workspace],
    hidden: ['/etc/shadow'],
    protected: [],
    network: 'none',
    unixSockets: false,
    env: { PATH: '/usr/bin:/bin' },
    cwd: workspace,
    limits: DEFAULT_SANDBOX_LIMITS,
  }
}

function spawned(file: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    child.on('error', reject)
    child.on('close', () => resolve())
  })
}

/** The longest time that nothing else could run, in milliseconds, once for each run. */
async function blockedBy(run: () => Promise<unknown>): Promise<Float64Array> {
  const samples = new Float64Array(ROUNDS)
  for (const round of samples.keys()) {
    const state = { last: performance.now(), longest: 0, running: true }
    const tick = (): void => {
      const now = performance.now()
      state.longest = Math.max(state.longest, now - state.last)
      state.last = now
      if (state.running) setImmediate(tick)
    }
    setImmediate(tick)
    await run()
    state.running = false
    samples[round] = state.longest
  }
  return samples
}

interface Peer {
  runTrue(): Promise<void>
  close(): Promise<void>
}

/** The same command wrapped by @anthropic-ai/sandbox-runtime, or why it cannot be run here. */
async function startSandboxRuntime(workspace: string): Promise<Peer | string> {
  try {
    // What the peer needs and npm does not bring along for it.
    installSystemParts([...TEST_PARTS, { program: 'socat', package: 'socat' }])
    process.env.PATH = `${process.env.PATH}:${dirname(rgPath)}`
    const { SandboxManager } = await import('@anthropic-ai/sandbox-runtime')
    await SandboxManager.initialize({
      network: { allowedDomains: [], deniedDomains: [] },
      filesystem: { denyRead: ['/etc/shadow'], allowWrite: [workspace], denyWrite: [] },
    })
    const runTrue = async (): Promise<void> => {
      const command = await SandboxManager.wrapWithSandbox('true')
      await spawned('/bin/bash', ['-c', command])
    }
    await runTrue()
    return { runTrue, close: () => SandboxManager.reset() }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
