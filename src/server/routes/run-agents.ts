import { coreIdOf } from '../../agents/agent-ids.ts'
import { offeredTools } from '../../agents/agent-tools.ts'
import { ORCHESTRATION_TURNS } from '../../agents/limits.ts'
import type { RunRecord } from '../../agents/run-record.ts'
import type { ShownQuestion } from '../../core/stored-question.ts'
import { stopAgent } from '../../store/runs/stop-agent.ts'
import { listRunAgents, type RunAgent } from '../../store/tables/run-details.ts'
import { type Api, answer, body, json, route, z } from '../api.ts'
import { runShape, showRun } from '../show-run.ts'
import { type RunParts, requireRun } from './runs.ts'

const params = z.object({ id: z.uuid() })

const agent = z
  .object({
    execution_id: z.string(),
    parent_execution_id: z.string().nullable(),
    agent_id: z.string().nullable(),
    name: z.string(),
    description: z.string().nullable(),
    status: z.string(),
    stop_reason: z.string().nullable(),
    task: z.string(),
    output: z.string().nullable(),
    error: z.string().nullable(),
    tokens: z.int(),
    cost_usd: z.number().nullable(),
    calls: z.int(),
    duration_ms: z.int().nullable(),
    started_at: z.string().nullable(),
    completed_at: z.string().nullable(),
    /** Questions of its own that wait for somebody. */
    waiting: z.int(),
    /** A person wants it to end, and it has not. */
    stopping: z.boolean(),
    /** What it was told besides its task. */
    prompt: z.string().nullable(),
    /** Names of the tools that it is offered. */
    tools: z.array(z.string()),
    /** Null where there is no limit. All but the turns are for all agents of the run together. */
    limits_left: z.object({
      turns: z.int(),
      cost_usd: z.number().nullable(),
      tokens: z.int().nullable(),
      calls: z.int().nullable(),
    }),
  })
  .openapi('RunAgent')

/** The agents of a run, and what a person wants of one of them. */
export function runAgentRoutes(api: Api, { services, runtime }: RunParts): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/runs/{id}/agents',
      summary: 'The agents of a run, each with the one that made it',
      request: { params },
      responses: { 200: json(z.array(agent), 'In the order in which they began') },
    }),
    async context => {
      const opened = await services()
      const run = await requireRun(opened, context.req.valid('param').id)
      const [agents, questions] = await Promise.all([
        listRunAgents(opened.database, run.id),
        runtime.listQuestions(),
      ])
      const open = questions.filter(({ answer: given }) => given === null)
      const { agent: named, tools = named === undefined ? ('all' as const) : [] } = run.spec.authority
      const own = offeredTools(
        runtime.registry,
        { tools },
        { subAgents: run.spec.orchestration !== undefined },
      )
      const names = own.map(({ name }) => name)
      return answer(
        context,
        agents.map(each =>
          toAgent(run, each, { open, tools: each.tools ?? (each.parent === null ? names : []) }),
        ),
      )
    },
  )
  api.openapi(
    route('run', {
      method: 'post',
      path: '/api/runs/{id}/agents/{execution}/stop',
      summary: 'Stop a sub-agent and all below it; the agent above is told and goes on',
      request: { params: params.extend({ execution: z.uuid() }), body: body(z.object({})) },
      responses: { 202: json(runShape, 'The run as it stands') },
    }),
    async context => {
      const opened = await services()
      const { id, execution } = context.req.valid('param')
      const run = await requireRun(opened, id)
      await stopAgent(opened.database, { run: run.id, execution }, runtime.withdrawQuestions)
      return context.json(showRun(await requireRun(opened, run.id)), 202)
    },
  )
}

function toAgent(
  run: RunRecord,
  each: RunAgent,
  { open, tools }: { open: readonly ShownQuestion[]; tools: readonly string[] },
) {
  const core = each.parent === null ? run.id : coreIdOf(run.id, each.execution)
  return {
    execution_id: each.execution,
    parent_execution_id: each.parent,
    agent_id: each.agent,
    name: each.name ?? run.spec.agent ?? 'agent',
    description: each.description,
    ...standOf(run, each),
    task: each.task,
    output: each.output,
    error: each.error,
    tokens: each.tokens,
    cost_usd: each.costUsd,
    calls: each.calls,
    duration_ms: each.durationMs,
    started_at: each.startedAt?.toISOString() ?? null,
    completed_at: each.completedAt?.toISOString() ?? null,
    // Code inside of a call of the agent has a run of its own.
    waiting: open.filter(({ runPath }) => runPath.findLast(id => !id.startsWith('inside_')) === core).length,
    stopping: each.isStopped && each.completedAt === null,
    prompt: each.parent === null ? (run.spec.system ?? null) : each.system,
    tools,
    limits_left: limitsLeft(run, each),
  }
}

/** Nobody works for a run that stands still or was stopped, whatever it was doing then. */
function standOf(run: RunRecord, { status, stopReason, isStopped }: RunAgent) {
  if (isStopped && status === 'failed') return { status: 'cancelled', stop_reason: stopReason }
  const goesOn = status === 'running' || status === 'pending'
  return goesOn && run.status !== 'running'
    ? { status: run.status, stop_reason: run.stopReason }
    : { status, stop_reason: stopReason }
}

function limitsLeft({ spec: { limits }, costUsd, tokens, calls }: RunRecord, { parent, turns }: RunAgent) {
  const { maxTurns, maxCostUsd, maxTokens, maxCalls } = limits
  const mostTurns = parent === null ? maxTurns : Math.min(maxTurns, ORCHESTRATION_TURNS)
  const left = (most: number | undefined, used: number): number | null =>
    most === undefined ? null : Math.max(0, most - used)
  return {
    turns: Math.max(0, mostTurns - turns),
    cost_usd: left(maxCostUsd, costUsd ?? 0),
    tokens: left(maxTokens, tokens),
    calls: left(maxCalls, calls),
  }
}
