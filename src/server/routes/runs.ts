import { hash, randomUUID } from 'node:crypto'
import { twice } from '../../agents/limits.ts'
import { fillPanel } from '../../agents/panel.ts'
import type { RunRecord } from '../../agents/run-record.ts'
import type { LoadedConfig } from '../../config/load.ts'
import { findRunSpecAgain, type RunWish, toRunSpec } from '../../run-spec.ts'
import type { Runtime } from '../../runtime.ts'
import { readPanel, requireAgentById, requirePanelAgent } from '../../store/runs/find-agent.ts'
import { say } from '../../store/runs/say-to-run.ts'
import { stopRun } from '../../store/runs/stop-run.ts'
import { countsOfRuns } from '../../store/tables/run-details.ts'
import { insertWorkspaceEvents } from '../../store/tables/run-events.ts'
import { enqueueSafely, extendRun, requeueRun } from '../../store/tables/run-queue.ts'
import { listToolExecutions } from '../../store/tables/tool-executions.ts'
import { findRun, listRuns, requestRun } from '../../store/tables/workflow-runs.ts'
import { type Api, answer, body, json, pageQuery, route, withoutUndefined, z } from '../api.ts'
import { callerName, type DoorContext, mayApprove, refuseForeign } from '../door.ts'
import { HttpProblem } from '../problem.ts'
import { requestedModel } from '../requested-model.ts'
import type { Services } from '../services.ts'
import { countedRunShape, mayExtend, runShape, showRun } from '../show-run.ts'
import { workflowFor } from '../workflow-for.ts'

export interface RunParts {
  readonly runtime: Runtime
  readonly loaded: LoadedConfig
  readonly services: () => Promise<Services>
}

const params = z.object({ id: z.uuid() })

const wish = z.object({
  /** What to do; of a panel, its `{{input}}`. */
  task: z.string().max(200_000).default(''),
  agent_id: z.uuid().optional(),
  panel: z
    .string()
    .regex(/^[\w-]{1,100}$/)
    .optional(),
  /** Values for the other names in a panel's prompt. */
  variables: z.record(z.string().max(100), z.string().max(200_000)).default({}),
  model: z.string().max(500).optional(),
  tools: z.union([z.literal('read-only'), z.array(z.string().max(200)).max(200)]).optional(),
  mode: z.enum(['ask', 'accept-edits', 'read-only']).optional(),
  max_turns: z.int().min(1).max(1_000).optional(),
  max_cost: z.number().min(0).optional(),
  max_tokens: z.int().min(1).optional(),
})

/** Agents' runs: started here, worked on by whichever worker is free. */
export function runRoutes(api: Api, parts: RunParts): void {
  startRoute(api, parts)
  lookRoutes(api, parts)
  steerRoutes(api, parts)
  againRoute(api, parts)
}

function startRoute(api: Api, { runtime, loaded, services }: RunParts): void {
  api.openapi(
    route('run', {
      method: 'post',
      path: '/api/runs',
      summary: 'Start a run; it goes on in the background',
      request: { body: body(wish), headers: idempotency },
      responses: { 202: json(runShape, 'The run, which waits for a worker') },
    }),
    async context => {
      const given = context.req.valid('json')
      const opened = await services()
      const model = await requestedModel(runtime, given.model)
      const spec = toRunSpec(
        { runtime, loaded, runs: opened.runs },
        {
          ...(await whoRuns(opened, given)),
          startedBy: callerName(context),
          mayApprove: mayApprove(context),
          limits: {
            ...(given.max_turns === undefined ? {} : { maxTurns: given.max_turns }),
            ...(given.max_cost === undefined ? {} : { maxCostUsd: given.max_cost }),
            ...(given.max_tokens === undefined ? {} : { maxTokens: given.max_tokens }),
          },
          ...(model === undefined ? {} : { model }),
          ...(given.tools === undefined ? {} : { tools: given.tools }),
          ...(given.mode === undefined ? {} : { mode: given.mode }),
        },
      )
      const key = context.req.valid('header')['idempotency-key']
      const run = await beginRun(opened, spec, key && idOfKey(opened, callerName(context), key))
      if (key !== undefined && run.spec.task !== spec.task)
        throw new HttpProblem(409, 'conflict', 'This Idempotency-Key was used for another run.')
      return context.json(showRun(run), 202)
    },
  )
}

/** With the same key, the same caller gets the run that is there already. */
const idempotency = z.object({ 'idempotency-key': z.string().min(1).max(200).optional() })

function idOfKey({ runs }: Services, caller: string, key: string): string {
  const digest = hash('sha256', JSON.stringify([runs.place.workspaceId, caller, key]))
  return digest.slice(0, 32).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-8$3-8$4-$5')
}

/** The agent or panel of a request, with what it is asked to do. */
async function whoRuns(
  opened: Services,
  { task, agent_id, panel: name, variables }: z.infer<typeof wish>,
): Promise<Pick<RunWish, 'task' | 'agent' | 'panel'>> {
  if (name !== undefined) {
    if (agent_id !== undefined)
      throw new HttpProblem(400, 'invalid_input', 'Name a panel or an agent, not both.')
    const { agent, tools, panel } = await requirePanelAgent(
      opened.database,
      await workflowFor(opened, undefined),
      readPanel(opened.runs.place.workspace, name),
    )
    return { task: fillPanel(panel, task, variables), panel, agent: { record: agent, tools } }
  }
  return agent_id === undefined
    ? { task }
    : { task, agent: await requireAgentById(opened.database, opened.runs.place, agent_id) }
}

function lookRoutes(api: Api, { services }: RunParts): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/runs',
      summary: 'Runs of this workspace, newest first',
      request: {
        query: pageQuery.extend({
          cursor: z.uuid().optional(),
          status: runShape.shape.status.optional(),
          agent: z.string().max(200).optional(),
          since: z.iso.datetime({ offset: true }).optional(),
          until: z.iso.datetime({ offset: true }).optional(),
          /** In the task, without regard to case. */
          text: z.string().max(200).optional(),
          /** Only runs in which something was refused, or in which a call failed. */
          has: z.enum(['denials', 'errors']).optional(),
          min_cost: z.coerce.number().min(0).optional(),
        }),
      },
      responses: {
        200: json(
          z.object({ items: z.array(countedRunShape), next: z.string().nullable() }),
          'A page of runs',
        ),
      },
    }),
    async context => {
      const { limit, cursor, since, until, min_cost, ...wanted } = context.req.valid('query')
      const { database, runs } = await services()
      const found = await listRuns(database, {
        place: runs.place,
        limit,
        ...(cursor === undefined ? {} : { before: cursor }),
        ...(since === undefined ? {} : { since: new Date(since) }),
        ...(until === undefined ? {} : { until: new Date(until) }),
        ...(min_cost === undefined ? {} : { minCostUsd: min_cost }),
        ...withoutUndefined(wanted),
      })
      const next = found.length < limit ? null : (found.at(-1)?.id ?? null)
      return context.json({ items: await withCounts(database, found), next }, 200)
    },
  )
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/runs/{id}',
      summary: 'One run with its calls and messages',
      request: { params },
      responses: {
        200: json(
          countedRunShape.extend({ calls_made: z.array(z.unknown()), messages: z.array(z.unknown()) }),
          'The run',
        ),
      },
    }),
    async context => {
      const opened = await services()
      const run = await requireRun(opened, context.req.valid('param').id)
      const [calls, messages, [counted]] = await Promise.all([
        listToolExecutions(opened.database, run.execution),
        opened.runs.messages(run),
        withCounts(opened.database, [run]),
      ])
      return answer(context, { ...counted, calls_made: calls, messages })
    },
  )
}

async function withCounts(
  database: Services['database'],
  runs: readonly RunRecord[],
): Promise<z.infer<typeof countedRunShape>[]> {
  const counts = await countsOfRuns(
    database,
    runs.map(({ id }) => id),
  )
  return runs.map(run => {
    const { asked = 0, denied = 0, failed = 0, agents = 1 } = counts.find(each => each.run === run.id) ?? {}
    return { ...showRun(run), asked, denied, failed_calls: failed, agents }
  })
}

function againRoute(api: Api, { runtime, loaded, services }: RunParts): void {
  api.openapi(
    route('run', {
      method: 'post',
      path: '/api/runs/{id}/again',
      summary: 'Start a new run with the same task, with at most what its agent may do now',
      request: { params, body: body(z.object({})) },
      responses: { 202: json(runShape, 'The new run, which waits for a worker') },
    }),
    async context => {
      const opened = await services()
      const { spec } = await requireRun(opened, context.req.valid('param').id)
      const again = await findRunSpecAgain({ runtime, loaded, ...opened }, spec, {
        mayApprove: mayApprove(context),
        startedBy: callerName(context),
      })
      const run = await beginRun(opened, again)
      return context.json(showRun(run), 202)
    },
  )
}

/** Puts it into the queue and tells everybody. From then on it is there, whether or not more can be said about it. */
async function beginRun(
  { database, runs }: Services,
  spec: RunRecord['spec'],
  chosen?: string,
): Promise<RunRecord> {
  const { id, execution } = await enqueueSafely(database, {
    ...{ ...runs.place, spec },
    ...(chosen === undefined ? {} : { id: chosen }),
  })
  const event = { type: 'run.created', run: id, task: spec.task, agent: spec.agent ?? null } as const
  const created = { id: randomUUID(), at: new Date().toISOString(), event }
  const tell = insertWorkspaceEvents(database, runs.place, [created]).catch(() => undefined)
  const [found] = await Promise.all([findRun(database, id, runs.place).catch(() => undefined), tell])
  return found ?? justQueued({ id, execution, spec, ...runs.place })
}

function justQueued(
  run: Pick<RunRecord, 'id' | 'execution' | 'spec' | 'workspace' | 'workspaceId'>,
): RunRecord {
  return {
    ...run,
    ...{ status: 'pending', stopReason: 'queued', turn: 1, requested: null, createdAt: new Date() },
    ...{ error: null, errorKind: null, output: null, completedAt: null, costUsd: 0, tokens: 0, calls: 0 },
  }
}

function steerRoutes(api: Api, { runtime, services }: RunParts): void {
  const steer = (
    path: string,
    summary: string,
    act: (opened: Services, run: RunRecord, context: DoorContext) => Promise<unknown>,
    scope: 'run' | 'approve' = 'run',
  ): void => {
    api.openapi(
      route(scope, {
        method: 'post',
        path,
        summary,
        request: { params, body: body(z.object({})) },
        responses: { 202: json(runShape, 'The run as it stands') },
      }),
      async context => {
        const opened = await services()
        const run = await requireRun(opened, context.req.valid('param').id)
        await act(opened, run, context)
        return context.json(showRun(await requireRun(opened, run.id)), 202)
      },
    )
  }
  steer('/api/runs/{id}/stop', 'Stop a run, and take back what it has asked', ({ database }, run) =>
    stopRun(database, run, runtime.withdrawQuestions),
  )
  steer('/api/runs/{id}/stop-after-step', 'Stop a run when its step has ended', ({ database }, run) =>
    stopRun(database, run, runtime.withdrawQuestions, 'stop_after_step'),
  )
  steer('/api/runs/{id}/pause', 'Pause a run', ({ database }, run) => requestRun(database, run.id, 'pause'))
  const extend = async (opened: Services, run: RunRecord): Promise<void> => {
    if (!mayExtend(run))
      throw new HttpProblem(409, 'conflict', 'It is not at a limit of its own, or on_limit says stop.')
    if (!(await extendRun(opened.database, run.id, twice(run.spec.limits))))
      throw new HttpProblem(409, 'conflict', 'It goes on already.')
  }
  // Whoever may only start runs does not answer the question that `on_limit = "ask"` puts to a person.
  steer('/api/runs/{id}/extend', 'Let a run at a limit go on with twice its limits', extend, 'approve')
  steer('/api/runs/{id}/resume', 'Resume a run', async ({ database }, run, context) => {
    refuseForeign(context, run.spec.startedBy)
    if (await requeueRun(database, run.id)) return
    throw new HttpProblem(409, 'conflict', 'It waits for a worker or is being worked on already.')
  })
  api.openapi(
    route('run', {
      method: 'post',
      path: '/api/runs/{id}/say',
      summary: 'Say something to a run, or to a sub-agent in it; the agent gets it with the next turn',
      request: {
        params,
        body: body(z.object({ text: z.string().min(1).max(200_000), execution_id: z.uuid().optional() })),
      },
      responses: { 202: json(runShape, 'The run as it stands') },
    }),
    async context => {
      const opened = await services()
      const run = await requireRun(opened, context.req.valid('param').id)
      refuseForeign(context, run.spec.startedBy)
      const { text, execution_id } = context.req.valid('json')
      await say(opened.database, run, text, execution_id)
      return context.json(showRun(await requireRun(opened, run.id)), 202)
    },
  )
}

/** Only of this workspace: another one's server has its files. */
export async function requireRun({ database, runs }: Services, id: string): Promise<RunRecord> {
  const run = await findRun(database, id, runs.place)
  if (run === undefined) throw new HttpProblem(404, 'not_found', 'There is no such run.')
  return run
}
