import type { HomeLayer } from '../walls/home-layer.ts'
import type { Overlay } from '../walls/mounts.ts'
import type { SandboxSystem } from '../walls/system.ts'

/** How the script ends when there can be no layer over the home. It says nothing: it is tried again without. */
export const NO_HOME_LAYER = 123

/** Mounts the layers and becomes the command. The mounts are seen by this command alone and end with it. */
const SCRIPT = `
if [ -n "$1" ]; then cd "$1" && /bin/mount -t overlay kogu -o "$2" merged 2> /dev/null || exit ${NO_HOME_LAYER}; fi
if [ -n "$3" ]; then cd "$3" && /bin/mount -t overlay kogu -o "$4" merged || exit; fi
shift 4
exec "$@"
`

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

export function withLayers(
  command: readonly [string, ...string[]],
  { overlay, home }: Layers,
  system: SandboxSystem,
): [string, ...string[]] {
  if (overlay === undefined && home === undefined) return [...command]
  const namespaces = system.privileged ? ['--mount'] : ['--user', '--map-root-user', '--mount']
  const own = system.privileged ? AS_ROOT : AS_USER
  return [
    '/usr/bin/unshare',
    ...namespaces,
    ...['/bin/sh', '-c', SCRIPT, 'kogu'],
    ...[home?.folder ?? '', `${HOME_OPTIONS},${own}`],
    ...[overlay?.folder ?? '', `${OPTIONS},${own}`],
    ...command,
  ]
}
