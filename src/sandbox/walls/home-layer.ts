import { chmodSync, linkSync, lstatSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { isInside } from '../../core/real-path.ts'
import type { SandboxProcesses } from '../processes/processes.ts'
import type { Mount } from './mounts.ts'

// The home folder as approved commands see it: a read-only layer over the real one, with marks in it that say what is not
// there. A mount over a single file would not do: it is gone when the person saves the file, because programs write a
// new one and rename it into place. A mark goes by the name, whatever the person does meanwhile. Nor do Unix sockets in
// the home answer through the layer, also those that come later. The parts lie in a folder of ours:
//   mask     the marks, and places for mounts that the home does not have
//   lower    a link to the home
//   merged   where the layer is mounted, for one command alone

/** One command's layer over the home folder. */
export interface HomeLayer {
  readonly folder: string
  readonly home: string
  /** Real paths in the home that are not to be there. */
  readonly hidden: readonly string[]
}

/** The kernel's mark for a name that is not there: a device that anybody may make and nobody can use. Null: not here. */
export async function makeMark(processes: SandboxProcesses, path: string): Promise<string | null> {
  const { exitCode } = await processes.run({
    file: '/bin/mknod',
    args: [path, 'c', '0', '0'],
    cwd: '/',
    env: {},
    timeoutMs: 5000,
    signal: new AbortController().signal,
  })
  return exitCode === 0 ? path : null
}

export function makeHomeLayer(
  { folder, home, hidden }: HomeLayer,
  mounts: readonly Mount[],
  mark: string,
): void {
  mkdirSync(join(folder, 'merged'), { recursive: true, mode: 0o700 })
  // By a link, because commas and colons in the path of the home would be taken for mount options.
  symlinkSync(home, join(folder, 'lower'))
  const mask = join(folder, 'mask')
  const inMask = (path: string): string => join(mask, relative(home, path))
  const makeFolder = (path: string): void => {
    if (path !== home) makeFolder(dirname(path))
    // A folder of the layer has the mode of its topmost part.
    const mode = (lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0o755) & 0o777
    if (mkdirSync(inMask(path), { recursive: true }) !== undefined) chmodSync(inMask(path), mode | 0o700)
  }
  makeFolder(home)
  for (const path of hidden) {
    if (hidden.some(other => other !== path && isInside(path, other))) continue
    makeFolder(dirname(path))
    linkSync(mark, inMask(path))
  }
  for (const mount of mounts) {
    const isMissing = lstatSync(mount.path, { throwIfNoEntry: false }) === undefined
    if (isMissing && mount.path !== home && isInside(mount.path, home)) makeFolder(mount.path)
  }
}

/** Other file systems that are mounted in a folder, which a layer over it would not show. */
export function mountsInside(folder: string): string[] {
  const points = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map(line => decode(line.split(' ')[4] ?? ''))
    .filter(point => point !== folder && isInside(point, folder))
  return points.filter(point => !points.some(other => other !== point && isInside(point, other)))
}

function decode(point: string): string {
  return point.replaceAll(/\\(\d{3})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 8)))
}
