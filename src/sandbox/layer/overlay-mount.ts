import type { HomeLayer } from '../walls/home-layer.ts'
import type { Script } from '../walls/limits.ts'
import type { Overlay } from '../walls/mounts.ts'
import { OWN_MOUNTS } from '../walls/stand-in.ts'
import type { SandboxSystem } from '../walls/system.ts'

/** How the script ends when there can be no layer over the home. It says nothing: it is tried again without. */
export const NO_HOME_LAYER = 123

/** Mounts the layers and becomes the command, in mounts of its own, which end with it. */
const SCRIPT = `
if [ -n "$1" ]; then cd "$1" && /bin/mount -t overlay kogu -o "$2" merged 2> /dev/null || exit ${NO_HOME_LAYER}; fi
if [ -n "$3" ]; then cd "$3" && /bin/mount -t overlay kogu -o "$4" merged || exit; fi
shift 4
`
const BECOME = 'exec "$@"'

/**
 * `volatile`: the layer is never used after a crash of the machine, so the command need not wait for the disk.
 * Renames of whole folders are not recorded as such but refused, upon which mv and its like copy.
 */
const OPTIONS = 'lowerdir=lower,upperdir=upper,workdir=work,volatile,index=off'
const HOME_OPTIONS = 'ro,lowerdir=mask:lower'
const AS_ROOT = 'redirect_dir=off,metacopy=off'
/** Without it the kernel keeps its marks in attributes that only root may write. */
const AS_USER = 'userxattr'

export interface Layers {
  readonly overlay: Overlay | undefined
  readonly home: HomeLayer | undefined
}

export interface Layered {
  readonly file: string
  readonly args: readonly string[]
  /** Those that it needs for itself. */
  readonly namespaces?: readonly string[]
}

/** `limits`: a script that lowers the limits for good, and what it takes. */
export function withLayers(
  command: readonly [string, ...string[]],
  { overlay, home }: Layers,
  system: SandboxSystem,
  limits?: Script,
): Layered {
  const [file, ...args] = command
  if (overlay === undefined && home === undefined) return { file, args }
  const marks = system.privileged ? AS_ROOT : AS_USER
  const words = [
    ...['-c', `${SCRIPT}${limits?.text ?? ''}${BECOME}`, 'kogu'],
    ...[home?.folder ?? '', `${HOME_OPTIONS},${marks}`],
    ...[overlay?.folder ?? '', `${OPTIONS},${marks}`],
    ...(limits?.args ?? []),
    ...command,
  ]
  const namespaces = system.privileged ? OWN_MOUNTS : ['--user', '--map-root-user', ...OWN_MOUNTS]
  return { file: '/bin/sh', args: words, namespaces }
}
