import { statSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { JudgeHost } from '../../core/command.ts'
import { ToolError } from '../../core/errors.ts'
import { makeFolders } from '../../core/make-folders.ts'
import type { Permit } from '../../core/permit.ts'
import type { SandboxProfile } from '../../core/sandbox.ts'
import { toShellLine } from '../../core/shell-words.ts'
import type { ToolContext } from '../../core/tool.ts'
import { type FilteringProxy, startProxy } from '../../sandbox/network/proxy.ts'
import type { OutsideContext } from '../../sandbox/outside-program.ts'
import { type PipedOptions, startPiped } from '../../sandbox/processes/piped-process.ts'
import { findProgram, trustedPath } from '../../tools/command/find-program.ts'
import { findHidden } from '../../tools/command/hidden-paths.ts'
import type { CommandParts } from '../../tools/command/parts.ts'
import { type Ran, runLayered } from '../../tools/command/run-layered.ts'
import type { Fetch } from '../../tools/web/judged-fetch.ts'
import type { OpenedTransport } from './connection.ts'
import { guardProgram } from './guard-program.ts'
import { argumentsOf, installedFolder } from './install-server.ts'
import type { McpRecord } from './record.ts'
import { isLocalUrl, type McpServerConfig } from './server-config.ts'
import { createStdioTransport } from './stdio-transport.ts'
import { toolName } from './tool-definition.ts'

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
  /** Where agents write. */
  readonly outside: OutsideContext
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
    throw new Error('its url must begin with https: unless the server is on this machine')
  }
  const headers = await parts.readValues(server.headers)
  const transport = new StreamableHTTPClientTransport(url, {
    requestInit: { headers },
    redirectPolicy: 'same-origin',
    // Whether one of this machine is contacted was decided with the trust.
    ...(isLocal ? {} : { fetch: await parts.judgedFetch(url.href) }),
  })
  return { transport, over: async () => undefined, errors: () => '' }
}

async function openProcess(
  parts: OpenServerParts,
  server: McpServerConfig,
  record: McpRecord,
): Promise<OpenedTransport> {
  const { commands } = parts
  const start = await startOf(parts, server, record)
  const { file, args, cwd, env } = start
  if (!server.sandbox)
    return pipe(commands, request => commands.processes.run({ file, args, ...request, cwd, env }))
  const { sandbox } = commands
  if (sandbox === null) throw new Error(`there is no sandbox to start it in: ${commands.noSandboxReason}`)
  const proxy = await proxyFor(parts, server)
  const profile = await profileFor(parts, server, record, { ...start, proxy })
  return pipe(commands, request =>
    sandbox.run(profile, { file, args, ...request }).finally(() => proxy?.close()),
  )
}

/** A server for one call, on a layer over the workspace. */
export interface LayeredServer {
  readonly opened: OpenedTransport
  /** The call has succeeded: what the server changed is wanted. */
  keep(): void
  /** After its end: what there is to say about its changes. Throws when they were refused. */
  settled(): Promise<readonly string[]>
}

export async function openOnLayer(
  parts: OpenServerParts,
  server: McpServerConfig,
  record: McpRecord,
  tool: string,
  context: ToolContext,
): Promise<LayeredServer> {
  const { commands } = parts
  const problem = commands.sandbox === null ? commands.noSandboxReason : commands.overlayProblem()
  if (problem !== null || !server.sandbox) {
    throw new ToolError('failed', `The server cannot work on a layer: ${problem ?? 'it has no sandbox'}.`)
  }
  const start = await startOf(parts, server, record)
  const proxy = await proxyFor(parts, server)
  const profile = await profileFor(parts, server, record, { ...start, proxy })
  let isDone = false
  let ran: Promise<Ran> | undefined
  const request = {
    tool: toolName(server.name, tool),
    preview: false,
    isDone: () => isDone,
    notes: () => null,
  }
  const opened = pipe(commands, async wanted => {
    const command = { file: start.file, args: start.args, ...wanted }
    const onLayer = { ...profile, writable: [...context.permit.writeScope, ...profile.writable] }
    ran = runLayered(commands, request, context, onLayer, command).finally(() => proxy?.close())
    return (await ran).result
  })
  return {
    opened,
    keep() {
      isDone = true
    },
    async settled() {
      const { notes, notKept } = (await ran) ?? { notes: [], notKept: null }
      return notKept === null ? notes : [...notes, `Its changes were not kept: ${notKept.reason}`]
    },
  }
}

interface ServerStart {
  readonly argv: readonly string[]
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Record<string, string>
}

async function startOf(
  { commands, readValues, outside }: OpenServerParts,
  server: McpServerConfig,
  record: McpRecord,
): Promise<ServerStart> {
  const argv = argumentsOf(server, record)
  const path = trustedPath(commands.path, commands.workspace)
  const folder = folderOf(server.cwd ?? '.', commands)
  const program = {
    file: resolve(folder, findProgram(argv[0] ?? '', path)),
    args: argv.slice(1),
    cwd: folder,
  }
  return {
    argv,
    ...program,
    ...guardProgram(server, program, outside),
    env: {
      ...commands.variables,
      HOME: commands.home,
      PATH: path.join(':'),
      TERM: 'dumb',
      ...(await readValues(server.env)),
      // A Kogu that the server starts never approves anything.
      KOGU_CALL: `mcp:${server.name}`,
    },
  }
}

async function proxyFor(
  parts: OpenServerParts,
  { hosts }: McpServerConfig,
): Promise<FilteringProxy | undefined> {
  return hosts.length === 0 ? undefined : startProxy(await parts.judgeHosts(hosts))
}

function pipe({ processes }: CommandParts, run: PipedOptions['run']): OpenedTransport {
  const transport = createStdioTransport(onOutput => startPiped({ processes, onOutput, run }))
  return { transport, over: transport.over, errors: transport.errors }
}

const SECONDS_OF_A_DAY = 86_400

/** The walls of a command that was approved, but the workspace is read-only and only the declared hosts are reached. */
async function profileFor(
  { commands, judge }: OpenServerParts,
  server: McpServerConfig,
  { installed }: McpRecord,
  given: Pick<ServerStart, 'argv' | 'cwd' | 'env'> & { proxy: FilteringProxy | undefined },
): Promise<SandboxProfile> {
  const { workspace, home, places, limits, socketFolders } = commands
  const line = toShellLine(given.argv)
  const writable = server.write.map(folder => folderOf(folder, commands))
  for (const folder of [...writable, ...places.own]) makeFolders(folder)
  return {
    writable,
    readable: [
      workspace,
      ...writable,
      ...(installed === undefined ? [] : [installedFolder(installed)]),
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
