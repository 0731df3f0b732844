import { agentAuthority, parseSettings, type ToolSetting } from '../../agents/agent-authority.ts'
import { readOnlyTools } from '../../agents/agent-tools.ts'
import type { Panel } from '../../agents/panel.ts'
import { ToolError } from '../../core/errors.ts'
import { toVisible } from '../../core/visible.ts'
import { openModels } from '../../models.ts'
import type { Runtime } from '../../runtime.ts'
import type { Database } from '../../store/database/database.ts'
import { listPanels, mirrorPanel, readPanel, requireAgent } from '../../store/runs/find-agent.ts'
import { saveToolPermissions } from '../../store/tables/agent-tool-permissions.ts'
import { findAgent, insertAgent, listAgents, retireAgent, updateAgent } from '../../store/tables/agents.ts'
import { providerRow } from '../../store/tables/llm-providers.ts'
import {
  type Command,
  type CommandContext,
  countOption,
  textOption,
  UsageError,
  unknownVerb,
} from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { loadForCommand, openRuntime } from '../open-runtime.ts'
import { table } from '../output.ts'
import { withDatabase } from '../run-session.ts'
import { workflowFor } from '../workflow-for.ts'

const VERBS = ['list', 'show', 'create', 'edit', 'delete', 'tools', 'trust'] as const

export const agents: Command = {
  help: `
Agents of this workspace: a prompt, a model and the tools it may use. A new agent starts with
every tool off; it can write only in doc/, run only commands that read, and use git read-only.

  kogu agents create researcher --tools read-only --system "You are a careful researcher."
  kogu agents tools researcher --on write_file --settings write_file='{"allowed_dirs":["doc","reports"]}'
  kogu run "Find three sources" --agent researcher

  kogu agents list | show NAME | delete NAME
  kogu agents create|edit NAME [--model M] [--system TEXT] [--description TEXT] [--temperature X] [--max-tokens N]
                               [--tools a,b | read-only]     these and no others
  kogu agents tools NAME [--on a,b] [--off a,b] [--settings TOOL=JSON]…     without options: what it may do
  kogu agents trust NAME       show the panel .kogu/panels/NAME.toml and trust it as it is now

Settings of a tool: allowed_dirs, allowed_commands, allowed_hosts, profile (restricted | shell), git (Disabled | ReadOnly |
ReadWrite), timeout_ms. They can only narrow what you may do here.
See also: docs/agents.md
`,
  options: {
    model: { type: 'string' },
    system: { type: 'string' },
    description: { type: 'string' },
    temperature: { type: 'string' },
    'max-tokens': { type: 'string' },
    tools: { type: 'string' },
    on: { type: 'string' },
    off: { type: 'string' },
    settings: { type: 'string', multiple: true },
  },
  words: 2,
  async run(context) {
    const [verb = 'list', name] = context.positionals
    if (!VERBS.some(known => known === verb)) throw unknownVerb('agents', verb, VERBS)
    return withDatabase(context, async database => {
      const workspace = loadForCommand(context).workspace.root
      const place = {
        context,
        database,
        workspace,
        workflow: await workflowFor(context, database, workspace),
      }
      if (verb === 'list') return list(place)
      if (name === undefined) throw new UsageError('Which agent?', 'See: kogu agents list')
      switch (verb) {
        case 'show':
          return show(place, name)
        case 'create':
          return create(place, name)
        case 'edit':
          return edit(place, name)
        case 'delete':
          return remove(place, name)
        case 'trust':
          return trust(place, name)
        default:
          return tools(place, name)
      }
    })
  },
}

interface Place {
  readonly context: CommandContext
  readonly database: Database
  readonly workspace: string
  readonly workflow: string
}

async function list({ context: { output }, database, workspace, workflow }: Place): Promise<number> {
  const known = await listAgents(database, workflow)
  const panels = listPanels(workspace).map(name => {
    const agent = known.find(each => each.name === name)
    try {
      const panel = readPanel(workspace, name)
      const state =
        agent?.sourceHash === panel.hash
          ? 'panel'
          : agent === undefined
            ? 'panel, not trusted'
            : 'panel, changed'
      const model = panel.kind === 'ai' ? (panel.model ?? '(default)') : `(${panel.kind})`
      return { name, state, description: panel.description, model }
    } catch (error) {
      return {
        name,
        state: 'panel, broken',
        description: error instanceof Error ? error.message : '',
        model: '',
      }
    }
  })
  const others = known
    .filter(agent => !panels.some(panel => panel.name === agent.name))
    .map(({ name, provider, model, description, sourcePath }) => ({
      name,
      state: sourcePath === null ? 'agent' : 'panel, file is gone',
      model: `${provider}/${model}`,
      description: description ?? '',
    }))
  const all = [...panels, ...others].sort((a, b) => (a.name < b.name ? -1 : 1))
  if (output.json) output.object(all)
  else if (all.length === 0) output.note('No agents yet. Make one: kogu agents create NAME --tools read-only')
  else output.data(table(all.map(row => [row.name, row.state, row.model, toVisible(row.description)])))
  return EXIT.ok
}

async function show(place: Place, name: string): Promise<number> {
  const { database, workflow, workspace } = place
  const { output } = place.context
  // Of a panel the file is what counts, also before anybody has allowed it to run.
  if (listPanels(workspace).includes(name)) return showPanel(place, readPanel(workspace, name))
  const { agent, tools: settings } = await requireAgent(database, workflow, name)
  const { id, description, system, provider, model, temperature, maxTokens, sourcePath } = agent
  if (output.json) {
    output.object({
      id,
      name,
      description,
      system,
      provider,
      model,
      temperature,
      max_tokens: maxTokens,
      source: sourcePath,
      tools: settings,
    })
    return EXIT.ok
  }
  output.data(
    [
      `${name}  ${provider}/${model}  temperature ${temperature}  max tokens ${maxTokens}${sourcePath === null ? '' : `  from ${sourcePath}`}`,
      ...(system === null ? [] : ['', toVisible(system)]),
      '',
      describeTools(settings),
    ].join('\n'),
  )
  return EXIT.ok
}

async function showPanel({ context, database, workflow }: Place, panel: Panel): Promise<number> {
  const trusted = (await findAgent(database, workflow, panel.name))?.sourceHash === panel.hash
  if (context.output.json) context.output.object({ ...panel, trusted })
  else context.output.data(describePanel(panel))
  if (!trusted) context.output.note(`It is not run until you allow it: kogu agents trust ${panel.name}`)
  return EXIT.ok
}

function describePanel(panel: Panel): string {
  if (panel.kind !== 'ai') {
    const { name, kind, description } = panel
    const content = panel.kind === 'folder' ? panel.folder : panel.text
    return [toVisible([name, kind, description].join('  ')), toVisible(content)].join('\n')
  }
  const { name, description, system, prompt, tools, hash: _, ...rest } = panel
  const settings = Object.entries(rest).map(([key, value]) => `${key} ${value}`)
  return [
    toVisible([name, description, ...settings].join('  ')),
    `system: ${toVisible(system ?? '(none)')}`,
    `prompt: ${toVisible(prompt)}`,
    describeTools(tools),
  ].join('\n')
}

function describeTools(settings: readonly ToolSetting[]): string {
  if (settings.length === 0) return 'Every tool is off. Turn one on: kogu agents tools NAME --on read_file'
  return table(
    settings.map(({ tool, enabled, config }) => [
      enabled ? 'on ' : 'off',
      tool,
      config === undefined ? '' : toVisible(JSON.stringify(config)),
    ]),
  )
}

async function create(place: Place, name: string): Promise<number> {
  const { context, database, workflow } = place
  if (!/^[\w-]{1,100}$/.test(name)) throw new UsageError("An agent's name has only letters, digits, _ and -.")
  if (listPanels(place.workspace).includes(name)) {
    throw new UsageError(`There is a panel '${name}'.`, `Use it: kogu agents trust ${name}`)
  }
  const settings = readSettings(context)
  const provider = await providerRow(database, settings.provider ?? 'anthropic')
  const tools = await readTools(context, textOption(context.values, 'tools'))
  const id = await database.transaction(async queries => {
    const made = await insertAgent(queries, workflow, { ...settings, name, provider })
    if (made !== undefined)
      await saveToolPermissions(
        queries,
        made,
        tools.map(tool => ({ tool, enabled: true })),
      )
    return made
  })
  if (id === undefined)
    throw new UsageError(`There is an agent '${name}' already.`, `Change it: kogu agents edit ${name}`)
  if (context.output.json) context.output.object({ id, name, tools })
  else
    context.output.note(
      tools.length === 0
        ? `Made ${name}. Every tool is off; see: kogu agents tools ${name}`
        : `Made ${name}.`,
    )
  return EXIT.ok
}

async function edit({ context, database, workflow }: Place, name: string): Promise<number> {
  const { agent, tools: before } = await requireAgent(database, workflow, name)
  refusePanel(agent.sourcePath)
  const { provider, ...settings } = readSettings(context)
  const row = provider === undefined ? {} : { provider: await providerRow(database, provider) }
  await updateAgent(database, agent.id, { ...settings, ...row })
  const wanted = textOption(context.values, 'tools')
  if (wanted !== undefined) {
    // These and no others; what was set for one that is off is kept for the day it is on again.
    const on = await readTools(context, wanted)
    const all = [...new Set([...on, ...before.map(({ tool }) => tool)])]
    await saveToolPermissions(
      database,
      agent.id,
      all.map(tool => ({ tool, enabled: on.includes(tool) })),
    )
  }
  if (context.output.json) context.output.object({ id: agent.id, name })
  else context.output.note(`Changed ${name}.`)
  return EXIT.ok
}

async function remove({ context: { output }, database, workflow }: Place, name: string): Promise<number> {
  const { agent } = await requireAgent(database, workflow, name)
  await retireAgent(database, agent.id)
  if (output.json) output.object({ id: agent.id, name, deleted: true })
  else output.note(`Deleted ${name}. Its runs are kept.`)
  return EXIT.ok
}

async function tools({ context, database, workflow }: Place, name: string): Promise<number> {
  const { values, output } = context
  const { agent, tools: before } = await requireAgent(database, workflow, name)
  const on = await readTools(context, textOption(values, 'on'))
  const off = await readTools(context, textOption(values, 'off'))
  const configs = await readConfigs(context)
  const changed = [...new Set([...on, ...off, ...configs.keys()])]
  if (changed.length > 0) {
    refusePanel(agent.sourcePath)
    const settings = changed.map(tool => ({
      tool,
      enabled:
        on.includes(tool) || (!off.includes(tool) && before.some(each => each.tool === tool && each.enabled)),
      ...(configs.has(tool) ? { config: configs.get(tool) } : {}),
    }))
    agentAuthority({ agent: name, tools: settings, canonicalTool: tool => tool })
    await saveToolPermissions(database, agent.id, settings)
  }
  const { tools: after } = await requireAgent(database, workflow, name)
  if (output.json) output.object(after)
  else output.data(describeTools(after))
  return EXIT.ok
}

function refusePanel(sourcePath: string | null): void {
  if (sourcePath !== null)
    throw new UsageError(`This agent is the panel ${sourcePath}.`, 'Edit that file instead.')
}

async function trust({ context, database, workspace, workflow }: Place, name: string): Promise<number> {
  const { output, environment } = context
  if (environment.insideCall !== undefined)
    throw new UsageError('Trusting is not available inside a Kogu call.')
  const panel = readPanel(workspace, name)
  await mirrorPanel(database, workflow, panel)
  if (output.json) {
    output.object({ name, hash: panel.hash, tools: panel.kind === 'ai' ? panel.tools : [] })
    return EXIT.ok
  }
  output.data(describePanel(panel))
  output.note(`The panel '${name}' may run as it is now. A change asks again.`)
  return EXIT.ok
}

function readSettings(context: CommandContext) {
  const { values, environment } = context
  const system = textOption(values, 'system')
  const description = textOption(values, 'description')
  const temperature = textOption(values, 'temperature')
  const maxTokens = countOption(values, 'max-tokens')
  const wanted = textOption(values, 'model')
  if (temperature !== undefined && !(Number(temperature) >= 0 && Number(temperature) <= 2)) {
    throw new UsageError('--temperature takes a number from 0 to 2.')
  }
  const model =
    wanted === undefined ? undefined : openModels(loadForCommand(context), environment).find(wanted)
  return {
    ...(system === undefined ? {} : { system }),
    ...(description === undefined ? {} : { description }),
    ...(temperature === undefined ? {} : { temperature: Number(temperature) }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(model === undefined ? {} : { provider: model.provider, model: model.name }),
  }
}

/** Canonical names of tools that exist. */
async function readTools(context: CommandContext, text: string | undefined): Promise<string[]> {
  if (text === undefined) return []
  return withRuntime(context, runtime => {
    if (text === 'read-only') return readOnlyTools(runtime.registry)
    return text.split(',').map(name => canonical(runtime, name.trim()))
  })
}

async function readConfigs(context: CommandContext): Promise<Map<string, unknown>> {
  const { settings } = context.values
  const given = Array.isArray(settings) ? settings.map(String) : []
  if (given.length === 0) return new Map()
  return withRuntime(context, runtime => {
    const entries = given.map((text): [string, unknown] => {
      const equals = text.indexOf('=')
      if (equals < 1) throw new UsageError('--settings takes TOOL=JSON.')
      const tool = canonical(runtime, text.slice(0, equals))
      const value = parseJson(text.slice(equals + 1))
      parseSettings(tool, value)
      return [tool, value]
    })
    return new Map(entries)
  })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError(`'${text}' is not JSON.`)
  }
}

function canonical({ registry }: Runtime, name: string): string {
  const [entry] = registry.candidates(name)
  if (entry === undefined)
    throw new ToolError('unknown_tool', `There is no tool '${name}'.`, { hint: 'See: kogu tools list' })
  return entry.tool.name
}

async function withRuntime<T>(context: CommandContext, work: (runtime: Runtime) => T): Promise<T> {
  const runtime = await openRuntime(context)
  try {
    return work(runtime)
  } finally {
    await runtime.close()
  }
}
