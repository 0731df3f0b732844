import type { RunLimits } from '../agents/limits.ts'
import { fillPanel } from '../agents/panel.ts'
import type { RunSpec } from '../agents/run-record.ts'
import { type RunWish, toRunSpec } from '../run-spec.ts'
import { type CommandContext, countOption, textOption, UsageError } from './command.ts'
import { readDuration } from './read-time.ts'
import type { RunSession } from './run-session.ts'

const ORCHESTRATIONS = ['none', 'automatic', 'approval'] as const

/** What a command line asks for. */
export async function readRunSpec(
  context: CommandContext,
  task: string,
  session: RunSession,
): Promise<RunSpec> {
  const model = modelOption(context)
  const tools = textOption(context.values, 'tools')
  const orchestration = readOrchestration(context)
  return toRunSpec(session, {
    ...(await readAgent(context, session, task)),
    startedBy: 'cli',
    limits: givenLimits(context),
    mayApprove: true,
    ...(model === undefined ? {} : { model }),
    ...(tools === undefined ? {} : { tools: tools === 'read-only' ? tools : splitNames(tools) }),
    ...(orchestration === undefined ? {} : { orchestration }),
  })
}

/** Without an agent the run has what the person has; with one, what its settings say. */
async function readAgent(
  context: CommandContext,
  session: RunSession,
  task: string,
): Promise<Pick<RunWish, 'task' | 'agent' | 'panel'>> {
  const { values } = context
  const panelName = textOption(values, 'panel')
  const agentName = textOption(values, 'agent')
  if (panelName === undefined && agentName === undefined) return { task }
  if (panelName !== undefined && agentName !== undefined)
    throw new UsageError('Use either --panel or --agent, not both.')
  const { readPanel, requireAgent, requirePanelAgent } = await import('../store/runs/find-agent.ts')
  const { workflowFor } = await import('./workflow-for.ts')
  const { workspace } = session.runtime
  const workflow = await workflowFor(context, session.database, workspace)
  if (panelName !== undefined) {
    const found = readPanel(workspace, panelName)
    const { agent, tools, panel } = await requirePanelAgent(session.database, workflow, found)
    return { task: fillPanel(panel, task, readVariables(context)), panel, agent: { record: agent, tools } }
  }
  const { agent, tools } = await requireAgent(session.database, workflow, agentName ?? '')
  if (agent.sourcePath !== null)
    throw new UsageError(`'${agent.name}' is a panel.`, `Use: --panel ${agent.name}`)
  return { task, agent: { record: agent, tools } }
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

function splitNames(text: string): string[] {
  return text
    .split(',')
    .map(name => name.trim())
    .filter(name => name !== '')
}

function readOrchestration({ values }: CommandContext): (typeof ORCHESTRATIONS)[number] | undefined {
  const text = textOption(values, 'orchestration')
  if (text === undefined) return undefined
  const found = ORCHESTRATIONS.find(name => name === text)
  if (found !== undefined) return found
  throw new UsageError(`Invalid orchestration mode '${text}'. Must be 'none', 'automatic' or 'approval'.`)
}

/** Only what was said on the command line: it counts for more than what a panel or the configuration says. */
export function givenLimits(context: CommandContext): Partial<RunLimits> {
  const { values } = context
  const maxTurns = countOption(values, 'max-turns')
  const maxCostUsd = moneyOption(context, 'max-cost')
  const maxTokens = countOption(values, 'max-tokens')
  const maxTimeMs = readDuration(values, 'max-time')
  const maxCalls = countOption(values, 'max-calls')
  return {
    ...(maxTurns === undefined ? {} : { maxTurns }),
    ...(maxCostUsd === undefined ? {} : { maxCostUsd }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(maxTimeMs === undefined ? {} : { maxTimeMs }),
    ...(maxCalls === undefined ? {} : { maxCalls }),
  }
}

function moneyOption({ values }: CommandContext, name: string): number | undefined {
  const text = textOption(values, name)
  if (text === undefined) return undefined
  if (!/^\$?\d+(\.\d+)?$/.test(text))
    throw new UsageError(`--${name} takes an amount in USD such as 0.50, not '${text}'.`)
  return Number(text.replace('$', ''))
}
