import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEFAULT_SANDBOX_LIMITS, type SandboxProfile } from '../../src/core/sandbox.ts'
import type { PortFolder } from '../../src/sandbox/network/network.ts'

/** A machine to attack: files outside the scope, secrets, servers and a process. */
export interface Host {
  folder: string
  workspace: string
  profile: SandboxProfile
  /** A proxy that refuses everything. */
  proxySocket: string
  /** One port that is opened to the host, and one of another sandbox that is reached, whose server greets with HELLO. */
  ports: { opened: PortFolder; reached: PortFolder[] }
  /** What must stay as it is, as one hash. */
  fingerprint(): string
  close(): Promise<void>
}

export async function createHost(): Promise<Host> {
  const folder = mkdtempSync(join(tmpdir(), 'kogu-host-'))
  const workspace = join(folder, 'workspace')
  const outside = join(folder, 'outside')
  const state = join(folder, 'state')
  writeFiles(folder, {
    'workspace/file': 'hello',
    'workspace/.git/config': '[core]\n\trepositoryformatversion = 0\n',
    'workspace/.git/HEAD': 'ref: refs/heads/main\n',
    'workspace/.git/hooks/sample': '',
    'workspace/.git/objects/.keep': '',
    'workspace/.git/refs/.keep': '',
    'workspace/nested/.git/config': '[core]\n',
    'workspace/nested/.git/hooks/sample': '',
    'workspace/.kogu/config.toml': '',
    'workspace/kogu.toml': '',
    'workspace/hidden/secret': 'TOPSECRET',
    'outside/file': 'untouched',
    'outside/secrets/inner': 'TOPSECRET',
    'home/.bashrc': '',
    'state/grants.json': '{"real":true}',
    'state/token': 'TOPSECRET',
  })
  for (const name of ['opened', 'reached']) mkdirSync(join(folder, 'bridge', name), { recursive: true })
  const abstract = `kogu-test-${process.pid}`
  const servers = await Promise.all([
    listen({ port: 0, host: '::' }),
    listen({ path: join(outside, 'socket') }),
    listen({ path: join(workspace, 'socket') }),
    listen({ path: `\0${abstract}` }),
    listen({ path: join(folder, 'proxy') }, 'HTTP/1.1 403 Forbidden\r\n\r\n'),
    listen({ path: join(folder, 'bridge/reached', String(REACHED_PORT)) }, 'HELLO'),
  ])
  const victim = spawn('/bin/sleep', ['600'], { env: { MARKER: 'HOSTSECRET' }, argv0: 'host-process-marker' })
  const address = servers[0]?.address()
  const env = {
    PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
    HOME: join(folder, 'home'),
    OUT: outside,
    HIDDEN: join(workspace, 'hidden/secret'),
    HIDDEN_DIR: join(outside, 'secrets'),
    HOST_PID: String(victim.pid),
    HOST_PORT: String(typeof address === 'object' ? address?.port : ''),
    SOCKET: join(outside, 'socket'),
    NEAR_SOCKET: join(workspace, 'socket'),
    ABSTRACT: abstract,
    STATE: state,
    BRIDGE: join(folder, 'bridge'),
    OPENED_PORT: String(OPENED_PORT),
    REACHED_PORT: String(REACHED_PORT),
  }
  return {
    folder,
    workspace,
    profile: toProfile(folder, env),
    proxySocket: join(folder, 'proxy'),
    ports: {
      opened: { folder: join(folder, 'bridge/opened'), ports: [OPENED_PORT] },
      reached: [{ folder: join(folder, 'bridge/reached'), ports: [REACHED_PORT] }],
    },
    fingerprint: () =>
      fingerprint([outside, join(folder, 'home'), state, ...PROTECTED.map(name => join(workspace, name))]),
    close: () => close(folder, servers, victim),
  }
}

const OPENED_PORT = 3000
const REACHED_PORT = 3001

const PROTECTED = [
  '.git/hooks',
  '.git/config',
  'nested/.git/hooks',
  'nested/.git/config',
  '.kogu',
  'kogu.toml',
]

function toProfile(folder: string, env: Record<string, string>): SandboxProfile {
  const workspace = join(folder, 'workspace')
  return {
    writable: [workspace],
    // The whole host lies in /tmp, which is private to the sandbox: without this line it would not be there at all.
    readable: [folder],
    hidden: ['workspace/hidden/secret', 'outside/secrets', 'state', 'bridge'].map(name => join(folder, name)),
    protected: PROTECTED.map(name => join(workspace, name)),
    network: 'none',
    unixSockets: false,
    env,
    cwd: workspace,
    limits: DEFAULT_SANDBOX_LIMITS,
  }
}

function writeFiles(folder: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}

function listen(
  where: { port?: number; host?: string; path?: string },
  greeting = 'TOPSECRET',
): Promise<Server> {
  const server = createServer(socket => {
    socket.on('error', () => {
      // The attacker hung up.
    })
    // Read to the end, or the server would wait for ever for it.
    socket.resume()
    socket.end(greeting)
  })
  return new Promise(resolve => server.listen(where, () => resolve(server)))
}

async function close(folder: string, servers: readonly Server[], victim: ChildProcess): Promise<void> {
  victim.kill('SIGKILL')
  await Promise.all(servers.map(server => new Promise(resolve => server.close(resolve))))
  rmSync(folder, { recursive: true, force: true })
}

function fingerprint(paths: readonly string[]): string {
  const hash = createHash('sha256')
  const visit = (path: string): void => {
    if (!existsSync(path)) return void hash.update(`missing ${path}`)
    const stat = lstatSync(path)
    hash.update(`${path} ${stat.mode} ${stat.uid} ${stat.isDirectory() ? '' : stat.mtimeMs}`)
    if (stat.isDirectory()) for (const name of readdirSync(path).sort()) visit(join(path, name))
    else if (stat.isSymbolicLink()) hash.update(readlinkSync(path))
    else if (stat.isFile()) hash.update(readFileSync(path))
  }
  for (const path of paths) visit(path)
  return hash.digest('hex')
}
