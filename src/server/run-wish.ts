import { agentAuthority, type ToolSetting } from '../agents/agent-authority.ts'
import type { AgentRecord } from '../agents/agent-record.ts'
import { readOnlyTools } from '../agents/agent-tools.ts'
import { ORCHESTRATION_TURNS, PANEL_TURNS, type RunLimits } from '../agents/limits.ts'
import type { Panel } from '../agents/panel.ts'
import type { RunSpec } from '../agents/run-record.ts'
import type { LoadedConfig } from '../config/load.ts'
import type { AuthorityWish } from '../core/authority.ts'
import { ToolError } from '../core/errors.ts'
import { lastingId } from '../models.ts'
import type { Runs } from '../runs.ts'
import type { Runtime } from '../runtime.ts'

/** What a request asks for. */
export interface RunWish {
  readonly task: string
  readonly agent?: { readonly record: AgentRecord; readonly tools: readonly ToolSetting[] }
  /** The file that the agent comes from, for what only the file says. */
  readonly panel?: Panel
  readonly model?: string
  /** Of those the agent has; without an agent, of all. */
  readonly tools?: 'read-only' | readonly string[]
  readonly mode?: RunSpec['authority']['mode']
  readonly limits?: Partial<RunLimits>
  /** It may make and run sub-agents. */
  readonly orchestrates?: boolean
  readonly system?: string
}

export interface WishParts {
  readonly loaded: LoadedConfig
  readonly runtime: Runtime
  readonly runs: Pick<Runs, 'models'>
}

/** The same rules as `kogu run`: an agent has what its settings say, and a request can only narrow that. */
export function toRunSpec({ loaded, runtime, runs }: WishParts, wish: RunWish): RunSpec {
  const { agent, panel } = wish
  const { limits, defaults, mode } = loaded.config
  const ofAgent = agent === undefined ? undefined : `${agent.record.provider}/${agent.record.model}`
  const id = wish.model ?? (panel === undefined ? ofAgent : panel.model)
  // Rehearsals are kept as they were named: the provider's name and the file.
  const model = runs.models.find(id?.replace(/^rehearsal\//, 'rehearsal:'))
  const temperature = agent?.record.temperature ?? defaults.temperature
  const maxTokens = agent?.record.maxTokens ?? defaults.max_tokens
  const system = wish.system ?? agent?.record.system ?? undefined
  const own: AuthorityWish =
    agent === undefined
      ? {}
      : agentAuthority({
          agent: agent.record.name,
          tools: agent.tools,
          canonicalTool: name => runtime.registry.candidates(name)[0]?.tool.name ?? name,
          ...(panel?.mode === undefined ? {} : { mode: panel.mode }),
        })
  const orchestration = orchestrationOf(wish)
  return {
    task: wish.task,
    model: lastingId(model.id, loaded.workspace.cwd),
    authority: { mode: wish.mode ?? mode, ...own, ...narrowTools(runtime, own, wish.tools) },
    limits: {
      maxTurns: turnsOf(wish, limits.max_turns, orchestration),
      maxTimeMs: limits.max_time,
      ...(limits.max_cost === undefined ? {} : { maxCostUsd: limits.max_cost }),
      ...(limits.max_tokens === undefined ? {} : { maxTokens: limits.max_tokens }),
      ...(panel?.maxCostUsd === undefined ? {} : { maxCostUsd: panel.maxCostUsd }),
      ...wish.limits,
    },
    ...(orchestration === undefined ? {} : { orchestration }),
    ...(agent === undefined ? {} : { agent: agent.record.name, agentId: agent.record.id }),
    ...(system === undefined ? {} : { system }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
  }
}

function orchestrationOf({ orchestrates, panel }: RunWish): RunSpec['orchestration'] {
  if (orchestrates === true) return 'automatic'
  return panel?.orchestration === 'none' ? undefined : panel?.orchestration
}

function turnsOf(
  { agent, panel }: RunWish,
  configured: number,
  orchestration: RunSpec['orchestration'],
): number {
  if (panel?.maxTurns !== undefined) return panel.maxTurns
  if (orchestration !== undefined) return Math.min(configured, ORCHESTRATION_TURNS)
  return agent === undefined ? configured : PANEL_TURNS
}

function narrowTools({ registry }: Runtime, own: AuthorityWish, tools: RunWish['tools']): AuthorityWish {
  if (tools === undefined) return {}
  const wanted =
    tools === 'read-only'
      ? readOnlyTools(registry)
      : tools.map(name => {
          const [entry] = registry.candidates(name)
          if (entry === undefined) throw new ToolError('invalid_input', `There is no tool '${name}'.`)
          return entry.tool.name
        })
  const all = own.tools
  return { tools: all === undefined || all === 'all' ? wanted : wanted.filter(name => all.includes(name)) }
}
