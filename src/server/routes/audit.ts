import type { Runtime } from '../../runtime.ts'
import { findEvent, readEvents, type StoredEvent } from '../../store/audit/read.ts'
import { verifyLogs } from '../../store/audit/verify.ts'
import { logFolders } from '../../store/places.ts'
import { type Api, answer, json, pageQuery, route, withoutUndefined, z } from '../api.ts'
import { callerName } from '../door.ts'
import { HttpProblem } from '../problem.ts'

const event = z
  .looseObject({ seq: z.int(), at: z.string(), segment: z.string(), hash: z.string(), type: z.string() })
  .openapi('AuditEvent')

const filters = pageQuery.extend({
  since: z.iso.datetime({ offset: true }).optional(),
  until: z.iso.datetime({ offset: true }).optional(),
  tool: z.string().max(200).optional(),
  run: z.string().max(200).optional(),
  /** The panel or agent that a call was made as. */
  agent: z.string().max(200).optional(),
  outcome: z.enum(['allow', 'ask', 'deny']).optional(),
  by: z
    .enum([
      ...(['hard-stop', 'rule', 'grant', 'mode', 'reviewers', 'user', 'timeout', 'hook'] as const),
      'contained',
      'gate',
      'validation',
    ])
    .optional(),
  type: z
    .enum(['call-started', 'approval-requested', 'approval-answered', 'call-finished', 'note'])
    .optional(),
  risk: z.enum(['low', 'high']).optional(),
  text: z.string().max(500).optional(),
})

export function auditRoutes(api: Api, runtime: Runtime): void {
  const { places } = runtime
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/audit',
      summary: 'What was recorded, newest first',
      request: { query: filters },
      responses: {
        200: json(z.object({ items: z.array(event), next: z.string().nullable() }), 'A page of events'),
      },
    }),
    async context => {
      const { limit, cursor, since, until, ...wanted } = context.req.valid('query')
      const before = cursor ?? until
      const items: z.infer<typeof event>[] = []
      const events = readEvents({
        directory: logFolders(places),
        newestFirst: true,
        ...(since === undefined ? {} : { since: new Date(since) }),
        ...(before === undefined ? {} : { until: readCursor(before).at }),
        ...withoutUndefined(wanted),
      })
      for await (const stored of events) {
        if (cursor !== undefined && !isAfterCursor(stored, cursor)) continue
        items.push(toItem(stored))
        if (items.length > limit) break
      }
      const page = items.slice(0, limit)
      const last = page.at(-1)
      const next =
        items.length > limit && last !== undefined ? `${last.at}~${last.segment}~${last.seq}` : null
      return context.json({ items: page, next }, 200)
    },
  )
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/audit/count',
      summary: 'How many events match',
      request: { query: filters.omit({ limit: true, cursor: true }) },
      responses: { 200: json(z.object({ count: z.int() }), 'The number') },
    }),
    async context => {
      const { since, until, ...wanted } = context.req.valid('query')
      const events = readEvents({
        directory: logFolders(places),
        ...(since === undefined ? {} : { since: new Date(since) }),
        ...(until === undefined ? {} : { until: new Date(until) }),
        ...withoutUndefined(wanted),
      })
      let count = 0
      for await (const _ of events) count += 1
      return context.json({ count }, 200)
    },
  )
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/audit/verify',
      summary: 'Check the hash chain and its anchors',
      responses: { 200: json(z.looseObject({ ok: z.boolean() }), 'The report') },
    }),
    async context => {
      const report = await verifyLogs(places)
      return answer(context, report)
    },
  )
  exportRoute(api, runtime)
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/audit/events/{segment}/{seq}',
      summary: 'One event, by its segment and its number in it',
      request: {
        params: z.object({ segment: z.string().max(100), seq: z.string().regex(/^\d{1,15}$/) }),
      },
      responses: { 200: json(event, 'The event') },
    }),
    async context => {
      const { segment, seq } = context.req.valid('param')
      const found = await findEvent(logFolders(places), segment, Number(seq))
      if (found === undefined) throw new HttpProblem(404, 'not_found', 'No such event is recorded.')
      return context.json(toItem(found), 200)
    },
  )
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/audit/{call}',
      summary: 'All events of one call, and notes about it',
      request: { params: z.object({ call: z.string().max(100) }) },
      responses: { 200: json(z.array(event), 'The events, oldest first') },
    }),
    async context => {
      const { call } = context.req.valid('param')
      const found: z.infer<typeof event>[] = []
      for await (const stored of readEvents({ directory: logFolders(places), text: call }))
        if (isAbout(stored, call)) found.push(toItem(stored))
      if (found.length === 0) throw new HttpProblem(404, 'not_found', 'No such call is recorded.')
      return context.json(found, 200)
    },
  )
}

/** Notes are about a call too: what reviewers voted, a question that was left open for longer. */
function isAbout({ event: recorded }: StoredEvent, call: string): boolean {
  return recorded.type === 'note' ? recorded.details.call === call : recorded.call === call
}

/** As long as it takes: nothing is left out. That it was done is on record itself. */
function exportRoute(api: Api, runtime: Runtime): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/audit/export',
      summary: 'All events that match, newest first, a line of JSON each',
      request: { query: filters.omit({ limit: true, cursor: true }) },
      responses: {
        200: { description: 'NDJSON', content: { 'application/x-ndjson': { schema: z.string() } } },
      },
    }),
    context => {
      const wanted = withoutUndefined(context.req.valid('query'))
      const { since, until, ...rest } = wanted
      runtime.note('audit-exported', { filters: wanted, user: callerName(context) })
      const events = readEvents({
        directory: logFolders(runtime.places),
        newestFirst: true,
        ...(since === undefined ? {} : { since: new Date(since) }),
        ...(until === undefined ? {} : { until: new Date(until) }),
        ...rest,
      })
      // One that breaks off breaks the connection: it must not look like the whole of it.
      const lines = ReadableStream.from(toLines(events))
      context.header('content-type', 'application/x-ndjson; charset=utf-8')
      // Typed routes know JSON only.
      return context.body(lines) as never
    },
  )
}

async function* toLines(events: AsyncIterable<StoredEvent>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  for await (const stored of events) yield encoder.encode(`${JSON.stringify(toItem(stored))}\n`)
}

function toItem({
  seq,
  at,
  segment,
  prev,
  hash,
  event: { ...recorded },
}: StoredEvent): z.infer<typeof event> {
  return { ...recorded, seq, at, segment, prev, hash }
}

/** `time~segment~number` of the last event of the page before, or a plain time. */
function readCursor(cursor: string): { at: Date; segment: string; seq: number } {
  const [time = '', segment = '', seq = '0'] = cursor.split('~')
  const at = new Date(time)
  if (Number.isNaN(at.getTime())) throw new HttpProblem(400, 'invalid_input', 'The cursor is not valid.')
  return { at, segment, seq: Number(seq) }
}

/** Events of one instant may stand on both pages; they are told apart by where they lie. */
function isAfterCursor({ at, segment, seq }: StoredEvent, cursor: string): boolean {
  const last = readCursor(cursor)
  if (new Date(at).getTime() !== last.at.getTime()) return true
  return segment === last.segment ? seq < last.seq : segment < last.segment
}
