import { PIPELINE_NAME } from '../../pipelines/files.ts'
import {
  createPipelineRun,
  createRunAgain,
  planAgain,
  type PipelineParts as RunnerParts,
  repeatsOf,
  requirePipelineRun,
} from '../../pipelines/pipelines.ts'
import { pipelineRunsOf, type SavedPipelineRun } from '../../store/pipeline-runs.ts'
import { type Api, answer, body, json, route, z } from '../api.ts'
import { callerName, doorUser, mayApprove, refuseForeign } from '../door.ts'
import type { PipelineWorker } from '../pipeline-worker.ts'
import { HttpProblem } from '../problem.ts'
import { requestedModel } from '../requested-model.ts'
import type { PipelineParts } from './pipelines.ts'
import type { RunParts } from './runs.ts'

type Parts = PipelineParts & RunParts

const params = z.object({ id: z.string().regex(/^pl_[0-9a-f]{12}$/) })
const stepId = z.string().max(64)

const step = z.looseObject({
  status: z.enum(['waiting', 'running', 'done', 'skipped', 'failed']),
  attempts: z.int(),
  /** The run of its panel. */
  run: z.string().optional(),
  /** It waits at its gate. */
  gate: z.boolean().optional(),
})

const pipelineRun = z
  .object({
    id: z.string(),
    pipeline: z.string(),
    status: z.enum(['running', 'waiting', 'stopped', 'completed', 'failed']),
    started_at: z.string(),
    input: z.record(z.string(), z.unknown()),
    /** The earlier run whose outputs it uses. */
    continues: z.string().nullable(),
    /** The run that it is a step of. */
    parent: z.string().nullable(),
    /** Runs of panels and pipelines that it has begun, of all tries and rounds. */
    runs: z.array(z.string()),
    rehearse: z.boolean(),
    model: z.string().nullable(),
    steps: z.record(z.string(), step),
    /** This server works on it now. */
    is_working: z.boolean(),
    /** Why the last try to go on came to nothing. */
    problem: z.string().nullable(),
    /** Of `kogu build`: its branch, and when it has ended what became of it. */
    build: z
      .looseObject({
        branch: z.string(),
        base: z.string(),
        settled: z.enum(['accepted', 'discarded']).optional(),
        report: z.looseObject({ commit: z.string().nullable() }).optional(),
      })
      .nullable(),
    /** Of the file that it runs: another one cannot be gone on with. */
    hash: z.string(),
  })
  .openapi('PipelineRun')

/** Runs of pipelines: started here, worked on by this server. */
export function pipelineRunRoutes(api: Api, parts: Parts): void {
  lookRoutes(api, parts)
  startRoutes(api, parts)
  steerRoutes(api, parts)
}

function lookRoutes(api: Api, { runtime, services }: Parts): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/pipeline-runs',
      summary: 'Runs of pipelines, newest first',
      request: {
        query: z.object({
          pipeline: z.string().max(100).optional(),
          status: pipelineRun.shape.status.optional(),
          limit: z.coerce.number().int().min(1).max(500).default(50),
        }),
      },
      responses: { 200: json(z.array(pipelineRun), 'The runs') },
    }),
    async context => {
      const { pipeline, status, limit } = context.req.valid('query')
      const { pipelines } = await services()
      const found = pipelineRunsOf(runtime.places)
        .list()
        .filter(run => pipeline === undefined || run.pipeline === pipeline)
        .filter(run => status === undefined || run.status === status)
      return answer(
        context,
        found.slice(0, limit).map(run => show(run, pipelines)),
      )
    },
  )
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/pipeline-runs/{id}',
      summary: 'One run of a pipeline, with the output of every step',
      request: { params },
      responses: { 200: json(pipelineRun, 'The run') },
    }),
    async context => {
      const { pipelines } = await services()
      const run = requirePipelineRun(pipelineRunsOf(runtime.places), context.req.valid('param').id)
      return answer(context, show(run, pipelines))
    },
  )
}

const again = z.object({
  /** The earlier run whose outputs stand for the steps before; the last one without it. */
  of: params.shape.id.optional(),
  step: stepId,
  extent: z.enum(['from', 'only']).default('from'),
})

function startRoutes(api: Api, parts: Parts): void {
  const name = z.object({ name: z.string().max(100).regex(PIPELINE_NAME) })
  api.openapi(
    route('run', {
      method: 'post',
      path: '/api/pipelines/{name}/run',
      summary: 'Start a pipeline, all of it or from a step with the outputs of an earlier run',
      request: {
        params: name,
        body: body(
          z.object({
            input: z.record(z.string().max(100), z.union([z.string(), z.number(), z.boolean()])).default({}),
            again: again
              .extend({
                /** What the caller knows to be done a second time, as /repeats says it. */
                repeats: z.array(z.string()).max(500).default([]),
              })
              .optional(),
            /** Plays .kogu/rehearsals/PANEL.toml instead of asking models. */
            rehearse: z.boolean().default(false),
            model: z.string().max(500).optional(),
          }),
        ),
      },
      responses: { 202: json(pipelineRun, 'The run, which has begun') },
    }),
    async context => {
      const { input, again: wish, rehearse, model: named } = context.req.valid('json')
      const model = await requestedModel(parts.runtime, named)
      const opened = await services(parts)
      const { name: wanted } = context.req.valid('param')
      const how = { rehearse, model, isServers: true, startedBy: callerName(context) }
      if (wish !== undefined) refuseUnnamed(repeatsOf(parts, plan(parts, wanted, wish)), wish.repeats)
      const run =
        wish === undefined
          ? await createPipelineRun(opened.runner, wanted, input, how)
          : await createRunAgain(opened.runner, plan(parts, wanted, wish), input, {
              ...how,
              by: doorUser(context),
            })
      opened.pipelines.begin(run)
      return answer(context, show(run, opened.pipelines, true), 202)
    },
  )
  api.openapi(
    route('read', {
      method: 'post',
      path: '/api/pipelines/{name}/repeats',
      summary: 'What would happen a second time if a run began again in the middle; runs nothing',
      request: { params: name, body: body(again) },
      responses: { 200: json(z.object({ repeats: z.array(z.string()) }), 'One line each') },
    }),
    context => {
      const planned = plan(parts, context.req.valid('param').name, context.req.valid('json'))
      return context.json({ repeats: repeatsOf(parts, planned) }, 200)
    },
  )
}

function steerRoutes(api: Api, parts: Parts): void {
  const steps = z.array(stepId).max(500).default([])
  api.openapi(
    route('run', {
      method: 'post',
      path: '/api/pipeline-runs/{id}/resume',
      summary: 'Go on with a run; opening gates needs the scope approve',
      request: { params, body: body(z.object({ approve: steps, retry: steps, skip: steps })) },
      responses: { 202: json(pipelineRun, 'The run') },
    }),
    async context => {
      const wanted = context.req.valid('json')
      const { pipelines } = await services(parts)
      if (wanted.approve.length > 0 && !mayApprove(context))
        throw new HttpProblem(403, 'forbidden', "This token does not have the scope 'approve'.")
      const run = requirePipelineRun(pipelineRunsOf(parts.runtime.places), context.req.valid('param').id)
      refuseForeign(context, run.startedBy)
      if (run.status === 'completed' || run.status === 'failed')
        throw new HttpProblem(409, 'conflict', `This run has ${run.status}.`)
      pipelines.begin(run, { ...wanted, by: doorUser(context) })
      return answer(context, show(run, pipelines, true), 202)
    },
  )
  api.openapi(
    route('run', {
      method: 'post',
      path: '/api/pipeline-runs/{id}/stop',
      summary: 'Stop a run where it is; it can go on later',
      request: { params, body: body(z.object({})) },
      responses: { 202: json(pipelineRun, 'The run as it stands') },
    }),
    async context => {
      const { pipelines } = await services(parts)
      const { id } = context.req.valid('param')
      const run = requirePipelineRun(pipelineRunsOf(parts.runtime.places), id)
      return answer(context, show(run, pipelines, pipelines.stop(id)), 202)
    },
  )
}

async function services({ services: open, loaded, environment, runtime }: Parts) {
  const { pipelines, database, runs } = await open()
  const runner: RunnerParts = { loaded, environment, runtime, database, runs }
  return { pipelines, runner }
}

/** Nothing is done a second time that whoever asks for it has not seen named. */
function refuseUnnamed(repeats: readonly string[], named: readonly string[]): void {
  const unnamed = repeats.filter(each => !named.includes(each))
  if (unnamed.length === 0) return
  throw new HttpProblem(409, 'conflict', `This would be done a second time: ${unnamed.join('; ')}`, {
    hint: 'Send what POST /api/pipelines/{name}/repeats lists as again.repeats.',
  })
}

function plan(parts: Parts, pipeline: string, { of, step, extent }: z.infer<typeof again>) {
  return planAgain(parts, { pipeline, of, step, extent })
}

function show(
  run: SavedPipelineRun,
  pipelines: PipelineWorker,
  isWorking = pipelines.isWorking(run.id),
): z.infer<typeof pipelineRun> {
  return {
    id: run.id,
    pipeline: run.pipeline,
    // One that nobody works on any more was interrupted.
    status: run.status === 'running' && !isWorking ? 'stopped' : run.status,
    started_at: run.startedAt,
    input: run.input,
    continues: run.continues ?? null,
    parent: run.parent ?? null,
    runs: run.runs,
    rehearse: run.rehearse ?? false,
    model: run.model ?? null,
    steps: run.progress.steps as z.infer<typeof pipelineRun>['steps'],
    is_working: isWorking,
    problem: pipelines.problemOf(run.id),
    build: run.build ?? null,
    hash: run.sha256,
  }
}
