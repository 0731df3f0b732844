import type { RunSpec } from '../../agents/run-record.ts'
import { toToolError } from '../../core/errors.ts'
import { type RunWish, toRunSpec } from '../../run-spec.ts'
import { answerPlanOf } from '../../store/runs/answer-plan.ts'
import { type AgentById, requireAgentById } from '../../store/runs/find-agent.ts'
import { listExecutions } from '../../store/tables/agent-executions.ts'
import { listMessages } from '../../store/tables/agent-messages.ts'
import {
  findOrchestration,
  insertOrchestration,
  type Orchestration,
} from '../../store/tables/orchestration-runs.ts'
import { enqueueRun } from '../../store/tables/run-queue.ts'
import { findRun } from '../../store/tables/workflow-runs.ts'
import { type Api, answer, body, json, pageQuery, route, z } from '../api.ts'
import { awaitRun } from '../await-run.ts'
import { callerName, mayApprove } from '../door.ts'
import { HttpProblem } from '../problem.ts'
import type { Services } from '../services.ts'
import { executionShape, orchestrationShape, showOrchestration } from '../show-run.ts'
import type { RunParts } from './runs.ts'

const params = z.object({ id: z.uuid() })
const ask = { agent_id: z.uuid(), input: z.string().min(1) }

/** Agents at work under the names and bodies of the founding documents. */
export function executionRoutes(api: Api, parts: RunParts): void {
  executeRoutes(api, parts)
  lookRoutes(api, parts)
  orchestrateRoutes(api, parts)
  planRoutes(api, parts)
}

function executeRoutes(api: Api, parts: RunParts): void {
  const responses = {
    200: json(executionShape, 'The execution, which has ended'),
    202: json(executionShape, 'The execution, which waits for somebody; see /api/approvals'),
  }
  const find = async (id: string): Promise<AgentById> => {
    const { database, runs } = await parts.services()
    return requireAgentById(database, runs.place, id)
  }
  const execute = async (
    wish: Pick<RunWish, 'task' | 'startedBy' | 'mayApprove' | 'tools' | 'settings'>,
    agent: AgentById,
    signal: AbortSignal,
  ) => {
    const opened = await parts.services()
    const single = { ...wish, agent, orchestration: 'none', isWaitedFor: true } as const
    const spec = toRunSpec({ ...parts, runs: opened.runs }, single)
    const { id } = await opened.database.transaction(queries =>
      enqueueRun(queries, { ...opened.runs.place, spec, workflow: agent.record.workflow }),
    )
    const run = await awaitRun(opened, id, signal)
    const [execution] = await listExecutions(opened.database, { place: opened.runs.place, run: id })
    if (run.status === 'failed' && run.stopReason === 'error')
      throw new HttpProblem(502, 'llm_error', run.error ?? 'The model could not be asked.')
    return { status: run.status === 'pending' ? (202 as const) : (200 as const), execution }
  }
  api.openapi(
    route('run', {
      method: 'post',
      path: '/api/execute',
      summary: 'Let an agent answer, without any tools',
      request: { body: body(z.object(ask)) },
      responses,
    }),
    async context => {
      const { agent_id, input } = context.req.valid('json')
      const agent = await find(agent_id)
      const { status, execution } = await execute(
        { task: input, startedBy: callerName(context), tools: [] },
        agent,
        context.req.raw.signal,
      )
      return answer(context, execution, status)
    },
  )
  api.openapi(
    route('run', {
      method: 'post',
      path: '/api/execute-with-tools',
      summary: 'Let an agent work with some of its tools',
      request: {
        body: body(
          z.object({
            ...ask,
            enabled_tools: z.array(z.string().max(200)).max(200),
            tool_config: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
          }),
        ),
      },
      responses,
    }),
    async context => {
      const { agent_id, input, enabled_tools, tool_config = {} } = context.req.valid('json')
      const agent = await find(agent_id)
      const settings = Object.entries(tool_config).map(([tool, config]) => ({ tool, enabled: true, config }))
      const wish = {
        ...{ task: input, startedBy: callerName(context) },
        ...{ tools: enabled_tools, settings, mayApprove: mayApprove(context) },
      }
      const { status, execution } = await execute(wish, agent, context.req.raw.signal)
      return answer(context, execution, status)
    },
  )
}

function lookRoutes(api: Api, { services }: RunParts): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/executions',
      summary: 'Executions of this workspace, newest first',
      request: {
        query: pageQuery.extend({
          cursor: z.uuid().optional(),
          run: z.uuid().optional(),
          agent_id: z.uuid().optional(),
        }),
      },
      responses: {
        200: json(z.object({ items: z.array(executionShape), next: z.string().nullable() }), 'A page'),
      },
    }),
    async context => {
      const { limit, cursor, run, agent_id } = context.req.valid('query')
      const { database, runs } = await services()
      const items = await listExecutions(database, {
        place: runs.place,
        limit,
        ...(cursor === undefined ? {} : { before: cursor }),
        ...(run === undefined ? {} : { run }),
        ...(agent_id === undefined ? {} : { agent: agent_id }),
      })
      return answer(context, { items, next: items.length < limit ? null : (items.at(-1)?.id ?? null) })
    },
  )
  const find = async (id: string) => {
    const { database, runs } = await services()
    const [found] = await listExecutions(database, { place: runs.place, id })
    if (found === undefined) throw new HttpProblem(404, 'not_found', 'There is no such execution.')
    return found
  }
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/executions/{id}',
      summary: 'One execution',
      request: { params },
      responses: { 200: json(executionShape, 'The execution') },
    }),
    async context => answer(context, await find(context.req.valid('param').id)),
  )
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/executions/{id}/messages',
      summary: 'The conversation of an execution',
      request: { params },
      responses: {
        200: json(
          z.array(z.object({ role: z.string(), content: z.unknown(), sequence_order: z.int() })),
          'In order',
        ),
      },
    }),
    async context => {
      const { id } = await find(context.req.valid('param').id)
      const messages = await listMessages((await services()).database, id)
      return answer(
        context,
        messages.map((message, index) => ({ ...message, sequence_order: index })),
      )
    },
  )
}

function orchestrateRoutes(api: Api, parts: RunParts): void {
  api.openapi(
    route('run', {
      method: 'post',
      path: '/api/orchestrate',
      summary: 'Let an agent plan and work in the background',
      request: { body: body(z.object({ ...ask, mode: z.string().max(100) })) },
      responses: { 202: json(orchestrationShape, 'The orchestration, which has begun') },
    }),
    async context => {
      const { agent_id, input, mode } = context.req.valid('json')
      if (mode !== 'automatic' && mode !== 'approval') {
        throw new HttpProblem(
          400,
          'invalid_input',
          `Invalid orchestration mode '${mode}'. Must be 'automatic' or 'approval'.`,
        )
      }
      const opened = await parts.services()
      const agent = await requireAgentById(opened.database, opened.runs.place, agent_id)
      const spec = toRunSpec(
        { ...parts, runs: opened.runs },
        {
          ...{ task: input, startedBy: callerName(context), mayApprove: mayApprove(context) },
          ...{ agent, orchestration: mode },
        },
      )
      const id = await begin(opened, spec, agent.record, mode)
      return answer(context, showOrchestration(await requireOrchestration(opened, id)), 202)
    },
  )
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/orchestrate/{id}',
      summary: 'How an orchestration stands',
      request: { params },
      responses: { 200: json(orchestrationShape, 'The orchestration') },
    }),
    async context => {
      const found = await requireOrchestration(await parts.services(), context.req.valid('param').id)
      return answer(context, showOrchestration(found))
    },
  )
}

/** Run, execution and orchestration, all or none. */
function begin(
  { database, runs }: Services,
  spec: RunSpec,
  agent: AgentById['record'],
  mode: Orchestration['mode'],
): Promise<string> {
  return database.transaction(async queries => {
    const { id, execution } = await enqueueRun(queries, { ...runs.place, spec, workflow: agent.workflow })
    return insertOrchestration(queries, { agent: agent.id, run: id, execution, mode })
  })
}

function planRoutes(api: Api, { services }: RunParts): void {
  const decide = (verb: 'approve' | 'reject', summary: string): void => {
    api.openapi(
      route('approve', {
        method: 'post',
        path: `/api/orchestrate/{id}/${verb}`,
        summary,
        request: { params, body: body(z.object({})) },
        responses: { 200: json(orchestrationShape, 'The orchestration') },
      }),
      async context => {
        const opened = await services()
        const found = await requireOrchestration(opened, context.req.valid('param').id)
        const wanted = { verdict: verb, user: callerName(context), isQueued: true }
        await answerPlanOf(opened.database, found.run, wanted).catch((error: unknown) => {
          const { code, message } = toToolError(error)
          // As the founding documents have it.
          throw code === 'conflict' ? new HttpProblem(400, 'invalid_input', message) : error
        })
        return answer(context, showOrchestration(await requireOrchestration(opened, found.id)))
      },
    )
  }
  decide('approve', 'Carry out the plan; what its calls need is still asked')
  decide('reject', 'Reject the plan')
}

async function requireOrchestration(opened: Services, id: string): Promise<Orchestration> {
  const found = await findOrchestration(opened.database, id)
  const run = found && (await findRun(opened.database, found.run, opened.runs.place))
  // One of another workspace is as if there were none.
  if (found === undefined || run === undefined)
    throw new HttpProblem(404, 'not_found', 'There is no such orchestration.')
  return found
}
