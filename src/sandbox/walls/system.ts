import { accessSync, constants, existsSync, readFileSync } from 'node:fs'

/** What this machine offers for walls, as far as it can be seen without trying. `detectSandbox` tries. */
export interface SandboxSystem {
  readonly bubblewrap: string
  /** Real root mounts directly and keeps its rights over files of other owners; all others use a user namespace. */
  readonly privileged: boolean
  /** Hard resource limits that we ourselves live under: they can be lowered, not raised. */
  readonly hardLimits: Readonly<Record<LimitName, number>>
}

type LimitName = 'data' | 'cpu' | 'fsize' | 'nofile' | 'nproc'

/** The system, or a sentence that says why there can be no sandbox. */
export function findSandboxSystem(): SandboxSystem | string {
  if (process.platform !== 'linux') return `Kogu has no sandbox for ${process.platform} yet.`
  // Only where the system keeps programs: a `bwrap` that a repository brings along is no wall.
  const bubblewrap = SYSTEM_FOLDERS.map(folder => `${folder}/bwrap`).find(isExecutable)
  if (bubblewrap === undefined) return 'The program bwrap is not installed (package bubblewrap).'
  if (!existsSync('/proc/self/status')) return 'The folder /proc is missing.'
  return {
    bubblewrap,
    privileged: process.getuid?.() === 0 && hasAdministration(),
    hardLimits: readHardLimits(),
  }
}

const SYSTEM_FOLDERS = ['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin']

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    // Not there, or not ours to run.
    return false
  }
}

/** CAP_SYS_ADMIN: root in a container usually lacks it and cannot mount. */
function hasAdministration(): boolean {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0'
  return (BigInt(`0x${effective}`) & (1n << 21n)) !== 0n
}

const LIMIT_LINES: Readonly<Record<LimitName, string>> = {
  data: 'Max data size',
  cpu: 'Max cpu time',
  fsize: 'Max file size',
  nofile: 'Max open files',
  nproc: 'Max processes',
}

function readHardLimits(): Record<LimitName, number> {
  const lines = readFileSync('/proc/self/limits', 'utf8').split('\n')
  const read = (name: LimitName): number => {
    const line = lines.find(candidate => candidate.startsWith(LIMIT_LINES[name])) ?? ''
    const hard = line.slice(LIMIT_LINES[name].length).trim().split(/\s+/)[1]
    return hard === undefined || hard === 'unlimited' ? Number.POSITIVE_INFINITY : Number(hard)
  }
  return {
    data: read('data'),
    cpu: read('cpu'),
    fsize: read('fsize'),
    nofile: read('nofile'),
    nproc: read('nproc'),
  }
}
