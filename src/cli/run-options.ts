import { readOnlyTools } from '../agents/agent-tools.ts'
import type { RunLimits } from '../agents/limits.ts'
import type { RunSpec } from '../agents/run-record.ts'
import type { LoadedConfig } from '../config/load.ts'
import { parseDuration } from '../config/values.ts'
import type { AuthorityWish } from '../core/authority.ts'
import { lastingId } from '../models.ts'
import { type CommandContext, countOption, textOption, UsageError } from './command.ts'
import type { RunSession } from './run-session.ts'

const ORCHESTRATIONS = ['none', 'automatic', 'approval'] as const

/** What a command line asks for, with the configuration's limits. */
export async function readRunSpec(
  context: CommandContext,
  task: string,
  session: RunSession,
): Promise<RunSpec> {
  const { values } = context
  const { loaded, runs } = session
  const model = runs.models.find(modelOption(context))
  const limits = readLimits(context, loaded)
  if (limits.maxCostUsd !== undefined && model.price === null && values['max-cost'] !== undefined) {
    throw new UsageError(
      `The price of '${model.id}' is not known, so --max-cost cannot be kept.`,
      'Use --max-tokens, or say its price: [providers.NAME.models."MODEL"] price = { input = …, output = … }',
    )
  }
  const { temperature, max_tokens: maxTokens } = loaded.config.defaults
  return {
    task,
    model: lastingId(model.id, loaded.workspace.cwd),
    authority: readAuthority(context, session),
    limits,
    orchestration: readOrchestration(context),
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
  }
}

export function modelOption({ values }: CommandContext): string | undefined {
  const replay = textOption(values, 'replay')
  return replay === undefined ? textOption(values, 'model') : `rehearsal:${replay}`
}

function readAuthority({ values }: CommandContext, { runtime, loaded }: RunSession): AuthorityWish {
  const tools = textOption(values, 'tools')
  return {
    mode: loaded.config.mode,
    ...(tools === undefined
      ? {}
      : { tools: tools === 'read-only' ? readOnlyTools(runtime.registry) : toNames(tools, runtime) }),
  }
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

function readOrchestration({ values }: CommandContext): RunSpec['orchestration'] {
  const text = textOption(values, 'orchestration') ?? 'none'
  const found = ORCHESTRATIONS.find(name => name === text)
  if (found !== undefined) return found
  throw new UsageError(`Invalid orchestration mode '${text}'. Must be 'none', 'automatic' or 'approval'.`)
}

export function readLimits(context: CommandContext, { config }: Pick<LoadedConfig, 'config'>): RunLimits {
  const { values } = context
  const { max_turns, max_cost, max_tokens, max_time } = config.limits
  const cost = moneyOption(context, 'max-cost') ?? max_cost
  const tokens = countOption(values, 'max-tokens') ?? max_tokens
  return {
    maxTurns: countOption(values, 'max-turns') ?? max_turns,
    maxTimeMs: timeOption(context, 'max-time') ?? max_time,
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

function timeOption({ values }: CommandContext, name: string): number | undefined {
  const text = textOption(values, name)
  if (text === undefined) return undefined
  const ms = parseDuration(text)
  if (ms === undefined) throw new UsageError(`--${name} takes a time such as 90s, 10m or 2h, not '${text}'.`)
  return ms
}
