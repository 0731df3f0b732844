import type { Runtime } from '../../runtime.ts'
import { type ListedCall, listRecentCalls } from '../../store/audit/recent-calls.ts'
import { logFolders } from '../../store/places.ts'
import { type Api, answer, json, pageQuery, route, withoutUndefined, z } from '../api.ts'
import { HttpProblem } from '../problem.ts'

const time = z.iso.datetime({ offset: true })

const filters = pageQuery.extend({
  since: time.optional(),
  until: time.optional(),
  tool: z.string().max(200).optional(),
  run: z.string().max(200).optional(),
  agent: z.string().max(200).optional(),
  caller: z.string().max(200).optional(),
  outcome: z.enum(['allow', 'ask', 'deny']).optional(),
  /** What decided it: `rule`, `grant`, `mode`, `user`, … */
  by: z.string().max(40).optional(),
  /** The id of the rule or grant that decided it. */
  ref: z.string().max(200).optional(),
  risk: z.enum(['low', 'high']).optional(),
  ok: z.enum(['true', 'false']).optional(),
  /** In the input, the decision or the error, without regard to case. */
  text: z.string().max(500).optional(),
})

const call = z
  .object({
    call: z.string(),
    at: z.string(),
    segment: z.string(),
    seq: z.int(),
    hash: z.string(),
    run: z.string(),
    agent: z.string().nullable(),
    caller: z.string().nullable(),
    tool: z.string(),
    /** Null when its beginning is not in the part of the log that was read. */
    input: z.unknown(),
    ok: z.boolean(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    decision: z.looseObject({ outcome: z.string(), by: z.string(), reason: z.string() }),
    risk: z.string(),
    mode: z.string().nullable(),
    effects: z.array(z.unknown()),
    run_ms: z.number(),
    wait_ms: z.number(),
  })
  .openapi('AuditedCall')

/** Recorded calls, one row each. */
export function auditCallRoutes(api: Api, { places }: Runtime): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/audit/calls',
      summary: 'Recorded calls, newest first',
      request: { query: filters },
      responses: {
        200: json(z.object({ items: z.array(call), next: z.string().nullable() }), 'A page of calls'),
      },
    }),
    async context => {
      const { limit, cursor, since, until, run, ...wanted } = context.req.valid('query')
      const found = await listRecentCalls({
        directory: logFolders(places),
        limit: limit + 1,
        matches: each => isWanted(each, wanted),
        ...withoutUndefined({ run }),
        ...(since === undefined ? {} : { since: new Date(since) }),
        ...(until === undefined ? {} : { until: new Date(until) }),
        ...(cursor === undefined ? {} : { after: readCursor(cursor) }),
      })
      const page = found.slice(0, limit)
      const last = page.at(-1)
      const next =
        found.length > limit && last !== undefined ? `${last.at}~${last.segment}~${last.seq}` : null
      return answer(context, { items: page.map(toCall), next })
    },
  )
}

type Wanted = Omit<z.infer<typeof filters>, 'limit' | 'cursor' | 'since' | 'until' | 'run'>

function isWanted({ finished, started }: ListedCall, wanted: Wanted): boolean {
  const { tool, agent, caller, outcome, by, ref, risk, ok, text } = wanted
  const { decision } = finished
  const fits = (value: unknown, wish: string | undefined): boolean =>
    wish === undefined || String(value) === wish
  return (
    fits(finished.tool, tool) &&
    fits(started?.agent, agent) &&
    fits(started?.caller, caller) &&
    fits(decision.outcome, outcome) &&
    fits(decision.by, by) &&
    fits(decision.ref?.id, ref) &&
    fits(finished.risk, risk) &&
    fits(finished.ok, ok) &&
    (text === undefined || JSON.stringify([started, finished]).toLowerCase().includes(inJson(text)))
  )
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1).toLowerCase()
}

function toCall({ at, segment, seq, hash, finished, started }: ListedCall): z.infer<typeof call> {
  return {
    ...{ call: finished.call, at, segment, seq, hash, run: finished.run },
    agent: started?.agent ?? null,
    caller: started?.caller ?? null,
    tool: finished.tool,
    input: started?.input ?? null,
    ok: finished.ok,
    error: finished.error ?? null,
    decision: { ...finished.decision },
    risk: finished.risk,
    mode: finished.mode ?? null,
    effects: [...finished.effects],
    run_ms: finished.runMs,
    wait_ms: finished.waitMs,
  }
}

/** `time~segment~number` of the last row of the page before. */
function readCursor(cursor: string): { at: string; segment: string; seq: number } {
  const [at = '', segment = '', seq = ''] = cursor.split('~')
  if (Number.isNaN(Date.parse(at)) || !/^\d+$/.test(seq))
    throw new HttpProblem(400, 'invalid_input', 'The cursor is not valid.')
  return { at, segment, seq: Number(seq) }
}
