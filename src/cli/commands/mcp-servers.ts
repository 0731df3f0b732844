import { counted } from '../../core/counted.ts'
import { toShellLine } from '../../core/shell-words.ts'
import { summarizeDiff } from '../../core/unified-diff.ts'
import { toBlock, toLine } from '../../core/visible.ts'
import type { McpAdmin } from '../../providers/mcp/admin.ts'
import type { McpRecord } from '../../providers/mcp/record.ts'
import {
  describeServer,
  describeWithoutSecrets,
  type McpServerConfig,
} from '../../providers/mcp/server-config.ts'
import {
  definitionTokens,
  listPin,
  pinOf,
  type ToolDefinition,
  toolName,
} from '../../providers/mcp/tool-definition.ts'
import type { Runtime } from '../../runtime.ts'
import { type CommandContext, flag, textOption, UsageError } from '../command.ts'
import { confirmed } from '../confirm.ts'
import { EXIT } from '../exit-codes.ts'
import { openRuntime } from '../open-runtime.ts'
import { table } from '../output.ts'

/** `kogu mcp list | test | tools | trust | approve`, and what follows `add`: the servers whose tools Kogu offers. */
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
        return await test(context, admin, server, runtime.redact)
      case 'tools':
        return tools(context, admin, server)
      case 'add':
        return await trustAdded(context, admin, server, runtime)
      case 'trust':
        return await trust(context, admin, server, runtime)
      default:
        return await approve(context, admin, server, rest.slice(1), runtime.note)
    }
  } finally {
    await runtime.close()
  }
}

/** Puts on record that a server was removed, and the trust in it taken back. */
export async function recordRemoval(context: CommandContext, name: string): Promise<void> {
  const runtime = await openRuntime(context)
  runtime.note('mcp-server-forgotten', { server: name })
  await runtime.close()
}

function findServer({ servers }: McpAdmin, name: string | undefined): McpServerConfig {
  const server = servers.find(each => each.name === name)
  if (server !== undefined) return server
  const names = servers.map(each => each.name).join(', ')
  throw new UsageError(
    name === undefined ? 'Which server?' : `There is no MCP server '${name}'.`,
    names === '' ? 'Add one: kogu mcp add NAME -- COMMAND …' : `There are: ${names}.`,
  )
}

function list({ output }: CommandContext, admin: McpAdmin, redact: Runtime['redact']): number {
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
      tokens: tools.reduce((sum, tool) => sum + definitionTokens(tool), 0),
      last_start: at ?? null,
      problem: problem === undefined ? null : redact(problem),
      what: describeWithoutSecrets(server, redact).lines[0] ?? '',
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

async function test(
  { output }: CommandContext,
  admin: McpAdmin,
  server: McpServerConfig,
  redact: Runtime['redact'],
): Promise<number> {
  const tested = await admin.test(server)
  // What it wrote as it failed may hold anything.
  const result = { ...tested, problems: tested.problems.map(problem => redact(problem)) }
  if (output.json) output.object(result)
  else {
    const { ok, ms, era, tools, tokens } = result
    output.data(
      ok
        ? `${server.name} answers: ${counted(tools, 'tool')}, about ${tokens} tokens, ${ms} ms, ${era === 'modern' ? 'protocol 2026-07-28' : 'an older protocol'}`
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
    const shown = { approved, held: Object.values(held) }
    output.object({ ...shown, pin: listPin(Object.values(pins)), held_pin: shortPin(shown.held) })
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
  if (Object.keys(held).length > 0) {
    output.data(describeHeldTools(pins, Object.values(held)))
    output.note(`To approve exactly this: ${approval(server, [], Object.values(held))}`)
  }
  return EXIT.ok
}

const LONGEST_COMPARED = 40_000

/** What a person reads before they approve it: the whole difference to what they approved before. */
function describeHeldTools(pins: McpRecord['pins'], held: readonly ToolDefinition[]): string {
  const described = held.map(tool => {
    const before = Object.hasOwn(pins, tool.name) ? pins[tool.name] : undefined
    const [old, now] = [shown(before), shown(tool)]
    // A longer difference is shortened, and what is approved is all of it.
    const diff = old.length + now.length > LONGEST_COMPARED ? null : summarizeDiff(old, now, tool.name).diff
    const block = toBlock(diff ?? now, { mostCharacters: Infinity, mostLines: Infinity })
    return `\nheld: ${toLine(tool.name)} ${before === undefined ? 'is new' : 'has changed'}\n${block}`
  })
  return described.join('\n')
}

function approval(
  { name }: McpServerConfig,
  tools: readonly string[],
  held: readonly ToolDefinition[],
): string {
  return toLine(toShellLine(['kogu', 'mcp', 'approve', name, ...tools, '--pin', shortPin(held)]))
}

/** 128 bits: of fewer, a server finds two definitions with the same pin, and shows the harmless one first. */
function shortPin(tools: readonly ToolDefinition[]): string {
  return listPin(tools).replace('sha256:', '').slice(0, 32)
}

function shown(tool: ToolDefinition | undefined): string {
  return tool === undefined ? '' : `${JSON.stringify(tool, null, 2)}\n`
}

/** The person has typed it, so that there is nothing to ask; unless a file of the project says more about it. */
function trustAdded(
  context: CommandContext,
  admin: McpAdmin,
  server: McpServerConfig,
  runtime: Runtime,
): Promise<number> {
  if (server.project === undefined)
    return trust({ ...context, values: { ...context.values, yes: true } }, admin, server, runtime)
  throw new UsageError(
    `A file of this project also has settings for '${server.name}', so it is not trusted yet.`,
    `To see all of it: kogu mcp trust ${server.name}`,
  )
}

async function trust(
  context: CommandContext,
  admin: McpAdmin,
  server: McpServerConfig,
  { note, redact }: Runtime,
): Promise<number> {
  refuseInside(context)
  const { output, values } = context
  output.note(
    `${server.name} ${describeServer(server)
      .map(line => toLine(line, Infinity)) // all of it: what is trusted may stand at the end of a long command
      .join('\n  ')}`,
  )
  if (!flag(values, 'yes')) {
    const again = `kogu mcp trust ${server.name} --yes`
    if (admin.status(server) === 'trusted') {
      output.note(`It is already trusted. To trust it again and reinstall its package: ${again}`)
      if (output.json) output.object({ ok: true, status: 'trusted' })
      return EXIT.ok
    }
    if (!(await confirmed(context, 'Trust exactly this?'))) {
      output.problem(`It is not trusted. To trust it: ${again}`)
      if (output.json) output.object({ ok: false, status: admin.status(server) })
      return EXIT.needsPerson
    }
  }
  const { installed, config } = await admin.trust(server)
  note('mcp-server-trusted', {
    server: server.name,
    config,
    ...(installed === undefined ? {} : { installed }),
  })
  if (installed !== undefined) output.note(`Installed ${installed.package} ${installed.version}.`)
  return test(context, admin, server, redact)
}

async function approve(
  context: CommandContext,
  admin: McpAdmin,
  server: McpServerConfig,
  names: readonly string[],
  note: Runtime['note'],
): Promise<number> {
  refuseInside(context)
  const { output, values } = context
  const { held = {}, pins = {} } = admin.record(server) ?? {}
  const unknown = names.filter(name => !Object.hasOwn(held, name))
  if (unknown.length > 0)
    throw new UsageError(
      `These tools do not wait for approval: ${unknown.map(name => toLine(name)).join(', ')}`,
    )
  const chosen = Object.values(held).filter(({ name }) => names.length === 0 || names.includes(name))
  const pin = textOption(values, 'pin')
  if (pin !== undefined && pin !== shortPin(chosen))
    throw new UsageError(
      'The tools have changed since you looked at them.',
      `Look again: kogu mcp tools ${server.name}`,
    )
  if (pin === undefined && chosen.length > 0) {
    output.note(describeHeldTools(pins, chosen))
    if (!(await confirmed(context, 'Approve exactly this?'))) {
      output.note(`Not approved. To approve exactly this: ${approval(server, names, chosen)}`)
      if (output.json) output.object({ approved: [], held_pin: shortPin(chosen) })
      return EXIT.needsPerson
    }
  }
  const approved = chosen.length === 0 ? [] : await admin.approve(server, chosen.map(pinOf))
  if (approved.length > 0) note('mcp-tools-approved', { server: server.name, tools: approved })
  if (output.json) output.object({ approved })
  else
    output.note(
      approved.length === 0
        ? 'No tool waits for approval.'
        : `Approved: ${approved.map(name => toLine(name)).join(', ')}`,
    )
  return EXIT.ok
}

/** Otherwise a command that an agent runs could trust what the agent wants. */
function refuseInside({ environment }: CommandContext): void {
  if (environment.insideCall !== undefined)
    throw new UsageError('This is not available inside a Kogu call: only a person can trust.')
}
