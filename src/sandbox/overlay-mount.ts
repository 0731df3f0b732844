import type { Overlay } from './mounts.ts'
import type { SandboxSystem } from './system.ts'

/** Mounts the layer and becomes the command. The mount is seen by this command alone and ends with it. */
const SCRIPT = 'cd "$1" && /bin/mount -t overlay kogu -o "$2" merged && shift 2 && exec "$@"'

/**
 * `volatile`: the layer is never used after a crash of the machine, so the command need not wait for the disk.
 * Renames of whole folders are not recorded as such but refused, upon which mv and its like copy.
 */
const OPTIONS = 'lowerdir=lower,upperdir=upper,workdir=work,volatile,index=off'
const AS_ROOT = 'redirect_dir=off,metacopy=off'
/** Without it the kernel keeps its marks in attributes that only root may write. */
const AS_USER = 'userxattr'

export function withOverlay(
  command: readonly [string, ...string[]],
  overlay: Overlay,
  system: SandboxSystem,
): [string, ...string[]] {
  const namespaces = system.privileged ? ['--mount'] : ['--user', '--map-root-user', '--mount']
  const options = `${OPTIONS},${system.privileged ? AS_ROOT : AS_USER}`
  return [
    '/usr/bin/unshare',
    ...namespaces,
    '/bin/sh',
    '-c',
    SCRIPT,
    'kogu',
    overlay.folder,
    options,
    ...command,
  ]
}
