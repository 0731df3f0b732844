import { agentAuthority } from '../agents/agent-authority.ts'
import { readOnlyTools } from '../agents/agent-tools.ts'
import { ORCHESTRATION_TURNS, PANEL_TURNS, type RunLimits } from '../agents/limits.ts'
import { fillPrompt } from '../agents/panel.ts'
import type { RunSpec } from '../agents/run-record.ts'
import type { LoadedConfig } from '../config/load.ts'
import type { AuthorityWish } from '../core/authority.ts'
import { lastingId } from '../models.ts'
import { type CommandContext, countOption, textOption, UsageError } from './command.ts'
import { readDuration } from './read-time.ts'
import type { RunSession } from './run-session.ts'

const ORCHESTRATIONS = ['none', 'automatic', 'approval'] as const
type OrchestrationOption = (typeof ORCHESTRATIONS)[number]

/** What a command line asks for, with the limits of the configuration and the settings of the agent. */
export async function readRunSpec(
  context: CommandContext,
  task: string,
  session: RunSession,
): Promise<RunSpec> {
  const { values } = context
  const { loaded, runs } = session
  const chosen = await readAgent(context, session, task)
  const model = runs.models.find(modelOption(context) ?? chosen.model)
  const orchestration =
    readOrchestration(context) ?? chosen.orchestration ?? loaded.config.defaults.orchestration
  const limits = {
    ...readLimits(context, loaded),
    ...chosen.limits,
    ...orchestratorTurns(orchestration, loaded, chosen),
    ...givenLimits(context, loaded),
  }
  if (limits.maxCostUsd !== undefined && model.price === null && values['max-cost'] !== undefined) {
    throw new UsageError(
      `The price of '${model.id}' is unknown, so --max-cost cannot be enforced.`,
      'Use --max-tokens, or say its price: [providers.NAME.models."MODEL"] price = { input = …, output = … }',
    )
  }
  const { defaults } = loaded.config
  const temperature = chosen.temperature ?? defaults.temperature
  const maxTokens = chosen.maxTokens ?? defaults.max_tokens
  return {
    task: chosen.task,
    model: lastingId(model.id, loaded.workspace.cwd),
    authority: readAuthority(context, session, chosen.authority),
    limits,
    ...(orchestration === 'none' ? {} : { orchestration }),
    ...(chosen.agent === undefined ? {} : { agent: chosen.agent, agentId: chosen.agentId }),
    ...(chosen.system === undefined ? {} : { system: chosen.system }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
  }
}

interface Chosen {
  readonly task: string
  readonly agent?: string
  readonly agentId?: string
  readonly model?: string
  readonly system?: string
  readonly temperature?: number
  readonly maxTokens?: number
  readonly limits: Partial<RunLimits>
  /** As the panel itself says. */
  readonly panelTurns?: number
  readonly orchestration?: OrchestrationOption | undefined
  readonly authority: AuthorityWish
}

/** Without an agent the run has what the person has; with one, what its settings say. */
async function readAgent(context: CommandContext, session: RunSession, task: string): Promise<Chosen> {
  const { values } = context
  const panelName = textOption(values, 'panel')
  const agentName = textOption(values, 'agent')
  if (panelName === undefined && agentName === undefined) {
    return { task, limits: {}, authority: {} }
  }
  if (panelName !== undefined && agentName !== undefined)
    throw new UsageError('Name a panel or an agent, not both.')
  const { readPanel, requireAgent, requirePanelAgent } = await import('../store/runs/find-agent.ts')
  const { workflowFor } = await import('./workflow-for.ts')
  const { workspace, registry } = session.runtime
  const workflow = await workflowFor(context, session.database, workspace)
  const panel = panelName === undefined ? undefined : readPanel(workspace, panelName)
  const { agent, tools } =
    panel === undefined
      ? await requireAgent(session.database, workflow, agentName ?? '')
      : await requirePanelAgent(session.database, workflow, panel)
  if (panel === undefined && agent.sourcePath !== null) {
    throw new UsageError(`'${agent.name}' is a panel.`, `Use: --panel ${agent.name}`)
  }
  const model = panel === undefined ? `${agent.provider}/${agent.model}` : panel.model
  return {
    task: panel === undefined ? task : fillPrompt(panel, task, readVariables(context)),
    agent: agent.name,
    agentId: agent.id,
    ...(model === undefined ? {} : { model }),
    ...(agent.system === null ? {} : { system: agent.system }),
    temperature: agent.temperature,
    maxTokens: agent.maxTokens,
    orchestration: panel?.orchestration,
    ...(panel?.maxTurns === undefined ? {} : { panelTurns: panel.maxTurns }),
    limits: {
      maxTurns: panel?.maxTurns ?? PANEL_TURNS,
      ...(panel?.maxCostUsd === undefined ? {} : { maxCostUsd: panel.maxCostUsd }),
    },
    authority: agentAuthority({
      agent: agent.name,
      tools,
      canonicalTool: name => registry.candidates(name)[0]?.tool.name ?? name,
      ...(panel?.mode === undefined ? {} : { mode: panel.mode }),
    }),
  }
}

function readVariables({ values }: CommandContext): Record<string, string> {
  const given = Array.isArray(values.var) ? values.var.map(String) : []
  return Object.fromEntries(
    given.map(text => {
      const equals = text.indexOf('=')
      if (equals < 1) throw new UsageError('--var takes NAME=VALUE.')
      return [text.slice(0, equals), text.slice(equals + 1)]
    }),
  )
}

export function modelOption({ values }: CommandContext): string | undefined {
  const replay = textOption(values, 'replay')
  return replay === undefined ? textOption(values, 'model') : `rehearsal:${replay}`
}

function readAuthority(
  { values }: CommandContext,
  { runtime, loaded }: RunSession,
  agent: AuthorityWish,
): AuthorityWish {
  const tools = textOption(values, 'tools')
  if (tools === undefined) return { mode: loaded.config.mode, ...agent }
  const wanted = tools === 'read-only' ? readOnlyTools(runtime.registry) : toNames(tools, runtime)
  const own = agent.tools
  // Of an agent's tools, and never more than those.
  const allowed = own === undefined || own === 'all' ? wanted : wanted.filter(name => own.includes(name))
  return { mode: loaded.config.mode, ...agent, tools: allowed }
}

function toNames(text: string, { registry }: RunSession['runtime']): string[] {
  return text
    .split(',')
    .map(name => name.trim())
    .filter(name => name !== '')
    .map(name => {
      const [entry] = registry.candidates(name)
      if (entry === undefined) throw new UsageError(`There is no tool '${name}'.`, 'See: kogu tools list')
      return entry.tool.name
    })
}

function readOrchestration({ values }: CommandContext): OrchestrationOption | undefined {
  const text = textOption(values, 'orchestration')
  if (text === undefined) return undefined
  const found = ORCHESTRATIONS.find(name => name === text)
  if (found !== undefined) return found
  throw new UsageError(`Invalid orchestration mode '${text}'. Must be 'none', 'automatic' or 'approval'.`)
}

/** Whoever merges the work of others needs more turns than one agent does, but not any number. */
function orchestratorTurns(
  orchestration: OrchestrationOption,
  { config }: LoadedConfig,
  { panelTurns }: Chosen,
): Partial<RunLimits> {
  if (orchestration === 'none') return {}
  return { maxTurns: panelTurns ?? Math.min(config.limits.max_turns, ORCHESTRATION_TURNS) }
}

/** Only what was said on the command line: it counts for more than what a panel says. */
function givenLimits(context: CommandContext, loaded: LoadedConfig): Partial<RunLimits> {
  const all = readLimits(context, loaded)
  const given = (name: string): boolean => context.values[name] !== undefined
  return {
    ...(given('max-turns') ? { maxTurns: all.maxTurns } : {}),
    ...(given('max-cost') && all.maxCostUsd !== undefined ? { maxCostUsd: all.maxCostUsd } : {}),
    ...(given('max-tokens') && all.maxTokens !== undefined ? { maxTokens: all.maxTokens } : {}),
  }
}

export function readLimits(context: CommandContext, { config }: Pick<LoadedConfig, 'config'>): RunLimits {
  const { values } = context
  const { max_turns, max_cost, max_tokens, max_time } = config.limits
  const cost = moneyOption(context, 'max-cost') ?? max_cost
  const tokens = countOption(values, 'max-tokens') ?? max_tokens
  return {
    maxTurns: countOption(values, 'max-turns') ?? max_turns,
    maxTimeMs: readDuration(values, 'max-time') ?? max_time,
    ...(cost === undefined ? {} : { maxCostUsd: cost }),
    ...(tokens === undefined ? {} : { maxTokens: tokens }),
  }
}

function moneyOption({ values }: CommandContext, name: string): number | undefined {
  const text = textOption(values, name)
  if (text === undefined) return undefined
  if (!/^\$?\d+(\.\d+)?$/.test(text))
    throw new UsageError(`--${name} takes an amount in USD such as 0.50, not '${text}'.`)
  return Number(text.replace('$', ''))
}
