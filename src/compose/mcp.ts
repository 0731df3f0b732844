import { hash } from 'node:crypto'
import { isIP } from 'node:net'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { ConfigError } from '../config/config-error.ts'
import type { LoadedConfig } from '../config/load.ts'
import { joinKey, type KeyPath } from '../config/positions.ts'
import { readSecret, type SecretReference } from '../config/read-secret.ts'
import type { Access } from '../core/access.ts'
import { noApprover } from '../core/approval.ts'
import { fullAuthority } from '../core/authority.ts'
import type { CallRuntime } from '../core/call.ts'
import type { JudgeHost } from '../core/command.ts'
import type { Judgement } from '../core/decision.ts'
import type { Registry } from '../core/registry.ts'
import { createRun } from '../core/run.ts'
import type { AnyTool } from '../core/tool.ts'
import { classifyAddress } from '../permissions/network/network.ts'
import { createMcpAdmin, type McpAdmin } from '../providers/mcp/admin.ts'
import { callOnLayer } from '../providers/mcp/call-on-layer.ts'
import { createMcpProvider } from '../providers/mcp/mcp-provider.ts'
import { openServer } from '../providers/mcp/open-server.ts'
import type { McpServerConfig } from '../providers/mcp/server-config.ts'
import { outsideContext, prepareOutside } from '../sandbox/outside-program.ts'
import { openMcpRecords } from '../store/mcp-records.ts'
import { findProgram, trustedPath } from '../tools/command/find-program.ts'
import type { CommandParts } from '../tools/command/parts.ts'
import type { RuntimeOptions } from './compose.ts'

// Puts the MCP servers of the configuration together. Loaded only where there are some.

export interface ComposeMcpOptions extends Pick<RuntimeOptions, 'loaded' | 'environment' | 'web'> {
  readonly commands: CommandParts
  /** Made after the providers; servers are started with the first call. */
  calls(): CallRuntime | undefined
}

/** Adds a provider for every server that is on. They start side by side, and nobody waits for them. */
export function addMcpServers(registry: Registry, options: ComposeMcpOptions): McpAdmin {
  const { loaded, environment, commands } = options
  const { version } = manifest
  const records = openMcpRecords(environment.directories.state)
  const servers = toServers(loaded).map(server => ofProject(server, loaded))
  const parts = {
    commands,
    judge: async (command: string, cwd: string) => {
      const judgement = await judge(options, { kind: 'execute', command, cwd })
      if (judgement.hard) throw new Error(judgement.decision.reason)
      return judgement.permit
    },
    async judgedFetch(url: string) {
      const { hard, decision, permit } = await judge(options, { kind: 'network', url, method: 'POST' })
      // What nobody allowed yet is asked about with each call.
      const isDenied = hard || (decision.outcome === 'deny' && decision.by !== 'mode')
      if (isDenied || permit.judgeUrl === undefined) throw new Error(decision.reason)
      const { createJudgedFetch } = await import('../tools/web/judged-fetch.ts')
      return createJudgedFetch(permit.judgeUrl, options.web?.network)
    },
    judgeHosts: (hosts: readonly string[]) => judgeHosts(hosts, options),
    readValues: (values: Readonly<Record<string, unknown>>) => readValues(values, options),
    outside: {
      ...outsideContext(loaded.workspace.root, environment),
      // Where they write without being asked: a program in /tmp is nobody's that a command of theirs could replace.
      writable: [loaded.workspace.root, join(environment.directories.state, 'workspaces')],
    },
  }
  const logs = new Map<McpServerConfig, () => string>()
  const open = async (server: McpServerConfig, record: Parameters<typeof openServer>[2]) => {
    const opened = await openServer(parts, server, record)
    logs.set(server, opened.errors)
    return opened
  }
  for (const server of servers) {
    if (!server.enabled || !loaded.config.tools.mcp.enabled) continue
    const provider = createMcpProvider({
      server,
      version,
      records,
      open: record => open(server, record),
      callOnLayer: (call, context) => callOnLayer(parts, call, context),
    })
    void registry.add(provider)
  }
  return createMcpAdmin({
    servers,
    records,
    version,
    open,
    log: server => logs.get(server)?.() ?? '',
    install: {
      processes: commands.processes,
      folder: join(environment.directories.cache, 'mcp'),
      env: environment.variables,
      findProgram: name => findProgram(name, trustedPath(commands.path, commands.workspace)),
    },
  })
}

/** Both forms of the configuration as one. */
function toServers(loaded: LoadedConfig): McpServerConfig[] {
  const { mcp, tools } = loaded.config
  const listed = tools.mcp.servers.map(({ name, command, args, env }, index) => ({
    ...DEFAULTS,
    name: nameOf(name, loaded, ['tools', 'mcp', 'servers', index, 'name']),
    command: [command, ...args],
    env,
  }))
  const named = Object.entries(mcp).flatMap(([name, server]): McpServerConfig[] => {
    const { command, args, url, cwd, pin } = server
    const words = command === undefined ? undefined : [...[command].flat(), ...args]
    // A project may restrict servers that others have and you have not; no clone stops Kogu with it.
    if (words === undefined && url === undefined && isOfProject(['mcp', name], loaded)) return []
    if ((words === undefined) === (url === undefined)) {
      const what = url === undefined ? 'neither a command nor a url' : 'both a command and a url'
      refuse(loaded, ['mcp', name], `The MCP server '${name}' has ${what}.`, 'Give exactly one of them.')
    }
    const described = {
      name: nameOf(name, loaded, ['mcp', name]),
      enabled: server.enabled,
      ...(words === undefined ? {} : { command: words }),
      ...(url === undefined ? {} : { url }),
      env: server.env,
      headers: server.headers,
      ...(cwd === undefined ? {} : { cwd }),
      on: server.tools.on,
      off: server.tools.off,
      startMs: server.start_timeout,
      timeoutMs: server.timeout,
      era: server.era,
      sandbox: server.sandbox,
      workspace: server.workspace,
      hosts: server.hosts,
      write: server.write,
      ...(pin === undefined ? {} : { pin }),
    }
    return [described]
  })
  const names = new Set(named.map(server => server.name))
  return [...listed.filter(server => !names.has(server.name)), ...named]
}

/** Whoever trusts a server of one project has not seen that of another, which may have its name and its command. */
function ofProject(server: McpServerConfig, loaded: LoadedConfig): McpServerConfig {
  const { config, workspace } = loaded
  const isNamed = Object.hasOwn(config.mcp, server.name)
  const own = isNamed ? ['mcp', server.name] : ['tools', 'mcp', 'servers']
  return isOfProject(own, loaded)
    ? { ...server, project: hash('sha256', workspace.root).slice(0, 16) }
    : server
}

function isOfProject(path: KeyPath, { contributions }: LoadedConfig): boolean {
  const own = joinKey(path)
  return [...contributions].some(
    ([key, [winner]]) =>
      (key === own || key.startsWith(`${own}.`)) &&
      (winner?.source.layer === 'project' || winner?.source.layer === 'local'),
  )
}

const DEFAULTS = {
  enabled: true,
  headers: {},
  on: [],
  off: [],
  startMs: 30_000,
  timeoutMs: 60_000,
  era: 'auto',
  sandbox: true,
  workspace: 'read-only',
  hosts: [],
  write: [],
} as const satisfies Partial<McpServerConfig>

/** It becomes a part of tool names and of file names. */
function nameOf(name: string, loaded: LoadedConfig, path: KeyPath): string {
  if (/^[a-z0-9][a-z0-9-]{0,31}$/.test(name)) return name
  const problem = `The name of the MCP server ${JSON.stringify(name)} cannot be used.`
  return refuse(loaded, path, problem, 'Use up to 32 lower-case letters, digits and dashes.')
}

/** An error of the configuration, with the place of whatever is written there. */
function refuse({ contributions }: LoadedConfig, path: KeyPath, message: string, hint: string): never {
  const own = joinKey(path)
  const written = [...contributions].find(
    ([key]) => key === own || key.startsWith(`${own}.`) || own.startsWith(`${key}.`),
  )
  const source = written?.[1][0]?.source
  throw new ConfigError(message, source?.place(path) ?? { file: 'configuration' }, { hint })
}

async function readValues(
  values: Readonly<Record<string, unknown>>,
  { environment, commands, loaded }: ComposeMcpOptions,
): Promise<Record<string, string>> {
  const outside = outsideContext(loaded.workspace.root, environment)
  const programs = {
    processes: commands.processes,
    prepare: (command: readonly string[]) => prepareOutside(command, outside),
  }
  const read = Object.entries(values).map(async ([name, value]): Promise<[string, string]> => {
    if (typeof value === 'string') return [name, value]
    // The schema lets nothing else through.
    const secret = await readSecret(value as SecretReference, environment, programs)
    if (secret === undefined) throw new Error(`the value of ${name} is not set: ${JSON.stringify(value)}`)
    return [name, secret]
  })
  return Object.fromEntries(await Promise.all(read))
}

const SERVER: Pick<AnyTool, 'name'> = { name: 'mcp-server' }

/** What the person's own rules say of it. */
async function judge({ calls, loaded }: ComposeMcpOptions, access: Access): Promise<Judgement> {
  const runtime = calls()
  if (runtime === undefined) throw new Error('An MCP server is started before the runtime is made.')
  const { root } = loaded.workspace
  return runtime.permissions.judge({
    // Only the name of the tool is looked at.
    tool: SERVER as AnyTool,
    toolNames: new Set([SERVER.name]),
    fingerprint: '',
    input: { ...access },
    access: [access],
    risk: 'high',
    cwd: root,
    run: createRun('mcp-server', {
      authority: fullAuthority(root, loaded.config.mode),
      approver: noApprover('a server is started'),
    }),
  })
}

/** Declared hosts at public addresses. A rule that denies one holds, whoever trusted the server. */
async function judgeHosts(hosts: readonly string[], options: ComposeMcpOptions): Promise<JudgeHost> {
  const { permit } = await judge(options, { kind: 'network', url: `https://${hosts[0]}/`, method: 'POST' })
  return (host, port, addresses) => {
    const isDeclared = hosts.some(
      pattern => pattern === host || (pattern.startsWith('*.') && host.endsWith(pattern.slice(1))),
    )
    if (!isDeclared) return { reason: 'the server does not declare this host', canBeAllowed: false }
    const name = isIP(host) === 6 ? `[${host}]` : host
    const refusal = permit.judgeUrl?.(`https://${name}:${port}/`, []) ?? null
    if (refusal?.canBeAllowed === false) return refusal
    const isPublic = addresses.every(address => classifyAddress(address) === 'public')
    return isPublic ? null : { reason: `${host} is not a public address`, canBeAllowed: false }
  }
}
