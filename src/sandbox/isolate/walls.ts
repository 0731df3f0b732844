import { existsSync, openSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { createPrivateFolder } from '../walls/private-folder.ts'
import { seccompFilter } from '../walls/seccomp.ts'
import type { SandboxSystem } from '../walls/system.ts'
import { mappedLibraries } from './addon.ts'

export interface WalledCommand {
  readonly file: string
  readonly args: readonly string[]
}

export interface IsolateFiles {
  readonly node: string
  /** The program and the modules that it loads. */
  readonly program: string
  readonly addon: string
}

/** Descriptor of the seccomp filter in bubblewrap. */
export const FILTER_DESCRIPTOR = 4

/**
 * Bubblewrap around an isolate's process: no network, no processes of others, no environment, and a root that holds
 * nothing but Node, its libraries and our own program, all read-only.
 */
export function toWalledCommand(
  command: readonly [string, ...string[]],
  files: IsolateFiles,
  system: SandboxSystem,
  hasFilter: boolean,
): WalledCommand {
  const args = [
    ...(system.privileged
      ? ['--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts', '--unshare-cgroup-try']
      : ['--unshare-all']),
    ...['--die-with-parent', '--new-session', '--cap-drop', 'ALL', '--clearenv'],
    ...visibleFiles(files).flatMap(({ path, source }) => ['--ro-bind', source, path]),
    ...['--remount-ro', '/', '--chdir', '/'],
    ...(hasFilter ? ['--seccomp', String(FILTER_DESCRIPTOR)] : []),
    '--',
    ...command,
  ]
  return { file: system.bubblewrap, args }
}

interface Visible {
  path: string
  source: string
}

function visibleFiles({ node, program, addon }: IsolateFiles): Visible[] {
  const own = [node, dirname(program), addon, ...nearestManifest(program)]
  return [...own.map(path => ({ path, source: path })), ...mappedLibraries().flatMap(namesOf), ...loaders()]
}

/** Says that our program is made of modules. */
function nearestManifest(program: string): string[] {
  for (let folder = dirname(program); folder !== '/'; folder = dirname(folder)) {
    const path = join(folder, 'package.json')
    if (existsSync(path)) return [path]
  }
  return []
}

/** A library is asked for by the name that promises its interface (libm.so.6), which is a link to the file. */
function namesOf(source: string): Visible[] {
  const folder = dirname(source)
  const stem = basename(source).replace(/\.so.*$/, '.so')
  return readdirSync(folder)
    .filter(name => name.startsWith(stem) && realPath(join(folder, name)) === source)
    .map(name => ({ path: join(folder, name), source }))
}

const LOADERS = [
  ...['/lib64/ld-linux-x86-64.so.2', '/lib/ld-linux-aarch64.so.1'],
  ...['/lib/ld-musl-x86_64.so.1', '/lib/ld-musl-aarch64.so.1'],
]

function loaders(): Visible[] {
  return LOADERS.filter(path => existsSync(path)).map(path => ({ path, source: realpathSync(path) }))
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    // A link to nothing.
    return undefined
  }
}

/** Opens the filter of system calls for reading; undefined where we have none for this processor. */
export function openFilter(): number | undefined {
  const filter = seccompFilter(process.arch, { unixSockets: false, unmappedMemory: false, onlyThreads: true })
  if (filter === undefined) return undefined
  const folder = createPrivateFolder('sandbox')
  try {
    const path = join(folder, 'filter')
    writeFileSync(path, filter, { mode: 0o600 })
    return openSync(path, 'r')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
