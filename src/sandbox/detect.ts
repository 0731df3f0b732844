import { DEFAULT_SANDBOX_LIMITS, type SandboxProfile } from '../core/sandbox.ts'
import { createCgroup, keepsLimit, removeCgroup } from './cgroup.ts'
import { explainFailure, findUsableSystem } from './detect-usable.ts'
import type { SandboxProcesses } from './processes.ts'
import { createSandbox } from './sandbox.ts'
import { seccompFilter } from './seccomp.ts'

export interface SandboxReport {
  /** Commands can be run behind walls. */
  available: boolean
  walls: readonly Wall[]
}

export interface Wall {
  name: 'files and network' | 'system calls' | 'number of processes'
  ok: boolean
  /** One sentence: how it is kept up, or why it is missing and what to do. */
  detail: string
}

/** Tries which walls this machine has, for `kogu doctor`. */
export async function detectSandbox(processes: SandboxProcesses): Promise<SandboxReport> {
  const system = findUsableSystem()
  if (typeof system === 'string') {
    return { available: false, walls: [{ name: 'files and network', ok: false, detail: system }] }
  }
  const sandbox = createSandbox({ processes, system })
  try {
    const request = { timeoutMs: 10_000, signal: new AbortController().signal }
    const result = await sandbox.run(EMPTY_PROFILE, { ...request, file: '/bin/sh', args: ['-c', 'exit 42'] })
    const ok = result.exitCode === 42
    const how = system.privileged ? 'as root, without a user namespace' : 'in a user namespace'
    const detail = ok
      ? `bubblewrap, ${how}.`
      : `A trial command ended with ${result.exitCode ?? result.signal}.`
    return {
      available: ok,
      walls: [{ name: 'files and network', ok, detail }, systemCalls(), processCount(system)],
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return {
      available: false,
      walls: [{ name: 'files and network', ok: false, detail: explainFailure(reason) }],
    }
  } finally {
    sandbox.close()
  }
}

const EMPTY_PROFILE: SandboxProfile = {
  writable: [],
  readable: [],
  hidden: [],
  protected: [],
  network: 'none',
  unixSockets: false,
  env: {},
  cwd: '/',
  limits: DEFAULT_SANDBOX_LIMITS,
}

function systemCalls(): Wall {
  const ok = seccompFilter(process.arch, { unixSockets: false }) !== undefined
  const detail = ok ? 'A seccomp filter.' : `Kogu has no filter for ${process.arch} processors.`
  return { name: 'system calls', ok, detail }
}

function processCount({ privileged }: { privileged: boolean }): Wall {
  const name = 'number of processes'
  const cgroup = createCgroup()
  if (cgroup !== undefined) removeCgroup(cgroup)
  if (keepsLimit(cgroup, 'processes')) return { name, ok: true, detail: 'A control group and a watchdog.' }
  if (!privileged) return { name, ok: true, detail: 'A resource limit and a watchdog.' }
  return { name, ok: false, detail: 'Only a watchdog: as root, and no control group can be made here.' }
}
