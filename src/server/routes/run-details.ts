import type { Message, ToolUseBlock } from '../../agents/messages.ts'
import { toRehearsal } from '../../agents/rehearsal.ts'
import { findInOutputs, findRunCall, listRunCalls, type RunCall } from '../../store/tables/run-details.ts'
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

const event = z.looseObject({ seq: z.int(), at: z.string(), type: z.string() }).openapi('RunEvent')

/** What is inside a run: its calls, events, and when what happened. */
export function runDetailRoutes(api: Api, parts: RunParts): void {
  callRoutes(api, parts)
  findRoute(api, parts)
  rehearsalRoute(api, parts)
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
      const found = await requireCall(opened.database, id, context.req.valid('param').call)
      return answer(context, toCall(found))
    },
  )
}

/** The model's part of a run, or of one call of it, to be played again without a model: a test of rules and tools. */
function rehearsalRoute(api: Api, { services }: RunParts): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/runs/{id}/rehearsal',
      summary: 'A rehearsal that makes the calls of a run again, or one of them',
      request: { params, query: z.object({ call: z.string().max(200).optional() }) },
      responses: { 200: json(z.object({ text: z.string() }), 'TOML, for kogu run --replay') },
    }),
    async context => {
      const opened = await services()
      const run = await requireRun(opened, context.req.valid('param').id)
      const { call: wanted } = context.req.valid('query')
      const messages =
        wanted === undefined ? await opened.runs.messages(run) : [await messageOf(opened, run.id, wanted)]
      const text = toRehearsal(messages, run.spec.task.split('\n')[0] ?? '')
      return context.json({ text: opened.runs.redactText(text) }, 200)
    },
  )
}

async function messageOf({ database }: Services, run: string, call: string): Promise<Message> {
  const found = await requireCall(database, run, call)
  // As the model gave it.
  const input = found.input as ToolUseBlock['input']
  return { role: 'assistant', content: [{ type: 'tool_use', id: found.call, name: found.tool, input }] }
}

async function requireCall(database: Services['database'], run: string, call: string): Promise<RunCall> {
  const found = await findRunCall(database, run, call)
  if (found === undefined) throw new HttpProblem(404, 'not_found', 'There is no such call in this run.')
  return found
}

function findRoute(api: Api, { services }: RunParts): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/runs/{id}/find',
      summary: 'Calls of a run whose output has a text; what was said is in the events',
      request: { params, query: z.object({ text: z.string().min(1).max(200) }) },
      responses: {
        200: json(
          z.array(z.object({ call: z.string(), execution: z.string(), hits: z.int() })),
          'With how often it has the text',
        ),
      },
    }),
    async context => {
      const opened = await services()
      const { id } = await requireRun(opened, context.req.valid('param').id)
      return answer(context, await findInOutputs(opened.database, id, context.req.valid('query').text))
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
      return context.json({ items: toTimeline(events, run.createdAt), newest: events.at(-1)?.seq ?? 0 }, 200)
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
          /** Only those of this call, once it has ended. */
          call: z.string().max(200).optional(),
        }),
      },
      responses: {
        200: json(z.object({ items: z.array(event), next: z.int().nullable() }), 'A page of events'),
      },
    }),
    async context => {
      const opened = await services()
      const run = await requireRun(opened, context.req.valid('param').id)
      const { after, limit, call: of } = context.req.valid('query')
      const found = await listEvents(opened.database, { run: run.id, after, limit, call: of })
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
