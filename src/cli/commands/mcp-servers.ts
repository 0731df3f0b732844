import { summarizeDiff } from '../../core/unified-diff.ts'
import { toBlock, toLine } from '../../core/visible.ts'
import type { McpAdmin } from '../../providers/mcp/admin.ts'
import { describeServer, type McpServerConfig } from '../../providers/mcp/server-config.ts'
import { listPin, type ToolDefinition, toolName } from '../../providers/mcp/tool-definition.ts'
import { type CommandContext, flag, UsageError } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { openRuntime } from '../open-runtime.ts'
import { table } from '../output.ts'

/** `kogu mcp list | test | tools | trust | approve`: the servers whose tools Kogu offers. */
export async function manageServers(
  context: CommandContext,
  verb: string,
  rest: readonly string[],
): Promise<number> {
  const runtime = await openRuntime(context)
  try {
    const admin = await runtime.mcp()
    if (verb === 'list') return list(context, admin, runtime.redact)
    const server = findServer(admin, rest[0])
    switch (verb) {
      case 'test':
        return await test(context, admin, server)
      case 'tools':
        return tools(context, admin, server)
      case 'trust':
        return await trust(context, admin, server, runtime.note)
      default:
        return await approve(context, admin, server, rest.slice(1), runtime.note)
    }
  } finally {
    await runtime.close()
  }
}

type Note = (action: string, details: Record<string, unknown>) => void

function findServer({ servers }: McpAdmin, name: string | undefined): McpServerConfig {
  const server = servers.find(each => each.name === name)
  if (server !== undefined) return server
  const names = servers.map(each => each.name).join(', ') || 'none'
  throw new UsageError(
    name === undefined ? 'Which server?' : `There is no MCP server '${name}'.`,
    `There are: ${names}.`,
  )
}

function list({ output }: CommandContext, admin: McpAdmin, redact: (text: string) => string): number {
  const rows = admin.servers.map(server => {
    const record = admin.record(server)
    const tools = Object.values(record?.pins ?? {})
    const { at, problem } = record?.last ?? {}
    return {
      name: server.name,
      status: admin.status(server),
      kind: server.command === undefined ? 'http' : 'stdio',
      sandbox: server.command === undefined ? null : server.sandbox,
      tools: tools.length,
      held: Object.keys(record?.held ?? {}).length,
      tokens: Math.ceil(JSON.stringify(tools).length / 4),
      last_start: at ?? null,
      problem: problem === undefined ? null : redact(problem),
      what: describeServer(server)[0] ?? '',
    }
  })
  if (output.json) output.object(rows)
  else if (rows.length === 0) output.note('No MCP servers. Add one with: kogu mcp add NAME -- COMMAND …')
  else
    output.data(
      table([
        ['NAME', 'STATUS', 'LAST START', 'SANDBOX', 'TOOLS', 'HELD', 'TOKENS', 'WHAT'],
        ...rows.map(row => [
          row.name,
          row.status,
          row.problem !== null ? 'failed' : row.last_start === null ? '-' : 'ok',
          row.sandbox === false ? output.style('red', 'NONE') : row.sandbox === null ? '-' : 'yes',
          String(row.tools),
          String(row.held),
          String(row.tokens),
          toLine(row.what, 80),
        ]),
      ]),
    )
  for (const { name, problem, last_start } of output.json ? [] : rows)
    if (problem !== null) output.note(`${name}: ${toLine(problem, 300)} (${last_start})`)
  return EXIT.ok
}

async function test({ output }: CommandContext, admin: McpAdmin, server: McpServerConfig): Promise<number> {
  const result = await admin.test(server)
  if (output.json) output.object(result)
  else {
    const { ok, ms, era, tools, tokens } = result
    output.data(
      ok
        ? `${server.name} answers: ${tools} tools, about ${tokens} tokens, ${ms} ms, ${era === 'modern' ? '2026-07-28' : 'a protocol before 2026'}`
        : `${server.name} does not work (${ms} ms)`,
    )
    for (const problem of result.problems) output.problem(toBlock(problem))
  }
  return result.ok ? EXIT.ok : EXIT.failed
}

function tools({ output }: CommandContext, admin: McpAdmin, server: McpServerConfig): number {
  const { pins = {}, held = {} } = admin.record(server) ?? {}
  const approved = Object.values(pins).filter(tool => !Object.hasOwn(held, tool.name))
  if (output.json) {
    output.object({ approved, held: Object.values(held), pin: listPin(Object.values(pins)) })
    return EXIT.ok
  }
  output.data(
    table(
      approved.map(tool => [
        toolName(server.name, tool.name),
        toLine(tool.description ?? tool.title ?? '', 100),
      ]),
    ),
  )
  for (const tool of Object.values(held)) {
    const before = Object.hasOwn(pins, tool.name) ? pins[tool.name] : undefined
    output.data(`\nheld: ${toLine(tool.name)} ${before === undefined ? 'is new' : 'has changed'}`)
    output.data(toBlock(summarizeDiff(shown(before), shown(tool), tool.name).diff ?? shown(tool)))
  }
  if (Object.keys(held).length > 0)
    output.note(`Approve what is held with: kogu mcp approve ${server.name} [TOOL …]`)
  return EXIT.ok
}

function shown(tool: ToolDefinition | undefined): string {
  return tool === undefined ? '' : `${JSON.stringify(tool, null, 2)}\n`
}

async function trust(
  context: CommandContext,
  admin: McpAdmin,
  server: McpServerConfig,
  note: Note,
): Promise<number> {
  refuseInside(context)
  const { output, values } = context
  output.note(
    `${server.name} ${describeServer(server)
      .map(line => toLine(line, 500))
      .join('\n  ')}`,
  )
  if (!flag(values, 'yes')) {
    const again = `kogu mcp trust ${server.name} --yes`
    if (admin.status(server) === 'trusted') {
      output.note(`It is trusted already. To trust it anew, and fetch its package again: ${again}`)
      if (output.json) output.object({ ok: true, status: 'trusted' })
      return EXIT.ok
    }
    throw new UsageError('It is not trusted yet.', `When you trust it: ${again}`)
  }
  const { installed, config } = await admin.trust(server)
  note('mcp-server-trusted', {
    server: server.name,
    config,
    ...(installed === undefined ? {} : { installed }),
  })
  if (installed !== undefined) output.note(`Installed ${installed.package} ${installed.version}.`)
  return test(context, admin, server)
}

async function approve(
  context: CommandContext,
  admin: McpAdmin,
  server: McpServerConfig,
  names: readonly string[],
  note: Note,
): Promise<number> {
  refuseInside(context)
  const approved = await admin.approve(server, names.length === 0 ? undefined : names)
  if (approved.length > 0) note('mcp-tools-approved', { server: server.name, tools: approved })
  if (context.output.json) context.output.object({ approved })
  else
    context.output.note(
      approved.length === 0
        ? 'Nothing is held.'
        : `Approved: ${approved.map(name => toLine(name)).join(', ')}`,
    )
  return EXIT.ok
}

/** Otherwise a command that an agent runs could trust what the agent wants. */
function refuseInside({ environment }: CommandContext): void {
  if (environment.insideCall !== undefined)
    throw new UsageError('Not from inside a Kogu call: only a person trusts.')
}
