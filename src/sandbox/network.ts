import { findOwnProgram, OWN_PROGRAM_FLAGS } from './own-program.ts'
import type { SandboxSystem } from './system.ts'

/** Where the sandbox sees the socket of the proxy. */
export const PROXY_SOCKET = '/run/kogu-proxy'
const PROXY_PORT = '3128'

/** What has to be there inside the sandbox for the relay to run. */
export function relayPrograms(): string[] {
  return [process.execPath, findOwnProgram('network-relay')]
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

/**
 * The command that runs `command` beside the relay, with the way to the proxy open. Bubblewrap a second time, for the
 * filter of system calls and to take away what only the relay needs.
 */
export function withRelay(
  command: readonly [string, ...string[]],
  system: SandboxSystem,
  filterDescriptor: number,
  capabilities: readonly string[],
): [string, ...string[]] {
  return [
    process.execPath,
    ...OWN_PROGRAM_FLAGS,
    findOwnProgram('network-relay'),
    PROXY_SOCKET,
    PROXY_PORT,
    String(filterDescriptor),
    system.bubblewrap,
    ...(system.privileged ? [] : ['--unshare-user']),
    ...[
      '--dev-bind',
      '/',
      '/',
      '--remount-ro',
      '/proc',
      '--die-with-parent',
      '--cap-drop',
      'ALL',
      ...capabilities,
    ],
    ...['--seccomp', '3', '--'],
    ...command,
  ]
}
