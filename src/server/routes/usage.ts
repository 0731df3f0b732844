import type { LoadedConfig } from '../../config/load.ts'
import { localZone, startOfDay, startOfMonth } from '../../core/local-day.ts'
import type { Runtime } from '../../runtime.ts'
import { pipelineRunsOf } from '../../store/pipeline-runs.ts'
import {
  spentSince,
  sumUsage,
  toolUse,
  toolUsePerDay,
  type UsageFilter,
  usagePerDay,
  usagePerGroup,
  usageTotal,
} from '../../store/tables/usage.ts'
import { type Api, answer, json, route, z } from '../api.ts'
import type { Services } from '../services.ts'
import { span, toSpan } from '../span.ts'

export interface UsageParts {
  readonly runtime: Runtime
  readonly loaded: LoadedConfig
  readonly services: () => Promise<Services>
  readonly now: () => number
}

const by = z.enum(['model', 'provider', 'panel', 'agent', 'run'])
const grouped = span.extend({ by: z.enum([...by.options, 'pipeline']).default('model') })
const times = { p50Ms: z.number().nullable(), p95Ms: z.number().nullable() }
const calls = { tool: z.string(), calls: z.int(), failed: z.int(), refused: z.int() }

const sums = {
  requests: z.int(),
  /** Disjoint kinds of tokens: their sum is what was used. */
  input: z.int(),
  cached: z.int(),
  cacheWrite: z.int(),
  output: z.int(),
  reasoning: z.int(),
  costUsd: z.number(),
  /** Requests whose price is not known: their cost is in none of these sums. */
  unknown: z.int(),
}

const budget = z.object({ limit_usd: z.number().nullable(), spent_usd: z.number() })

/** What models cost, and what tools were called. */
export function usageRoutes(api: Api, parts: UsageParts): void {
  sumRoutes(api, parts)
  groupRoutes(api, parts)
  toolRoutes(api, parts)
}

function sumRoutes(api: Api, { services, loaded, now }: UsageParts): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/usage',
      summary: 'Tokens and money of this workspace, summed up',
      request: {
        query: span.pick({ since: true }).extend({ by: z.enum([...by.options, 'day']).default('model') }),
      },
      responses: { 200: json(z.array(z.object({ key: z.string(), ...sums })), 'The sums') },
    }),
    async context => {
      const { by: group, ...wanted } = context.req.valid('query')
      const { database, runs } = await services()
      const about = { by: group, ...toSpan(wanted), zone: localZone(), place: runs.place }
      return answer(context, await sumUsage(database, about))
    },
  )
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/usage/summary',
      summary: 'Totals of this workspace, and how much of the budgets is used up',
      request: { query: span },
      responses: {
        200: json(
          z.object({
            ...sums,
            runs: z.int(),
            ...times,
            budget: z.object({
              day: budget,
              month: budget,
              warn_at: z.number(),
              /** What one run may cost at most. */
              run_usd: z.number().nullable(),
            }),
          }),
          'The totals',
        ),
      },
    }),
    async context => {
      const { database, runs } = await services()
      const today = new Date(now())
      const { budget: limits, max_cost } = loaded.config.limits
      const { day, month, warn_at } = limits
      const [total, ofDay, ofMonth] = await Promise.all([
        usageTotal(database, filterIn(runs, context.req.valid('query'))),
        spentSince(database, startOfDay(today)),
        spentSince(database, startOfMonth(today)),
      ])
      const budgets = {
        day: { limit_usd: day ?? null, spent_usd: ofDay },
        month: { limit_usd: month ?? null, spent_usd: ofMonth },
        warn_at,
        run_usd: max_cost ?? null,
      }
      return context.json({ ...total, budget: budgets }, 200)
    },
  )
}

function groupRoutes(api: Api, { services, runtime }: UsageParts): void {
  const filterOf = async ({ by: group, ...wanted }: z.infer<typeof grouped>) => {
    const { database, runs } = await services()
    const pipelines = group === 'pipeline' ? { pipelines: pipelinesOfRuns(runtime) } : {}
    const filter: UsageFilter = { ...filterIn(runs, wanted), ...pipelines }
    return { database, group, filter }
  }
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/usage/days',
      summary: 'Tokens and money of this workspace for each day and group',
      request: { query: grouped },
      responses: {
        200: json(z.array(z.object({ day: z.string(), key: z.string(), ...sums })), 'By day, then by group'),
      },
    }),
    async context => {
      const { database, group, filter } = await filterOf(context.req.valid('query'))
      return answer(context, await usagePerDay(database, group, filter))
    },
  )
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/usage/groups',
      summary: 'Tokens, money and times of answers of this workspace for each group',
      request: { query: grouped },
      responses: {
        200: json(z.array(z.object({ key: z.string(), ...sums, ...times })), 'The most expensive first'),
      },
    }),
    async context => {
      const { database, group, filter } = await filterOf(context.req.valid('query'))
      return answer(context, await usagePerGroup(database, group, filter))
    },
  )
}

function toolRoutes(api: Api, { services }: UsageParts): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/usage/tools',
      summary:
        'Calls of agents in this workspace by tool: how many, how many failed or were refused, how long',
      request: { query: span },
      responses: {
        200: json(
          z.array(z.object({ ...calls, asked: z.int(), p50Ms: z.number(), p95Ms: z.number() })),
          'The most used first',
        ),
      },
    }),
    async context => {
      const { database, runs } = await services()
      const filter = filterIn(runs, context.req.valid('query'))
      return answer(context, await toolUse(database, filter))
    },
  )
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/usage/tools/days',
      summary: 'Calls of agents in this workspace for each day and tool',
      request: { query: span },
      responses: { 200: json(z.array(z.object({ day: z.string(), ...calls })), 'By day, then by tool') },
    }),
    async context => {
      const { database, runs } = await services()
      const filter = filterIn(runs, context.req.valid('query'))
      return answer(context, await toolUsePerDay(database, filter))
    },
  )
}

function pipelinesOfRuns({ places }: Runtime): Record<string, string> {
  return Object.fromEntries(
    pipelineRunsOf(places)
      .list()
      .flatMap(({ pipeline, runs }) => runs.map(run => [run, pipeline] as const)),
  )
}

function filterIn({ place }: Services['runs'], wanted: z.infer<typeof span>): UsageFilter {
  return { place, ...toSpan(wanted), zone: localZone() }
}
