import { PIPELINE_NAME, readPipeline } from '../../pipelines/files.ts'
import { readInput } from '../../pipelines/input.ts'
import {
  createSchedule,
  nextTimes,
  openSchedules,
  type Schedule,
  showSchedule,
  withPause,
} from '../../pipelines/schedules.ts'
import type { Runtime } from '../../runtime.ts'
import { type Api, body, json, route, z } from '../api.ts'
import { callerName } from '../door.ts'
import { HttpProblem } from '../problem.ts'

const when = {
  /** Minute, hour, day, month, weekday. */
  cron: z.string().max(200),
  /** Such as Europe/Berlin. Defaults to that of the machine. */
  timezone: z.string().max(100).optional(),
}

const schedule = z
  .object({
    id: z.string(),
    pipeline: z.string(),
    cron: when.cron,
    timezone: z.string().nullable(),
    /** Times at which no server was there: one run for all of them, none, or each of them. */
    catch_up: z.enum(['once', 'skip', 'all']),
    input: z.record(z.string(), z.unknown()),
    paused: z.boolean(),
    /** Null while it is paused. */
    next: z.string().nullable(),
    next_times: z.array(z.string()),
    /** The newest time that something was to run at: its run, or why there is none. */
    last: z.object({ at: z.string(), run: z.string().nullable(), problem: z.string().nullable() }).nullable(),
  })
  .openapi('Schedule')

const params = z.object({ id: z.string().regex(/^ps_[0-9a-f]{8}$/) })

/** When pipelines run by themselves. They outlive whoever made them, so that changing them takes the scope admin. */
export function scheduleRoutes(api: Api, runtime: Runtime, now: () => number): void {
  lookRoutes(api, runtime, now)
  changeRoutes(api, runtime, now)
}

function lookRoutes(api: Api, runtime: Runtime, now: () => number): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/schedules',
      summary: 'When pipelines run by themselves, with the next times',
      request: { query: z.object({ pipeline: z.string().max(100).optional() }) },
      responses: { 200: json(z.array(schedule), 'The schedules') },
    }),
    context => {
      const { pipeline } = context.req.valid('query')
      const found = openSchedules(runtime.places)
        .list()
        .filter(each => pipeline === undefined || each.pipeline === pipeline)
      return context.json(
        found.map(each => showSchedule(each, new Date(now()))),
        200,
      )
    },
  )
  api.openapi(
    route('read', {
      method: 'post',
      path: '/api/schedules/next-times',
      summary: 'The next times of a schedule that is still being written; writes nothing',
      request: { body: body(z.object({ ...when, count: z.int().min(1).max(50).default(5) })) },
      responses: { 200: json(z.object({ times: z.array(z.string()) }), 'The times, as ISO 8601') },
    }),
    context => {
      const { cron, timezone, count } = context.req.valid('json')
      const wanted = { cron, ...(timezone === undefined ? {} : { timezone }) }
      return context.json({ times: nextTimes(wanted, new Date(now()), count) }, 200)
    },
  )
}

function changeRoutes(api: Api, runtime: Runtime, now: () => number): void {
  api.openapi(
    route('admin', {
      method: 'post',
      path: '/api/schedules',
      summary: 'Run a pipeline on a schedule; it runs only while its file is trusted',
      request: {
        body: body(
          z.object({
            pipeline: z.string().max(100).regex(PIPELINE_NAME),
            ...when,
            catch_up: schedule.shape.catch_up.default('once'),
            input: z.record(z.string().max(100), z.union([z.string(), z.number(), z.boolean()])).default({}),
          }),
        ),
      },
      responses: { 201: json(schedule, 'The schedule') },
    }),
    async context => {
      const { pipeline, cron, timezone, catch_up: catchUp, input } = context.req.valid('json')
      const made = createSchedule(
        {
          ...{ pipeline, cron, catchUp },
          input: readInput(readPipeline(runtime.workspace, pipeline).pipeline, input),
          ...(timezone === undefined ? {} : { timezone }),
        },
        new Date(now()),
      )
      await openSchedules(runtime.places).add(made)
      runtime.note('schedule-created', { schedule: made.id, pipeline, cron, author: callerName(context) })
      return context.json(showSchedule(made, new Date(now())), 201)
    },
  )
  for (const paused of [true, false]) {
    api.openapi(
      route('admin', {
        method: 'post',
        path: paused ? '/api/schedules/{id}/pause' : '/api/schedules/{id}/resume',
        summary: paused ? 'Pause a schedule' : 'Resume a schedule from its next time',
        request: { params, body: body(z.object({})) },
        responses: { 200: json(schedule, 'The schedule') },
      }),
      async context => {
        const found = requireSchedule(runtime, context.req.valid('param').id)
        const changed = withPause(found, paused, new Date(now()))
        await openSchedules(runtime.places).replace(changed)
        const action = paused ? 'schedule-paused' : 'schedule-resumed'
        runtime.note(action, { schedule: found.id, pipeline: found.pipeline, author: callerName(context) })
        return context.json(showSchedule(changed, new Date(now())), 200)
      },
    )
  }
  api.openapi(
    route('admin', {
      method: 'delete',
      path: '/api/schedules/{id}',
      summary: 'Delete a schedule; runs that it has started go on',
      request: { params },
      responses: { 204: { description: 'It is deleted' } },
    }),
    async context => {
      const { id, pipeline } = requireSchedule(runtime, context.req.valid('param').id)
      await openSchedules(runtime.places).remove(id)
      runtime.note('schedule-deleted', { schedule: id, pipeline, author: callerName(context) })
      return context.body(null, 204)
    },
  )
}

function requireSchedule(runtime: Runtime, id: string): Schedule {
  const found = openSchedules(runtime.places)
    .list()
    .find(each => each.id === id)
  if (found !== undefined) return found
  throw new HttpProblem(404, 'not_found', 'There is no such schedule.')
}
