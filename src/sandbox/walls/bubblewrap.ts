import { lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import type { SandboxProfile } from '../../core/sandbox.ts'
import { type Passage, toEnvironmentArguments } from '../network/network.ts'
import type { Mount, Overlay } from './mounts.ts'
import { toOwnProc } from './own-proc.ts'
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

/**
 * The walls of a profile as arguments for bubblewrap. First the root, the host's or one that shows a part of it, then the
 * places private to the sandbox, then the profile's own paths, parents before children. Nothing of it can be written but
 * what the profile says.
 */
export function toBubblewrapArguments(
  profile: SandboxProfile,
  system: SandboxSystem,
  mounts: readonly Mount[],
  options: BubblewrapOptions,
): string[] {
  const relayed = options.passages.length > 0
  const sizes = sizesOf(mounts, profile)
  const ownRoot = profile.closed !== undefined
  const inRoot = (path: string): boolean => ownRoot && dirname(path) === '/'
  return [
    ...(system.privileged ? PRIVILEGED : ['--unshare-all', ...ownIdentity(mounts, options)]),
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
    ...(ownRoot ? toOwnRoot(mounts) : ['--ro-bind', '/', '/']),
    ...['--dev', '/dev', '--size', sizes.shared, '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    // With a relay, the command gets another: the kernel allows it only where nothing covers parts of the one beneath.
    ...(relayed ? [options.newProc ? '--proc' : '--tmpfs', '/proc'] : toOwnProc(options.newProc)),
    ...mounts.flatMap(mount =>
      mount.kind === 'private' && inRoot(mount.path)
        ? ['--dir', mount.path]
        : toArguments(mount, options.blankFile, sizes),
    ),
    // Once everything that lies in them is mounted.
    ...mounts.flatMap(({ kind, path }) =>
      kind === 'private' && !inRoot(path) ? ['--remount-ro', path] : [],
    ),
    ...(ownRoot ? ['--remount-ro', '/'] : []),
    ...['--clearenv', ...(relayed ? [] : Object.entries(profile.env).flatMap(toEnvironmentArguments))],
    ...['--chdir', profile.cwd],
  ]
}

/** Made anew below. */
const OWN_PLACES: ReadonlySet<string> = new Set(['dev', 'proc'])

/**
 * A root that shows the host's folders but for those that have something else in their place. To cover them one by one
 * would take the kernel twice as long, because bubblewrap reads the list of all mounts for each.
 */
function toOwnRoot(mounts: readonly Mount[]): string[] {
  const taken = new Set(mounts.map(({ path }) => path))
  return readdirSync('/', { withFileTypes: true }).flatMap(entry => {
    const path = `/${entry.name}`
    if (OWN_PLACES.has(entry.name) || taken.has(path)) return []
    if (entry.isSymbolicLink()) return ['--symlink', readlinkSync(path), path]
    // Files beside them are nobody's programs or settings, and may be anybody's keys.
    return entry.isDirectory() ? ['--ro-bind', path, path] : []
  })
}

/** Whoever mounts a layer in a user namespace is root there; the command is not to see that. */
function ownIdentity(mounts: readonly Mount[], { overlay }: BubblewrapOptions): string[] {
  const [user, group] = [process.getuid?.(), process.getgid?.()]
  const hasLayer = overlay !== undefined || mounts.some(({ kind }) => kind === 'layered')
  if (!hasLayer || user === undefined || group === undefined) return []
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
const SHARED_MEMORY_BYTES = 256 * 1024 ** 2
const TEMPORARY_BYTES = 1024 ** 3

/** In bytes, for each file system in memory that the command can write to. */
interface Sizes {
  shared: string
  temporary: string
}

/** All together hold no more than the command may have in memory: not every machine counts what is in them. */
function sizesOf(mounts: readonly Mount[], { limits }: SandboxProfile): Sizes {
  const inMemory = mounts.filter(({ kind, source }) => kind === 'temporary' && source === undefined)
  const share = Math.floor(limits.memoryBytes / (inMemory.length + 1))
  return {
    shared: String(Math.min(SHARED_MEMORY_BYTES, share)),
    temporary: String(Math.min(TEMPORARY_BYTES, share)),
  }
}

/**
 * Root in a folder that belongs to somebody else (a container with a mounted workspace) must be able to work there.
 * Mounts, not modes, are the walls, and none of these rights can change a mount.
 */
export function fileCapabilities(profile: SandboxProfile): string[] {
  const changesNothing = profile.writable.length === 0 && (profile.replaced ?? []).length === 0
  const names = changesNothing ? ['CAP_DAC_OVERRIDE'] : ['CAP_DAC_OVERRIDE', 'CAP_CHOWN', 'CAP_FOWNER']
  return names.flatMap(name => ['--cap-add', name])
}

function toArguments(mount: Mount, blankFile: string, { temporary }: Sizes): string[] {
  const { path, kind, source = path } = mount
  switch (kind) {
    case 'private':
      return ['--tmpfs', path]
    case 'temporary':
      if (mount.source !== undefined)
        return [mount.access === undefined ? '--bind' : '--ro-bind', source, path]
      return ['--perms', '1777', '--size', temporary, '--tmpfs', path]
    case 'replaced':
    case 'pinned':
    case 'writable':
      return ['--bind', source, path]
    case 'layered':
    case 'readable':
    case 'protected':
      return ['--ro-bind', source, path]
    case 'hidden':
      if (!lstatSync(path).isDirectory()) return ['--ro-bind', blankFile, path]
      return ['--perms', '0000', '--tmpfs', path, '--remount-ro', path]
  }
}
