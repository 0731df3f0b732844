import { agentAuthority, type ToolSetting } from './agents/agent-authority.ts'
import type { AgentRecord } from './agents/agent-record.ts'
import { readOnlyTools } from './agents/agent-tools.ts'
import { firstRaised, ORCHESTRATION_TURNS, PANEL_TURNS, type RunLimits } from './agents/limits.ts'
import type { Model } from './agents/model.ts'
import { narrowSettings } from './agents/narrow-settings.ts'
import type { AiPanel } from './agents/panel.ts'
import type { RunSpec } from './agents/run-record.ts'
import type { LoadedConfig } from './config/load.ts'
import { type AuthorityWish, stricterMode } from './core/authority.ts'
import { ToolError } from './core/errors.ts'
import { lastingId } from './models.ts'
import type { Runs } from './runs.ts'
import type { Runtime } from './runtime.ts'
import type { Database } from './store/database/database.ts'
import { requireAgentById } from './store/runs/find-agent.ts'

/** What somebody asks for, through whichever door. */
export interface RunWish {
  readonly task: string
  /** The door that it came through, with who is known there. */
  readonly startedBy: string
  readonly agent?: {
    readonly record: AgentRecord
    readonly tools: readonly ToolSetting[]
    readonly panel?: AiPanel
  }
  /** The file that the agent comes from, for what only the file says; otherwise that of the agent itself. */
  readonly panel?: AiPanel
  readonly model?: string
  /** A request stays open until it has answered: few turns, unless its panel says how many. */
  readonly isWaitedFor?: true
  /** Of those the agent has; without an agent, of all. */
  readonly tools?: 'read-only' | readonly string[]
  /** Of some of its tools; they can only narrow what the agent has. */
  readonly settings?: readonly ToolSetting[]
  readonly mode?: RunSpec['authority']['mode']
  readonly limits?: Partial<RunLimits>
  /** Otherwise as the panel says, or `[defaults]`. */
  readonly orchestration?: AiPanel['orchestration']
  /** Whoever asks may approve: limits may be above those of the panel or the configuration, and its plan go unseen. */
  readonly mayApprove?: boolean
}

interface SpecParts {
  readonly loaded: LoadedConfig
  readonly runtime: Pick<Runtime, 'registry'>
  readonly runs: Pick<Runs, 'models'>
}

/**
 * The one function that says what a run is: for the command line, HTTP and pipelines alike. An agent has what its settings
 * say, a panel what its file says, and a wish can only narrow that. Limits of a wish take the place of theirs; above them they
 * are only for who may approve.
 */
export function toRunSpec({ loaded, runtime, runs }: SpecParts, given: RunWish): RunSpec {
  const { agent, panel = agent?.panel } = given
  const wish = panel === undefined ? given : { ...given, panel }
  const { config, workspace } = loaded
  const model = runs.models.find(wish.model ?? modelOf(wish))
  const own = withSettings(authorityOf(wish, runtime), wish, loaded, runtime)
  // The one place where it is decided, for every door: a wish may leave out a plan only where its door may approve.
  const setting = panel?.orchestration ?? config.defaults.orchestration
  const orchestration = wish.orchestration ?? setting
  if (setting === 'approval' && orchestration !== 'approval') requirePlan(wish)
  const limits = limitsOf(wish, loaded, orchestration)
  requirePrice(model, limits, config.limits.budget)
  // The row of a panel has the table's defaults where the file says nothing.
  const settings = panel ?? agent?.record
  const temperature = settings?.temperature ?? config.defaults.temperature
  const maxTokens = settings?.maxTokens ?? config.defaults.max_tokens
  const system = settings?.system ?? undefined
  return {
    task: checkTask(wish.task),
    startedBy: wish.startedBy,
    model: lastingId(model.id, workspace.cwd),
    authority: {
      ...own,
      ...narrowTools(runtime, own, wish.tools),
      mode: stricterMode(wish.mode ?? config.mode, own.mode),
    },
    limits,
    ...(orchestration === 'none' ? {} : { orchestration }),
    ...(agent === undefined ? {} : { agent: agent.record.name, agentId: agent.record.id }),
    ...(system === undefined ? {} : { system }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
  }
}

/** What a door says about a run that is started again. */
export type AgainWish = Pick<RunWish, 'mayApprove' | 'mode'> & Partial<Pick<RunWish, 'startedBy'>>

/** The specification of a run that is started again, through whichever door. */
export async function findRunSpecAgain(
  parts: SpecParts & { readonly runs: Pick<Runs, 'place'>; readonly database: Database },
  spec: RunSpec,
  wish: AgainWish,
): Promise<RunSpec> {
  const { database, runs } = parts
  if (spec.agentId === undefined) return toRunSpecAgain(parts, spec, wish)
  const agent = await requireAgentById(database, runs.place, spec.agentId)
  return toRunSpecAgain(parts, spec, { ...wish, agent })
}

/** The same again, as if it were asked for now: somebody may have taken something from its agent, or lowered a limit. */
export function toRunSpecAgain(
  parts: SpecParts,
  spec: RunSpec,
  { agent, mayApprove = false, mode: wanted, startedBy }: AgainWish & Pick<RunWish, 'agent'>,
): RunSpec {
  const { tools, mode: begun } = spec.authority
  // The mode of an agent's run is the agent's; any other one has the mode that the person wants now.
  const mode = agent === undefined ? (wanted ?? begun) : begun
  const { onLimit: _, ...wished } = spec.limits
  const isThere = (name: string): boolean => parts.runtime.registry.candidates(name).length > 0
  const { authority, limits } = toRunSpec(parts, {
    ...{ task: spec.task, startedBy: '', model: spec.model, limits: wished, mayApprove },
    orchestration: spec.orchestration ?? 'none',
    ...(agent === undefined ? {} : { agent }),
    ...(tools === undefined || tools === 'all' ? {} : { tools: tools.filter(isThere) }),
    ...(mode === undefined ? {} : { mode }),
  })
  const own = mode === undefined ? spec.authority : { ...spec.authority, mode }
  return {
    ...spec,
    ...(startedBy === undefined ? {} : { startedBy }),
    limits,
    authority: agent === undefined ? own : authority,
  }
}

function modelOf({ agent, panel }: RunWish): string | undefined {
  if (panel !== undefined) return panel.model
  if (agent === undefined) return undefined
  const { provider, model } = agent.record
  // A rehearsal is kept as a provider's name and a file.
  return provider === 'rehearsal' ? `rehearsal:${model}` : `${provider}/${model}`
}

function authorityOf({ agent, panel }: RunWish, { registry }: Pick<Runtime, 'registry'>): AuthorityWish {
  if (agent === undefined) return {}
  return agentAuthority({
    agent: agent.record.name,
    tools: agent.tools,
    canonicalTool: name => registry.candidates(name)[0]?.tool.name ?? name,
    ...(panel?.mode === undefined ? {} : { mode: panel.mode }),
  })
}

function withSettings(
  own: AuthorityWish,
  { settings = [] }: RunWish,
  { workspace }: LoadedConfig,
  { registry }: Pick<Runtime, 'registry'>,
): AuthorityWish {
  if (settings.length === 0) return own
  for (const { tool } of settings) requireTool(registry, tool)
  return narrowSettings(own, settings, workspace.root)
}

function requireTool(registry: Runtime['registry'], name: string): string {
  const [entry] = registry.candidates(name)
  if (entry !== undefined) return entry.tool.name
  throw new ToolError('invalid_input', `There is no tool '${name}'.`, { hint: 'See: kogu tools list' })
}

function limitsOf(
  wish: RunWish,
  { config: { limits } }: LoadedConfig,
  orchestration: NonNullable<AiPanel['orchestration']>,
): RunLimits {
  const { panel } = wish
  const own: RunLimits = {
    maxTurns: turnsOf(wish, limits.max_turns, orchestration !== 'none'),
    maxTimeMs: panel?.maxTimeMs ?? limits.max_time,
    ...(limits.max_cost === undefined ? {} : { maxCostUsd: limits.max_cost }),
    ...(limits.max_tokens === undefined ? {} : { maxTokens: limits.max_tokens }),
    ...(limits.max_calls === undefined ? {} : { maxCalls: limits.max_calls }),
    ...(panel?.maxCostUsd === undefined ? {} : { maxCostUsd: panel.maxCostUsd }),
    // A panel comes with the repository, and cannot loosen what the configuration says.
    onLimit: limits.on_limit === 'stop' ? 'stop' : (panel?.onLimit ?? 'ask'),
  }
  const given = wish.limits ?? {}
  // Turns that nobody has set are few, and not a limit of anybody's.
  const most = { ...own, maxTurns: panel?.maxTurns ?? limits.max_turns }
  const raised = firstRaised(most, given)
  if (raised !== undefined && wish.mayApprove !== true)
    throw new ToolError(
      'forbidden',
      `${raised.name} ${raised.wished} is above ${raised.own}, which the panel or the configuration sets.`,
      { hint: `Ask for at most ${raised.own}. Raising it needs the scope approve.` },
    )
  return { ...own, ...given }
}

/** What shows its plan to a person first does so whoever starts it. Without tools there is nothing to plan. */
function requirePlan({ tools, mayApprove }: RunWish): void {
  if (mayApprove === true || tools?.length === 0) return
  throw new ToolError(
    'forbidden',
    'Its plan is approved before it begins (orchestration = "approval" in the panel or in [defaults]).',
    {
      hint: 'Start it with POST /api/runs or with the mode approval. Skipping the plan needs the scope approve.',
    },
  )
}

/** Whoever merges the work of others needs more turns than one agent does, but not any number. */
function turnsOf({ panel, isWaitedFor }: RunWish, configured: number, orchestrates: boolean): number {
  if (panel?.maxTurns !== undefined) return panel.maxTurns
  if (orchestrates) return Math.min(configured, ORCHESTRATION_TURNS)
  return isWaitedFor === true ? Math.min(configured, PANEL_TURNS) : configured
}

/** A limit of money that cannot be kept is worse than none: somebody relies on it. */
export function requirePrice(
  model: Pick<Model, 'id' | 'price'>,
  { maxCostUsd }: Partial<RunLimits>,
  budget: { readonly day?: number | undefined; readonly month?: number | undefined } = {},
): void {
  if (model.price !== null) return
  const limit =
    maxCostUsd !== undefined
      ? 'max_cost'
      : budget.day !== undefined || budget.month !== undefined
        ? 'limits.budget'
        : undefined
  if (limit === undefined) return
  throw new ToolError(
    'invalid_input',
    `The price of '${model.id}' is unknown, so ${limit} cannot be enforced.`,
    {
      hint: 'Set its price: [providers.NAME.models."MODEL"] price = { input = 0.0, output = 0.0 }, or use max_tokens instead.',
    },
  )
}

const MOST_INPUT = 200_000

function checkTask(task: string): string {
  const bytes = Buffer.byteLength(task)
  if (bytes > MOST_INPUT)
    throw new ToolError(
      'invalid_input',
      `Input text too long (${bytes} bytes). Maximum is ${MOST_INPUT} bytes.`,
      { hint: 'Put it into a file of the workspace and name the file.' },
    )
  if (task.trim() === '') throw new ToolError('invalid_input', 'The task is empty.')
  return task
}

function narrowTools(
  { registry }: Pick<Runtime, 'registry'>,
  own: AuthorityWish,
  tools: RunWish['tools'],
): AuthorityWish {
  if (tools === undefined) return {}
  const wanted =
    tools === 'read-only' ? readOnlyTools(registry) : tools.map(name => requireTool(registry, name))
  const all = own.tools
  return { tools: all === undefined || all === 'all' ? wanted : wanted.filter(name => all.includes(name)) }
}
