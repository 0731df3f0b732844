import {
  findInOutputs,
  findRunCall,
  listRunAgents,
  listRunCalls,
  type RunCall,
} from '../../store/tables/run-details.ts'
import { listEvents, type StoredEvent } from '../../store/tables/run-events.ts'
import { type Api, answer, json, route, z } from '../api.ts'
import { HttpProblem } from '../problem.ts'
import { REFUSED, timelineItem, toTimeline } from '../run-timeline.ts'
import type { Services } from '../services.ts'
import { type RunParts, requireRun } from './runs.ts'

const params = z.object({ id: z.uuid() })

const call = z
  .object({
    id: z.string(),
    execution_id: z.string(),
    tool: z.string(),
    args: z.unknown(),
    state: z.enum(['waiting', 'ok', 'error', 'denied', 'unknown']),
    decision: z.unknown(),
    effects: z.array(z.unknown()),
    error: z.object({ code: z.string() }).nullable(),
    run_ms: z.number(),
    at: z.string(),
    output: z.object({ text: z.string(), bytes: z.int(), truncated: z.boolean() }),
  })
  .openapi('ToolCall')

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
  })
  .openapi('RunAgent')

const event = z.looseObject({ seq: z.int(), at: z.string(), type: z.string() }).openapi('RunEvent')

/** What is inside a run: its agents, calls, events, and when what happened. */
export function runDetailRoutes(api: Api, parts: RunParts): void {
  callRoutes(api, parts)
  findRoute(api, parts)
  agentRoute(api, parts)
  eventRoutes(api, parts)
}

function callRoutes(api: Api, { services }: RunParts): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/runs/{id}/calls',
      summary: 'Calls of all agents of a run, oldest first; long outputs are cut',
      request: {
        params,
        query: z.object({
          limit: z.coerce.number().int().min(1).max(1_000).default(200),
          offset: z.coerce.number().int().min(0).default(0),
        }),
      },
      responses: {
        200: json(z.object({ items: z.array(call), next: z.int().nullable() }), 'A page of calls'),
      },
    }),
    async context => {
      const opened = await services()
      const { id } = await requireRun(opened, context.req.valid('param').id)
      const page = context.req.valid('query')
      const found = await listRunCalls(opened.database, id, page)
      const next = found.length < page.limit ? null : page.offset + page.limit
      return answer(context, { items: found.map(toCall), next })
    },
  )
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/runs/{id}/calls/{call}',
      summary: 'One call with its whole output',
      request: { params: params.extend({ call: z.string().max(200) }) },
      responses: { 200: json(call, 'The call') },
    }),
    async context => {
      const opened = await services()
      const { id } = await requireRun(opened, context.req.valid('param').id)
      const found = await findRunCall(opened.database, id, context.req.valid('param').call)
      if (found === undefined) throw new HttpProblem(404, 'not_found', 'There is no such call in this run.')
      return answer(context, toCall(found))
    },
  )
}

function findRoute(api: Api, { services }: RunParts): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/runs/{id}/find',
      summary: 'Calls of a run whose output has a text; what was said is in the events',
      request: { params, query: z.object({ text: z.string().min(1).max(200) }) },
      responses: {
        200: json(z.array(z.object({ call: z.string(), execution: z.string() })), 'The first 1,000'),
      },
    }),
    async context => {
      const opened = await services()
      const { id } = await requireRun(opened, context.req.valid('param').id)
      return answer(context, await findInOutputs(opened.database, id, context.req.valid('query').text))
    },
  )
}

function agentRoute(api: Api, { services, runtime }: RunParts): void {
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
      const shown = agents.map(each => ({
        execution_id: each.execution,
        parent_execution_id: each.parent,
        agent_id: each.agent,
        name: each.name ?? run.spec.agent ?? 'agent',
        description: each.description,
        status: each.status,
        stop_reason: each.stopReason,
        task: each.task,
        output: each.output,
        error: each.error,
        tokens: each.tokens,
        cost_usd: each.costUsd,
        calls: each.calls,
        duration_ms: each.durationMs,
        started_at: each.startedAt?.toISOString() ?? null,
        completed_at: each.completedAt?.toISOString() ?? null,
        // A run's own questions carry its id, those of sub-agents that of their execution.
        waiting: open.filter(
          ({ runId }) => runId === each.execution || (each.parent === null && runId === run.id),
        ).length,
      }))
      return answer(context, shown)
    },
  )
}

function eventRoutes(api: Api, { services }: RunParts): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/runs/{id}/timeline',
      summary: 'Timeline of a run: steps, calls, agents, pauses',
      request: { params },
      responses: {
        200: json(
          z.object({ items: z.array(timelineItem), newest: z.int() }),
          'In the order of their beginning; `newest` is the number of the last event that is in it',
        ),
      },
    }),
    async context => {
      const opened = await services()
      const run = await requireRun(opened, context.req.valid('param').id)
      const events = await allEvents(opened, run.id)
      return context.json({ items: toTimeline(events), newest: events.at(-1)?.seq ?? 0 }, 200)
    },
  )
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/runs/{id}/events',
      summary: 'Events of a run, in order',
      request: {
        params,
        query: z.object({
          after: z.coerce.number().int().min(0).default(0),
          limit: z.coerce.number().int().min(1).max(2_000).default(500),
        }),
      },
      responses: {
        200: json(z.object({ items: z.array(event), next: z.int().nullable() }), 'A page of events'),
      },
    }),
    async context => {
      const opened = await services()
      const run = await requireRun(opened, context.req.valid('param').id)
      const { after, limit } = context.req.valid('query')
      const found = await listEvents(opened.database, { run: run.id, after, limit })
      const next = found.length < limit ? null : (found.at(-1)?.seq ?? null)
      return answer(context, { items: found.map(toShownEvent), next })
    },
  )
}

const BATCH = 2_000

/** Text comes in thousands of pieces that say nothing about times. */
async function allEvents({ database }: Services, run: string): Promise<StoredEvent[]> {
  const all: StoredEvent[] = []
  for (let after = 0; ; ) {
    const batch = await listEvents(database, { run, after, limit: BATCH })
    all.push(...batch.filter(({ event: { type } }) => type !== 'text.delta'))
    after = batch.at(-1)?.seq ?? after
    if (batch.length < BATCH) return all
  }
}

export function toShownEvent({ seq, run, execution, at, event: { type, ...data } }: StoredEvent) {
  return { seq, at: at.toISOString(), type, ...(run === null ? {} : { run, execution }), ...data }
}

function toCall(found: RunCall): z.infer<typeof call> {
  const { errorCode, isError, isAmbiguous } = found
  const failed = errorCode !== null && REFUSED.has(errorCode) ? 'denied' : 'error'
  return {
    id: found.call,
    execution_id: found.execution,
    tool: found.tool,
    args: found.input,
    state: isAmbiguous ? 'unknown' : isError ? failed : 'ok',
    decision: found.decision,
    effects: [...(found.effects ?? [])],
    error: errorCode === null ? null : { code: errorCode },
    run_ms: found.durationMs,
    at: found.at.toISOString(),
    output: {
      text: found.output ?? '',
      bytes: found.outputBytes,
      truncated: Buffer.byteLength(found.output ?? '') < found.outputBytes,
    },
  }
}
