import type { SandboxProfile } from '../../core/sandbox.ts'
import { findOwnProgram, OWN_PROGRAM_FLAGS } from '../processes/own-program.ts'
import { toOwnProc } from '../walls/own-proc.ts'
import type { SandboxSystem } from '../walls/system.ts'

/** Where the sandbox sees the socket of the proxy. */
const PROXY_SOCKET = '/run/kogu-proxy'
/** Taken in every sandbox with a network. */
export const PROXY_PORT = 3128
/** Where the relay sees the sockets that lead to ports; hidden from the command. */
const PORT_SOCKETS = '/run/kogu-ports'

/** Ports that lead from one sandbox to another, or to the host, by Unix sockets in a folder of Kogu's own. */
export interface SandboxPorts {
  /** Whoever connects to the socket PORT in `folder` reaches PORT in this sandbox. */
  readonly opened?: PortFolder
  /** The program reaches these at 127.0.0.1 and ::1. No port twice. */
  readonly reached?: readonly PortFolder[]
}

/** A folder that no command can see, with a socket for each port, named by its number. */
export interface PortFolder {
  readonly folder: string
  readonly ports: readonly number[]
}

/** One way across the wall of the sandbox's network, kept by the relay: FROM=TO, and what the relay has to see for it. */
export interface Passage {
  readonly way: string
  readonly mount: { readonly path: string; readonly source: string; readonly writable: boolean }
}

export function passagesOf({ network }: SandboxProfile, { opened, reached = [] }: SandboxPorts): Passage[] {
  const proxy: Passage[] =
    network === 'none'
      ? []
      : [
          {
            way: `${PROXY_PORT}=${PROXY_SOCKET}`,
            mount: { path: PROXY_SOCKET, source: network.proxySocket, writable: false },
          },
        ]
  const inward = opened === undefined ? [] : toPassages(opened, 'own')
  const outward = reached.flatMap((folder, index) => toPassages(folder, index))
  return [...proxy, ...inward, ...outward]
}

/** `own`: from sockets that the relay makes to ports. A number: from ports to the sockets of another sandbox. */
function toPassages({ folder, ports }: PortFolder, name: 'own' | number): Passage[] {
  const path = `${PORT_SOCKETS}/${name}`
  const mount = { path, source: folder, writable: name === 'own' }
  return ports.map(port => {
    const socket = `${path}/${port}`
    return { way: name === 'own' ? `${socket}=${port}` : `${port}=${socket}`, mount }
  })
}

/** What has to be there inside the sandbox for the relay to run. */
export function relayPrograms(): string[] {
  return [process.execPath, findOwnProgram('network/network-relay')]
}

/** How programs are told of the proxy; the last line is for Node's own fetch. */
export function proxyEnvironment(): Record<string, string> {
  const url = `http://127.0.0.1:${PROXY_PORT}`
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy']
  const none = 'localhost,127.0.0.1,::1'
  return {
    ...Object.fromEntries(names.map(name => [name, url])),
    NO_PROXY: none,
    no_proxy: none,
    NODE_USE_ENV_PROXY: '1',
  }
}

/** Descriptors that `withRelay` needs, beside those of the outer bubblewrap. */
export const RELAY_DESCRIPTORS = { commandFilter: 5, commandArguments: 6, relayFilter: 7 } as const

/**
 * Starts the relay, waits until it listens, and becomes the second bubblewrap. The relay gets a bubblewrap of its own,
 * which takes its rights from it: whatever lives on beside the command must have none that the command has not. Its
 * environment is empty, because NODE_OPTIONS would run code in it.
 */
const SCRIPT = `
ready=/dev/shm/.kogu-ready
/usr/bin/mkfifo -m 600 $ready || exit 125
"$1" --dev-bind / / --die-with-parent --cap-drop ALL $2 --clearenv --chdir / --seccomp ${RELAY_DESCRIPTORS.relayFilter} \
  -- "$3" ${OWN_PROGRAM_FLAGS.join(' ')} "$4" $5 \
  < /dev/null > $ready 2> /dev/null ${RELAY_DESCRIPTORS.commandFilter}<&- ${RELAY_DESCRIPTORS.commandArguments}<&- &
read -r line < $ready || { echo 'kogu: the ways out of and into the sandbox could not be opened' >&2; exit 125; }
/bin/rm $ready || exit 125
bubblewrap=$1
shift 5
exec "$bubblewrap" --args ${RELAY_DESCRIPTORS.commandArguments} -- "$@" ${RELAY_DESCRIPTORS.relayFilter}<&-
`

/** The command that runs `command` with the passages open, behind the walls of `toInnerArguments`. */
export function withRelay(
  command: readonly [string, ...string[]],
  system: SandboxSystem,
  passages: readonly Passage[],
): [string, ...string[]] {
  // Kogu may lie in a folder of somebody else, which root without any rights could not read. The command has this too.
  const own = system.privileged ? '--cap-add CAP_DAC_OVERRIDE' : '--unshare-user'
  // As one word, which the script takes apart at its spaces: our own names have none.
  const ways = passages.map(({ way }) => way).join(' ')
  const relay = [process.execPath, findOwnProgram('network/network-relay'), ways]
  return ['/bin/sh', '-c', SCRIPT, 'kogu', system.bubblewrap, own, ...relay, ...command]
}

export interface InnerOptions {
  /** As arguments of bubblewrap: what root keeps. */
  capabilities: readonly string[]
  newProc: boolean
  env: Readonly<Record<string, string>>
  cwd: string
  passages: readonly Passage[]
}

/**
 * The second bubblewrap, around the command alone: the filter of system calls, which the relay cannot share; no right to
 * change mounts, which the making of this wall needs; and processes of its own, so that the relay can be neither seen
 * nor signalled nor read. The sockets of ports are not there for it: Kogu connects to them, so a command that could
 * put a link to a socket of the host in the place of one would be led there.
 */
export function toInnerArguments(system: SandboxSystem, options: InnerOptions): string[] {
  return [
    ...(system.privileged ? [] : ['--unshare-user']),
    ...['--unshare-pid', '--unshare-ipc', '--dev-bind', '/', '/'],
    ...toOwnProc(options.newProc),
    ...(options.passages.some(({ mount }) => mount.path.startsWith(PORT_SOCKETS))
      ? ['--perms', '0000', '--tmpfs', PORT_SOCKETS, '--remount-ro', PORT_SOCKETS]
      : []),
    ...['--die-with-parent', '--cap-drop', 'ALL', ...options.capabilities],
    ...['--seccomp', String(RELAY_DESCRIPTORS.commandFilter)],
    ...['--clearenv', ...Object.entries(options.env).flatMap(toEnvironmentArguments)],
    ...['--chdir', options.cwd],
  ]
}

/** LD_PRELOAD and its like act before the first instruction of the program that sets the limits. */
export function toEnvironmentArguments([name, value]: [string, string]): string[] {
  return name.startsWith('LD_') ? [] : ['--setenv', name, value]
}
