import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { isInside } from '../../core/real-path.ts'

// A read-only mount keeps nobody from connecting to a socket in it, and whoever reaches the socket of Docker, of an editor
// or of an agent for keys can do what they can. Commands may make sockets of their own, so the host's must not be there.

/** Real paths of the Unix sockets that programs of this machine have open now. */
export function findHostSockets(): string[] {
  const names = new Set(boundNames())
  const relative = [...names].filter(name => !name.startsWith('/'))
  // The kernel keeps the name as it was given. A look at every process is needed only for those few.
  const folders = relative.length === 0 ? [] : workingFolders()
  const candidates = [
    ...[...names].filter(name => name.startsWith('/')),
    ...folders.flatMap(folder => relative.map(name => join(folder, name))),
  ]
  return [...new Set(candidates.flatMap(toSocket))]
}

/** Without those in the abstract namespace, which every sandbox has to itself. */
function boundNames(): string[] {
  return readFileSync('/proc/net/unix', 'utf8')
    .split('\n')
    .slice(1)
    .flatMap(line => /^(?:\S+\s+){7}(\/.*|[^@\s].*)$/.exec(line)?.[1] ?? [])
}

function workingFolders(): string[] {
  const folders = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(pid => {
      try {
        return [readlinkSync(`/proc/${pid}/cwd`)]
      } catch {
        // It ended, or belongs to somebody else.
        return []
      }
    })
  return [...new Set(folders)]
}

/** Nothing when it is gone, or a name in another container. */
function toSocket(path: string): string[] {
  try {
    const real = realpathSync.native(path)
    return lstatSync(real).isSocket() ? [real] : []
  } catch {
    return []
  }
}

/** Where daemons put their sockets that run in a virtual machine or a network of their own, or that start later. */
const IN_HOME = ['.docker/run', '.docker/desktop', '.colima', '.lima', '.orbstack', '.rd', '.1password']

/** `runtime` is where the session keeps its sockets. A folder that holds the workspace is none of them. */
export function socketFolders(home: string, runtime: string | undefined, workspace: string): string[] {
  const ofSession = runtime !== undefined && isAbsolute(runtime) ? [runtime] : []
  const folders = [...IN_HOME.map(name => join(home, name)), ...ofSession]
  return folders.filter(folder => !isInside(workspace, folder) && !isInside(home, folder))
}
