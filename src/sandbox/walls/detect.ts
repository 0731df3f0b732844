import { EMPTY_PROFILE } from '../../core/sandbox.ts'
import type { SandboxProcesses } from '../processes/processes.ts'
import { explainFailure, findUsableSystem } from './detect-usable.ts'
import { createSandbox } from './sandbox.ts'
import { seccompFilter } from './seccomp.ts'

export interface SandboxReport {
  /** Commands can be run behind walls. */
  available: boolean
  walls: readonly Wall[]
}

export interface Wall {
  name: 'files and network' | 'system calls' | 'number of processes' | 'memory'
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
      walls: [{ name: 'files and network', ok, detail }, systemCalls(), ...limits(system, processes)],
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

function systemCalls(): Wall {
  const ok = seccompFilter(process.arch, { unixSockets: false, unmappedMemory: false }) !== undefined
  const detail = ok ? 'A seccomp filter.' : `Kogu has no filter for ${process.arch} processors.`
  return { name: 'system calls', ok, detail }
}

function limits({ privileged }: { privileged: boolean }, processes: SandboxProcesses): Wall[] {
  return [
    { name: 'number of processes', ...processCount(privileged, processes.keeps('processes')) },
    {
      name: 'memory',
      ok: true,
      detail: processes.keeps('memory')
        ? 'A control group for each command.'
        : 'A watchdog that checks ten times a second: no control group for memory can be made here.',
    },
  ]
}

function processCount(privileged: boolean, isKept: boolean): Omit<Wall, 'name'> {
  if (isKept) return { ok: true, detail: 'A control group for each command.' }
  if (!privileged) return { ok: true, detail: 'A resource limit and a watchdog.' }
  return { ok: false, detail: 'Only a watchdog: running as root, and no control group can be created.' }
}
