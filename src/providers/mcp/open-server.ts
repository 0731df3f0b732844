import { statSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { JudgeHost } from '../../core/command.ts'
import { makeFolders } from '../../core/make-folders.ts'
import type { Permit } from '../../core/permit.ts'
import type { SandboxProfile } from '../../core/sandbox.ts'
import { type FilteringProxy, startProxy } from '../../sandbox/network/proxy.ts'
import { startPiped } from '../../sandbox/processes/piped-process.ts'
import { findProgram, trustedPath } from '../../tools/command/find-program.ts'
import { findHidden } from '../../tools/command/hidden-paths.ts'
import type { CommandParts } from '../../tools/command/parts.ts'
import type { Fetch } from '../../tools/web/judged-fetch.ts'
import type { OpenedTransport } from './connection.ts'
import { argumentsOf, installedFolder } from './install-server.ts'
import type { McpRecord } from './record.ts'
import { isLocalUrl, type McpServerConfig } from './server-config.ts'
import { createStdioTransport } from './stdio-transport.ts'

export interface OpenServerParts {
  readonly commands: CommandParts
  /** What a command line would be let do; for what it must not see. */
  judge(command: string, cwd: string): Promise<Permit>
  /** Contacts this address and none that a rule or a hard limit forbids. Throws when it is one. */
  judgedFetch(url: string): Promise<Fetch>
  /** Lets these hosts through, unless a rule denies them, and no private address. */
  judgeHosts(hosts: readonly string[]): Promise<JudgeHost>
  /** Values of the configuration, with secrets read from where they are. */
  readValues(values: Readonly<Record<string, unknown>>): Promise<Record<string, string>>
}

export async function openServer(
  parts: OpenServerParts,
  server: McpServerConfig,
  record: McpRecord,
): Promise<OpenedTransport> {
  return server.command === undefined ? openRemote(parts, server) : openProcess(parts, server, record)
}

async function openRemote(parts: OpenServerParts, server: McpServerConfig): Promise<OpenedTransport> {
  const url = new URL(server.url ?? '')
  const isLocal = isLocalUrl(url.href)
  if (url.protocol !== 'https:' && !isLocal) {
    throw new Error('its address has to begin with https: unless it is on this machine')
  }
  const headers = await parts.readValues(server.headers)
  const transport = new StreamableHTTPClientTransport(url, {
    requestInit: { headers },
    redirectPolicy: 'same-origin',
    // Whether one of this machine is contacted was decided with the trust.
    ...(isLocal ? {} : { fetch: await parts.judgedFetch(url.href) }),
  })
  return { transport, over: async () => undefined }
}

async function openProcess(
  parts: OpenServerParts,
  server: McpServerConfig,
  record: McpRecord,
): Promise<OpenedTransport> {
  const { commands } = parts
  const argv = argumentsOf(server, record)
  const cwd = folderOf(server.cwd ?? '.', commands)
  const program = findProgram(argv[0] ?? '', trustedPath(commands.path, commands.workspace))
  const env = {
    ...commands.variables,
    HOME: commands.home,
    PATH: trustedPath(commands.path, commands.workspace).join(':'),
    TERM: 'dumb',
    ...(await parts.readValues(server.env)),
    // A Kogu that the server starts never approves anything.
    KOGU_CALL: `mcp:${server.name}`,
  }
  const start = { file: program, args: argv.slice(1) }
  if (!server.sandbox) {
    const transport = createStdioTransport(onOutput =>
      startPiped({
        processes: commands.processes,
        onOutput,
        run: request => commands.processes.run({ ...start, ...request, cwd, env }),
      }),
    )
    return { transport, over: transport.over }
  }
  const { sandbox } = commands
  if (sandbox === null) throw new Error(`there is no sandbox to start it in: ${commands.noSandboxReason}`)
  const proxy = server.hosts.length === 0 ? undefined : await startProxy(await parts.judgeHosts(server.hosts))
  const installed = record.installed === undefined ? undefined : installedFolder(record.installed)
  const profile = await profileFor(parts, server, { argv, cwd, env, proxy, installed })
  const transport = createStdioTransport(onOutput =>
    startPiped({
      processes: commands.processes,
      onOutput,
      run: request => sandbox.run(profile, { ...start, ...request }).finally(() => proxy?.close()),
    }),
  )
  return { transport, over: transport.over }
}

const SECONDS_OF_A_DAY = 86_400

/** The walls of a command that was approved, but the workspace is read-only and only the declared hosts are reached. */
async function profileFor(
  { commands, judge }: OpenServerParts,
  server: McpServerConfig,
  given: {
    argv: readonly string[]
    cwd: string
    env: Record<string, string>
    proxy: FilteringProxy | undefined
    /** Where its copy lies. */
    installed: string | undefined
  },
): Promise<SandboxProfile> {
  const { workspace, home, places, limits, socketFolders } = commands
  const line = given.argv.map(word => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
  const writable = server.write.map(folder => folderOf(folder, commands))
  for (const folder of [...writable, ...places.own]) makeFolders(folder)
  return {
    writable,
    readable: [
      workspace,
      ...writable,
      ...(given.installed === undefined ? [] : [given.installed]),
      ...programFolders(given.argv),
    ],
    home,
    hidden: [
      ...(await findHidden(await judge(line, given.cwd))),
      places.temporary,
      ...places.own,
      ...socketFolders,
    ],
    protected: [join(workspace, '.kogu'), join(workspace, 'kogu.toml')],
    network: given.proxy === undefined ? 'none' : { proxySocket: given.proxy.socketPath },
    unixSockets: false,
    env: given.env,
    cwd: given.cwd,
    // It goes on for as long as Kogu does.
    limits: { ...limits, cpuSeconds: SECONDS_OF_A_DAY },
  }
}

function folderOf(path: string, { workspace, home }: CommandParts): string {
  const expanded = path.replace(/^~(?=\/|$)/, home)
  return isAbsolute(expanded) ? expanded : resolve(workspace, expanded)
}

/** Where its program and scripts lie, with what they load: a sandbox has a /tmp of its own, and a clone may lie in there. */
function programFolders(argv: readonly string[]): string[] {
  const files = argv.filter(
    word => isAbsolute(word) && statSync(word, { throwIfNoEntry: false })?.isFile() === true,
  )
  return files.map(file =>
    file.includes('/node_modules/') ? (file.split('/node_modules/')[0] ?? '/') : dirname(file),
  )
}
