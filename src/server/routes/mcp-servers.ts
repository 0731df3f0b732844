import { toToolError } from '../../core/errors.ts'
import { toShellLine } from '../../core/shell-words.ts'
import { summarizeDiff } from '../../core/unified-diff.ts'
import type { McpAdmin } from '../../providers/mcp/admin.ts'
import type { McpRecord } from '../../providers/mcp/record.ts'
import {
  configHash,
  describeWithoutSecrets,
  type McpServerConfig,
} from '../../providers/mcp/server-config.ts'
import {
  definitionTokens,
  pinOf,
  type ToolDefinition,
  toolName,
} from '../../providers/mcp/tool-definition.ts'
import { compileNames, isWanted } from '../../providers/mcp/wanted-tools.ts'
import type { Runtime } from '../../runtime.ts'
import { type Api, answer, body, json, route, z } from '../api.ts'
import { callerName } from '../door.ts'
import { SERVER_STATES, serverState } from '../mcp-state.ts'
import { HttpProblem } from '../problem.ts'

const params = z.object({ name: z.string().max(100) })

const server = z
  .object({
    name: z.string(),
    /** What a person has decided about it. */
    trust: z.enum(['trusted', 'not trusted', 'changed', 'off']),
    /** In one word, of what a person decided and of how it is doing. */
    state: z.enum(SERVER_STATES),
    /** Whether its tools can be called now. */
    available: z.boolean(),
    kind: z.enum(['stdio', 'http']),
    /** Of a program: whether it runs behind walls. */
    sandbox: z.boolean().nullable(),
    /** What it is and what it may do, one line each: to be read before it is trusted. */
    describes: z.array(z.string()),
    /** Of the configuration as it is now; trust is given to exactly this. */
    config_hash: z.string(),
    tools: z.int(),
    held: z.int(),
    /** Tools that the configuration turns off. */
    off: z.int(),
    /** Of what is held: tools that are new, and those whose definition has changed. */
    new_tools: z.array(z.string()),
    changed_tools: z.array(z.string()),
    /** Half of its last calls took at most so long; null when there were none since Kogu was started. */
    p50Ms: z.number().nullable(),
    /** About how many tokens its definitions cost in every prompt. */
    tokens: z.int(),
    calls: z.int(),
    failures: z.int(),
    problems: z.array(z.string()),
    installed: z.string().nullable(),
  })
  .openapi('McpServer')

const tool = z
  .object({
    name: z.string(),
    full_name: z.string(),
    /** `new` and `changed` are held until a person approves them. */
    state: z.enum(['approved', 'new', 'changed', 'off']),
    /** Which patterns of \`tools.off\` name it. One that is off by none is missing in \`tools.on\`. */
    off_by: z.array(z.string()),
    description: z.string(),
    /** What the server claims about it; nobody has checked it. */
    annotations: z.unknown(),
    definition: z.record(z.string(), z.unknown()),
    /** Of the definition; an approval is given to exactly this. */
    pin: z.string(),
    /** From what was approved to what the server says now. */
    diff: z.string().nullable(),
    tokens: z.int(),
  })
  .openapi('McpTool')

const detail = server.extend({
  tool_list: z.array(tool),
  /** `tools.off` of the configuration. */
  off_patterns: z.array(z.string()),
  /** The end of what it wrote to standard error since it was started last. */
  log: z.string(),
  /** Of a program: what the rules would say of its line, as of any command. */
  analysis: z.object({ outcome: z.string(), reasons: z.array(z.string()) }).nullable(),
})

/** MCP servers of the configuration: trust, state, definitions. */
export function mcpServerRoutes(api: Api, runtime: Runtime): void {
  lookRoutes(api, runtime)
  decideRoutes(api, runtime)
}

function lookRoutes(api: Api, runtime: Runtime): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/mcp/servers',
      summary: 'MCP servers of the configuration',
      responses: { 200: json(z.array(server), 'The servers, in the order of the configuration') },
    }),
    async context => {
      const admin = await runtime.mcp()
      return context.json(
        admin.servers.map(each => toServer(runtime, admin, each)),
        200,
      )
    },
  )
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/mcp/servers/{name}',
      summary: 'One server with its tools, and what changed since they were approved',
      request: { params },
      responses: { 200: json(detail, 'The server') },
    }),
    async context => {
      const admin = await runtime.mcp()
      const found = findServer(admin, context.req.valid('param').name)
      return answer(context, {
        ...toServer(runtime, admin, found),
        tool_list: toTools(admin, found),
        off_patterns: [...found.off],
        log: runtime.redact(admin.log(found)),
        analysis: await analyse(runtime, found),
      })
    },
  )
}

function decideRoutes(api: Api, runtime: Runtime): void {
  api.openapi(
    route('approve', {
      method: 'post',
      path: '/api/mcp/servers/{name}/trust',
      summary: 'Trust a server as its configuration is now; a package is fetched first',
      request: { params, body: body(z.object({ config_hash: z.string().max(100) })) },
      responses: { 200: json(server, 'The server') },
    }),
    async context => {
      const admin = await runtime.mcp()
      const found = findServer(admin, context.req.valid('param').name)
      if (configHash(found) !== context.req.valid('json').config_hash)
        throw new HttpProblem(409, 'stale', 'Its configuration has changed since it was reviewed.')
      if (describeWithoutSecrets(found, runtime.redact).isMasked)
        throw new HttpProblem(409, 'conflict', 'A part of it looks like a secret and is not shown here.', {
          hint: `Look at all of it in a terminal: kogu mcp trust ${found.name}`,
        })
      const { config, installed } = await admin.trust(found)
      runtime.note('mcp-server-trusted', {
        ...{ server: found.name, config, user: callerName(context) },
        ...(installed === undefined ? {} : { installed }),
      })
      // It takes its time to start; its tools appear when they come.
      void runtime.registry.refresh(idOf(found))
      return context.json(toServer(runtime, admin, found), 200)
    },
  )
  api.openapi(
    route('approve', {
      method: 'post',
      path: '/api/mcp/servers/{name}/forget',
      summary: 'Revoke the trust in a server',
      request: { params, body: body(z.object({})) },
      responses: { 200: json(server, 'The server') },
    }),
    async context => {
      const admin = await runtime.mcp()
      const found = findServer(admin, context.req.valid('param').name)
      await admin.forget(found)
      await runtime.registry.refresh(idOf(found))
      runtime.note('mcp-server-forgotten', { server: found.name, user: callerName(context) })
      return context.json(toServer(runtime, admin, found), 200)
    },
  )
  api.openapi(
    route('approve', {
      method: 'post',
      path: '/api/mcp/servers/{name}/approve',
      summary: 'Approve tools that are held, by the pins of their definitions',
      request: {
        params,
        body: body(z.object({ pins: z.array(z.string().max(100)).min(1).max(1_000) })),
      },
      responses: { 200: json(z.object({ approved: z.array(z.string()) }), 'Their names') },
    }),
    async context => {
      const admin = await runtime.mcp()
      const found = findServer(admin, context.req.valid('param').name)
      const approved = await admin.approve(found, context.req.valid('json').pins)
      await runtime.registry.refresh(idOf(found))
      if (approved.length > 0)
        runtime.note('mcp-tools-approved', { server: found.name, tools: approved, user: callerName(context) })
      return context.json({ approved }, 200)
    },
  )
  api.openapi(
    route('admin', {
      method: 'post',
      path: '/api/mcp/servers/{name}/test',
      summary: 'Start a server anew and list its tools',
      request: { params, body: body(z.object({})) },
      responses: {
        200: json(
          z.object({
            ok: z.boolean(),
            ms: z.int(),
            era: z.string().nullable(),
            tools: z.int(),
            tokens: z.int(),
            problems: z.array(z.string()),
          }),
          'Whether it works',
        ),
      },
    }),
    async context => {
      const admin = await runtime.mcp()
      const found = findServer(admin, context.req.valid('param').name)
      const tested = await admin.test(found)
      await runtime.registry.refresh(idOf(found))
      return answer(context, { ...tested, problems: tested.problems.map(runtime.redact) })
    },
  )
}

function findServer({ servers }: McpAdmin, name: string): McpServerConfig {
  const found = servers.find(each => each.name === name)
  if (found === undefined) throw new HttpProblem(404, 'not_found', `There is no MCP server '${name}'.`)
  return found
}

function toServer(
  { registry, redact }: Runtime,
  admin: McpAdmin,
  found: McpServerConfig,
): z.infer<typeof server> {
  const record = admin.record(found)
  const id = idOf(found)
  const statistics = registry.statistics().find(each => each.id === id)
  const health = registry.health(id)
  const { pins = {}, held = {} } = record ?? {}
  const isOn = isWanted(found)
  const definitions = Object.values(pins).filter(tool => isOn(tool) && !Object.hasOwn(held, tool.name))
  const isNew = (name: string): boolean => !Object.hasOwn(pins, name)
  const trust = admin.status(found)
  const available = statistics?.available === true
  const problems = (health?.problems ?? []).map(redact)
  return {
    name: found.name,
    trust,
    state: serverState(trust, { available, isStarting: health?.isStarting === true, problems }),
    available,
    kind: found.command === undefined ? 'http' : 'stdio',
    sandbox: found.command === undefined ? null : found.sandbox,
    describes: [...describeWithoutSecrets(found, redact).lines],
    config_hash: configHash(found),
    tools: definitions.length,
    held: Object.keys(held).length,
    off: namesOff(found, record).length,
    new_tools: Object.keys(held).filter(isNew),
    changed_tools: Object.keys(held).filter(name => !isNew(name)),
    p50Ms: health?.p50Ms ?? null,
    tokens: definitions.reduce((sum, definition) => sum + definitionTokens(definition), 0),
    calls: statistics?.calls ?? 0,
    failures: statistics?.failures ?? 0,
    problems,
    installed:
      record?.installed === undefined ? null : `${record.installed.package} ${record.installed.version}`,
  }
}

function namesOff(found: McpServerConfig, record: McpRecord | undefined): string[] {
  const isOn = isWanted(found)
  const pinned = Object.values(record?.pins ?? {}).filter(tool => !isOn(tool))
  return [...new Set([...(record?.last?.off ?? []), ...pinned.map(({ name }) => name)])].sort()
}

/** By the function that judges real calls. A line that cannot be judged says so. */
async function analyse(
  runtime: Runtime,
  { command }: McpServerConfig,
): Promise<z.infer<typeof detail>['analysis']> {
  if (command === undefined) return null
  try {
    const input = { command: toShellLine(command) }
    const { decision, reasons } = await runtime.explain({ tool: 'run_command', input })
    return { outcome: decision, reasons: reasons.map(runtime.redact) }
  } catch (error) {
    return { outcome: 'ask', reasons: [runtime.redact(toToolError(error).message)] }
  }
}

function idOf({ name }: McpServerConfig): string {
  return `mcp:${name}`
}

function toTools(admin: McpAdmin, found: McpServerConfig): z.infer<typeof tool>[] {
  const record = admin.record(found)
  const { pins = {}, held = {} } = record ?? {}
  const off = namesOff(found, record)
  const names = [...new Set([...Object.keys(pins), ...Object.keys(held), ...off])].sort()
  return names.flatMap(name => {
    const pinned = Object.hasOwn(pins, name) ? pins[name] : undefined
    const offered = Object.hasOwn(held, name) ? held[name] : undefined
    const shown = offered ?? pinned
    if (shown === undefined) return [toolThatIsOff(found, name)]
    return [
      {
        name,
        full_name: toolName(found.name, name),
        state: off.includes(name)
          ? 'off'
          : offered === undefined
            ? 'approved'
            : pinned === undefined
              ? 'new'
              : 'changed',
        off_by: found.off.filter(pattern => compileNames([pattern])(name)),
        description: shown.description ?? shown.title ?? '',
        annotations: shown.annotations ?? null,
        definition: { ...shown },
        pin: pinOf(shown),
        diff: offered === undefined ? null : diffOf(pinned, offered),
        tokens: definitionTokens(shown),
      },
    ]
  })
}

/** One that was off whenever the server was started: only its name is known. */
function toolThatIsOff(found: McpServerConfig, name: string): z.infer<typeof tool> {
  return {
    name,
    full_name: toolName(found.name, name),
    state: 'off',
    off_by: found.off.filter(pattern => compileNames([pattern])(name)),
    description: '',
    annotations: null,
    definition: {},
    pin: '',
    diff: null,
    tokens: 0,
  }
}

function diffOf(before: ToolDefinition | undefined, now: ToolDefinition): string {
  const text = (definition: ToolDefinition | undefined): string =>
    definition === undefined ? '' : `${JSON.stringify(definition, null, 2)}\n`
  return summarizeDiff(text(before), text(now), now.name).diff ?? text(now)
}
