import { setTimeout as sleep } from 'node:timers/promises'
import { parameterNames } from '../../core/input.ts'
import type { Entry, Registry } from '../../core/registry.ts'
import type { AnyTool } from '../../core/tool.ts'
import { toBlock, toLine } from '../../core/visible.ts'
import type { Runtime } from '../../runtime.ts'
import { readCalls } from '../../store/audit/calls.ts'
import { logFolders } from '../../store/places.ts'
import { type Command, type CommandContext, textOption, UsageError, unknownVerb } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { openRuntime } from '../open-runtime.ts'
import { table } from '../output.ts'
import { readCallInput } from '../read-input.ts'
import { suggestPrograms } from '../suggest-programs.ts'

const SETTLE_MS = 1000

export const tools: Command = {
  help: `
List, show, add, test and trust tools.

  kogu tools list
  kogu tools list --names claude        with the names that Claude Code uses; lower: opencode and others
  kogu tools show read_file --json
  kogu tools stats
  kogu tools add count_lines --command 'wc -l {file}' --param file --risk low
                                        writes [tools.custom.count_lines] into your own configuration
  kogu tools test count_lines '{"file":"README.md"}'
                                        shows the exact command and what would be decided; runs nothing
  kogu tools dynamic list               tools that models wrote, with their scores
  kogu tools dynamic show reverse       code, findings and older versions of one
  kogu tools dynamic verify reverse     run its examples
  kogu tools dynamic edit reverse --code new.ts        a new version; --description TEXT
  kogu tools dynamic quarantine reverse --reason TEXT  stop it from running; --lift allows it again
  kogu tools dynamic deprecate reverse  mark it as deprecated; it still runs. verify ends this
  kogu tools dynamic promote reverse    make it available in all your workspaces
  kogu tools dynamic export reverse reverse.json       and: import reverse.json
                                        asks about what the code may access; --yes agrees
  kogu tools trust count                show a script of .kogu/scripts, and trust it as it is now

Every name shown here works in 'kogu call', and so do the parameter names of other agents (file_path, timeout, -i, …).
`,
  options: {
    names: { type: 'string' },
    command: { type: 'string' },
    description: { type: 'string' },
    param: { type: 'string', multiple: true },
    risk: { type: 'string' },
    code: { type: 'string' },
    reason: { type: 'string' },
    lift: { type: 'boolean' },
    yes: { type: 'boolean' },
  },
  words: { list: 1, show: 2, stats: 1, add: 2, test: 3, trust: 3 },
  async run(context) {
    const [verb = 'list', name, json] = context.positionals
    if (verb === 'add') return (await import('../add-tool.ts')).addTool(context, name ?? missingName())
    if (verb === 'dynamic') return (await import('../dynamic-tools.ts')).dynamicTools(context)
    if (verb === 'trust')
      return (await import('../trust-script.ts')).trustScript(context, name ?? missingName(), json)
    const runtime = await openRuntime(context)
    try {
      if (verb === 'list') return await list(context, runtime)
      if (verb === 'show') return await show(context, runtime.registry, name ?? missingName())
      if (verb === 'stats') return await stats(context, runtime)
      if (verb === 'test') return await test(context, runtime, name ?? missingName(), json)
      throw unknownVerb('tools', verb, ['list', 'show', 'stats', 'add', 'test', 'trust', 'dynamic'])
    } finally {
      await runtime.close()
    }
  },
}

function missingName(): never {
  throw new UsageError('Which tool?', 'For example: kogu tools show read_file')
}

async function list(context: CommandContext, { registry, isEnabled }: Runtime): Promise<number> {
  const { output } = context
  // What servers say at once is shown; one that takes its time is not waited for.
  await Promise.race([registry.settled(), sleep(SETTLE_MS, undefined, { ref: false })])
  suggestPrograms(context)
  const entries = registry.list()
  for (const problem of registry.problems())
    output.note(`${output.noteStyle('yellow', 'warning:')} ${toLine(problem)}`)
  const naming = readNaming(textOption(context.values, 'names'))
  if (output.json) {
    output.object(entries.map(entry => ({ ...describe(registry, entry, naming), enabled: isEnabled(entry) })))
    return EXIT.ok
  }
  const rows = entries.map(entry => [
    toLine(nameOf(entry.tool, naming)),
    entry.risk,
    entry.tool.category,
    routeOf(registry, entry).map(priorityOf).join(' > '),
    toLine(entry.tool.aliases.join(', ')),
    toLine(`${isEnabled(entry) ? '' : 'off: '}${whatItDoes(entry.tool)}`, 60),
  ])
  output.data(table([['NAME', 'RISK', 'CATEGORY', 'PROVIDER', 'ALSO CALLED', 'WHAT IT DOES'], ...rows]))
  return EXIT.ok
}

/** Tools of the configuration and scripts have no title of their own. */
function whatItDoes({ name, title, description }: AnyTool): string {
  return title === name ? (description.split('\n')[0] ?? '') : title
}

async function show(context: CommandContext, registry: Registry, name: string): Promise<number> {
  const { output } = context
  const entry = await registry.resolve(name)
  const naming = readNaming(textOption(context.values, 'names'))
  if (output.json) {
    output.object(describe(registry, entry, naming))
    return EXIT.ok
  }
  const { tool } = entry
  const aliases = aliasesByParameter(tool)
  const properties = tool.input.json.properties as Record<string, { description?: string }> | undefined
  const parameters = parameterNames(tool).map(name => {
    const others = aliases.get(name) ?? []
    const also = others.length === 0 ? '' : ` (also ${others.join(', ')})`
    return [`  ${toLine(name)}`, toLine(`${properties?.[name]?.description ?? ''}${also}`)]
  })
  output.data(
    [
      `${toLine(nameOf(tool, naming))}  risk ${entry.risk}  ${tool.category}  from ${entry.provider.id} (${entry.provider.priority})`,
      ...(tool.aliases.length === 0 ? [] : [`also called: ${toLine(tool.aliases.join(', '))}`]),
      ...describeRoute(registry, entry),
      '',
      toBlock(tool.description),
      '',
      'Parameters',
      table(parameters),
    ].join('\n'),
  )
  return EXIT.ok
}

/** The command that values make, and what would be decided about it. */
async function test(
  context: CommandContext,
  runtime: Runtime,
  tool: string,
  json: string | undefined,
): Promise<number> {
  const { output } = context
  const explanation = await runtime.explain({ tool, input: await readCallInput(json, context) })
  const { access, decision, reasons } = explanation
  const [execute] = access.filter(each => each.kind === 'execute')
  if (output.json) output.object(explanation)
  else {
    output.data(
      [...(execute === undefined ? [] : [execute.command]), `${decision}: ${reasons.join(' ')}`]
        .map(text => toLine(text))
        .join('\n'),
    )
    output.note(`Nothing ran. To run it: kogu call ${toLine(tool)} '{…}'`)
  }
  return EXIT.ok
}

/** Of all calls on record, by the provider that answered. */
async function stats({ output }: CommandContext, runtime: Runtime): Promise<number> {
  const counted = new Map<string, { calls: number; failures: number }>()
  for await (const { finished } of readCalls({ directory: logFolders(runtime.places) })) {
    const count = counted.get(finished.provider ?? '') ?? { calls: 0, failures: 0 }
    counted.set(finished.provider ?? '', {
      calls: count.calls + 1,
      failures: count.failures + (finished.ok ? 0 : 1),
    })
  }
  const statistics = runtime.registry.statistics().map(row => ({ ...row, ...counted.get(row.id) }))
  if (output.json) output.object(statistics)
  else {
    const rows = statistics.map(row => Object.values(row).map(String))
    output.data(table([Object.keys(statistics[0] ?? {}).map(key => key.toUpperCase()), ...rows]))
  }
  return EXIT.ok
}

type Naming = 'kogu' | 'claude' | 'lower'

function readNaming(text: string | undefined): Naming {
  if (text === undefined || text === 'kogu') return 'kogu'
  if (text === 'claude' || text === 'lower') return text
  throw new UsageError(`--names takes kogu, claude or lower, not '${text}'.`)
}

/** Tools list the names that other agents use as aliases: `Read` for Claude Code, `read` for others. */
function nameOf(tool: AnyTool, naming: Naming): string {
  if (naming === 'kogu') return tool.name
  const wanted = naming === 'claude' ? /^[A-Z]/ : /^[a-z]+$/
  return tool.aliases.find(alias => wanted.test(alias)) ?? tool.name
}

/** Everybody who answers to what a tool is called for, in the order in which they are tried. */
function routeOf(registry: Registry, { tool }: Entry): readonly Entry[] {
  return registry.candidates(tool.overrides ?? tool.name)
}

function priorityOf({ provider }: Entry): string {
  return `${provider.id} ${provider.priority}`
}

function describeRoute(registry: Registry, entry: Entry): string[] {
  const others = routeOf(registry, entry).filter(other => other !== entry)
  return others.map(other =>
    other.provider.priority > entry.provider.priority
      ? `replaces ${toLine(other.tool.name)} from ${priorityOf(other)}, which is down`
      : `replaces ${toLine(other.tool.name)} from ${priorityOf(other)}: the higher priority wins`,
  )
}

function describe(registry: Registry, entry: Entry, naming: Naming): Record<string, unknown> {
  const { tool, provider, risk } = entry
  return {
    name: nameOf(tool, naming),
    canonical: tool.name,
    aliases: tool.aliases,
    title: tool.title,
    description: tool.description,
    category: tool.category,
    risk,
    provider: provider.id,
    priority: provider.priority,
    route: routeOf(registry, entry).map(priorityOf),
    parameters: tool.input.json,
    parameter_aliases: Object.fromEntries(aliasesByParameter(tool)),
  }
}

function aliasesByParameter(tool: AnyTool): Map<string, string[]> {
  const result = new Map<string, string[]>()
  for (const [alias, target] of Object.entries(tool.parameterAliases)) {
    const name = typeof target === 'string' ? target : target.to
    result.set(name, [...(result.get(name) ?? []), alias])
  }
  return result
}
