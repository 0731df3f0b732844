import { lstatSync, realpathSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { ToolError } from '../core/errors.ts'
import type { SandboxProfile } from '../core/sandbox.ts'
import { type Passage, relayPrograms, toEnvironmentArguments } from './network.ts'
import type { SandboxSystem } from './system.ts'

export interface BubblewrapOptions {
  /** An unreadable empty file, shown in place of hidden files. */
  blankFile: string
  /** Where bubblewrap says how the program ended. */
  statusDescriptor: number
  /** Where it reads the seccomp filter. */
  seccompDescriptor: number | undefined
  /** False where the container forbids a new /proc: it is then empty, because the host's would show its processes. */
  newProc: boolean
  /** The layer that is shown in place of the workspace. */
  overlay: Overlay | undefined
  /** Kept by the relay; with none, there is no relay and no second bubblewrap. */
  passages: readonly Passage[]
}

/** A layer over the workspace, mounted at `merged` in `folder`. */
export interface Overlay {
  workspace: string
  folder: string
}

/**
 * The walls of a profile as arguments for bubblewrap. The root is read-only, then come the places private to the
 * sandbox, then the profile's own paths, parents before children.
 */
export function toBubblewrapArguments(
  profile: SandboxProfile,
  system: SandboxSystem,
  options: BubblewrapOptions,
): string[] {
  const relayed = options.passages.length > 0
  return [
    ...(system.privileged ? PRIVILEGED : ['--unshare-all', ...ownIdentity(options)]),
    '--die-with-parent',
    '--new-session',
    ...['--cap-drop', 'ALL'],
    ...(system.privileged ? fileCapabilities(profile) : []),
    // For the second bubblewrap, which drops them; nothing else that has them lives on (network.ts).
    ...(system.privileged && relayed ? ['--cap-add', 'CAP_SYS_ADMIN', '--cap-add', 'CAP_SETPCAP'] : []),
    ...['--json-status-fd', String(options.statusDescriptor)],
    // With a relay, the filter and the environment come with the second bubblewrap.
    ...(options.seccompDescriptor === undefined || relayed
      ? []
      : ['--seccomp', String(options.seccompDescriptor)]),
    ...['--ro-bind', '/', '/'],
    ...['--dev', '/dev', '--size', SHARED_MEMORY_BYTES, '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    // Read-only, because root could change the kernel's settings in /proc/sys: bubblewrap 0.8 leaves it open.
    ...[options.newProc ? '--proc' : '--tmpfs', '/proc', ...(relayed ? [] : ['--remount-ro', '/proc'])],
    ...toMounts(profile, options).flatMap(mount => toArguments(mount, options.blankFile)),
    ...['--remount-ro', '/run'],
    ...['--clearenv', ...(relayed ? [] : Object.entries(profile.env).flatMap(toEnvironmentArguments))],
    ...['--chdir', profile.cwd],
  ]
}

/** Whoever mounts a layer in a user namespace is root there; the command is not to see that. */
function ownIdentity({ overlay }: BubblewrapOptions): string[] {
  const [user, group] = [process.getuid?.(), process.getgid?.()]
  if (overlay === undefined || user === undefined || group === undefined) return []
  return ['--uid', String(user), '--gid', String(group)]
}

/** As `--unshare-all`, without the user namespace: in one, root has no rights over files of other owners. */
const PRIVILEGED = [
  '--unshare-ipc',
  '--unshare-pid',
  '--unshare-net',
  '--unshare-uts',
  '--unshare-cgroup-try',
]
const SHARED_MEMORY_BYTES = String(256 * 1024 ** 2)
const TEMPORARY_BYTES = String(1024 ** 3)

/**
 * Root in a folder that belongs to somebody else (a container with a mounted workspace) must be able to work there.
 * Mounts, not modes, are the walls, and none of these rights can change a mount.
 */
export function fileCapabilities(profile: SandboxProfile): string[] {
  const names =
    profile.writable.length === 0 ? ['CAP_DAC_OVERRIDE'] : ['CAP_DAC_OVERRIDE', 'CAP_CHOWN', 'CAP_FOWNER']
  return names.flatMap(name => ['--cap-add', name])
}

/** Later ones win at the same path. */
const KINDS = ['private', 'temporary', 'pinned', 'readable', 'writable', 'protected', 'hidden'] as const

interface Mount {
  kind: (typeof KINDS)[number]
  path: string
  /** What is shown there, when it is not the path itself. */
  source?: string
}

function toMounts(profile: SandboxProfile, options: BubblewrapOptions): Mount[] {
  // The layer's own folder too: what is mounted there shows the workspace without any of these walls.
  const hidden = existing([
    ...profile.hidden,
    ...(options.overlay === undefined ? [] : [options.overlay.folder]),
  ])
  const writable = existing(profile.writable)
  if (writable.includes('/')) {
    throw new ToolError('forbidden', 'The whole file system cannot be made writable for a command.')
  }
  // Outside writable folders everything is read-only already.
  const kept = existing(profile.protected).filter(path => writable.some(root => isBeneath(path, root)))
  const temporary: Mount = { kind: 'temporary', path: '/tmp' }
  const all: Mount[] = [
    { kind: 'private', path: '/run' },
    ...existing(['/var/tmp']).map((path): Mount => ({ kind: 'temporary', path })),
    ...toRelayMounts(options.passages),
    profile.privateTmp === undefined ? temporary : { ...temporary, source: profile.privateTmp },
    ...existing(profile.readable).map((path): Mount => ({ kind: 'readable', path })),
    ...writable.map((path): Mount => ({ kind: 'writable', path, ...onOverlay(path, options.overlay) })),
    ...kept.map((path): Mount => ({ kind: 'protected', path })),
    // What is changed on a layer is checked again when it is brought over.
    ...(options.overlay === undefined ? pins(kept, writable) : []),
    ...hidden.map((path): Mount => ({ kind: 'hidden', path })),
  ]
  const byPath = new Map<string, Mount>()
  for (const mount of all) {
    const other = byPath.get(mount.path)
    if (other === undefined || KINDS.indexOf(other.kind) < KINDS.indexOf(mount.kind))
      byPath.set(mount.path, mount)
  }
  return [...byPath.values()]
    .filter(mount => !hidden.some(path => isBeneath(mount.path, path)))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** What the relay sees, and its own programs: they too may lie in a place that is private to the sandbox. */
function toRelayMounts(passages: readonly Passage[]): Mount[] {
  if (passages.length === 0) return []
  return [
    ...passages.map(
      ({ mount: { path, source, writable } }): Mount => ({
        kind: writable ? 'writable' : 'readable',
        path,
        source,
      }),
    ),
    ...existing(relayPrograms()).map((path): Mount => ({ kind: 'readable', path })),
  ]
}

function onOverlay(path: string, overlay: Overlay | undefined): { source?: string } {
  if (overlay === undefined) return {}
  if (path !== overlay.workspace && !isBeneath(path, overlay.workspace)) return {}
  return { source: join(overlay.folder, 'merged', relative(overlay.workspace, path)) }
}

/**
 * A protected file cannot be replaced, but the folder it lies in could be renamed and made anew; a folder that is
 * itself a mount cannot.
 */
function pins(kept: readonly string[], writable: readonly string[]): Mount[] {
  const folders = new Set<string>()
  for (const path of kept) {
    for (
      let folder = dirname(path);
      writable.some(root => isBeneath(folder, root));
      folder = dirname(folder)
    ) {
      folders.add(folder)
    }
  }
  return [...folders].map(path => ({ kind: 'pinned', path }))
}

function toArguments(mount: Mount, blankFile: string): string[] {
  const { path, kind, source = path } = mount
  switch (kind) {
    case 'private':
      return ['--tmpfs', path]
    case 'temporary':
      if (mount.source !== undefined) return ['--bind', source, path]
      return ['--perms', '1777', '--size', TEMPORARY_BYTES, '--tmpfs', path]
    case 'pinned':
    case 'writable':
      return ['--bind', source, path]
    case 'readable':
    case 'protected':
      return ['--ro-bind', source, path]
    case 'hidden':
      if (!lstatSync(path).isDirectory()) return ['--ro-bind', blankFile, path]
      return ['--perms', '0000', '--tmpfs', path, '--remount-ro', path]
  }
}

/** Real paths: a mount on a link would land on its target, or nowhere. What does not exist needs no wall. */
function existing(paths: readonly string[]): string[] {
  return paths.flatMap(path => {
    try {
      return [realpathSync(path)]
    } catch {
      return []
    }
  })
}

function isBeneath(path: string, folder: string): boolean {
  return path !== folder && path.startsWith(folder === '/' ? '/' : `${folder}/`)
}
