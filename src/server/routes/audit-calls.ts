import type { Runtime } from '../../runtime.ts'
import { readEvents } from '../../store/audit/read.ts'
import { type ListedCall, listRecentCalls } from '../../store/audit/recent-calls.ts'
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

/** Recorded calls, one row each, and what they add up to. */
export function auditCallRoutes(api: Api, { places }: Runtime, now: () => number): void {
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
        directory: places.audit,
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
  summaryRoute(api, places.audit, now)
}

const DAYS_30 = 30 * 86_400_000

const summary = z
  .object({
    calls: z.int(),
    outcomes: z.record(z.string(), z.int()),
    /** Tool → outcome → how often. */
    tools: z.record(z.string(), z.record(z.string(), z.int())),
    /** What decided: rules and grants by id. */
    rules: z.record(z.string(), z.object({ hits: z.int(), last: z.string() })),
    /** Calls that people were asked about and always approved: candidates for a rule. */
    always_approved: z.array(z.object({ tool: z.string(), times: z.int() })),
  })
  .openapi('AuditSummary')

function summaryRoute(api: Api, directory: string, now: () => number): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/audit/summary',
      summary: 'Decisions counted by outcome and rule; of the last 30 days by default',
      request: { query: z.object({ since: time.optional() }) },
      responses: { 200: json(summary, 'The counts') },
    }),
    async context => {
      const { since } = context.req.valid('query')
      const sums = { calls: 0, outcomes: {}, tools: {}, rules: {} } as {
        calls: number
        outcomes: Record<string, number>
        tools: Record<string, Record<string, number>>
        rules: Record<string, { hits: number; last: string }>
      }
      const asked = new Map<string, { approved: number; refused: number }>()
      const from = since === undefined ? new Date(now() - DAYS_30) : new Date(since)
      for await (const { at, event } of readEvents({ directory, since: from })) {
        if (event.type !== 'call-finished') continue
        const { tool, decision } = event
        const { outcome, by, ref } = decision
        sums.calls += 1
        sums.outcomes[outcome] = (sums.outcomes[outcome] ?? 0) + 1
        const own = sums.tools[tool] ?? {}
        sums.tools[tool] = own
        own[outcome] = (own[outcome] ?? 0) + 1
        if (ref !== null) sums.rules[ref.id] = { hits: (sums.rules[ref.id]?.hits ?? 0) + 1, last: at }
        if (by === 'user') {
          const { approved = 0, refused = 0 } = asked.get(tool) ?? {}
          const yes = outcome === 'allow' ? 1 : 0
          asked.set(tool, { approved: approved + yes, refused: refused + 1 - yes })
        }
      }
      const candidates = [...asked].filter(([, { approved, refused }]) => refused === 0 && approved >= 3)
      const always = candidates.map(([tool, { approved }]) => ({ tool, times: approved }))
      return answer(context, { ...sums, always_approved: always.sort((a, b) => b.times - a.times) })
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
