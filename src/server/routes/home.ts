import type { Environment } from '../../config/environment.ts'
import type { LoadedConfig } from '../../config/load.ts'
import { openModels } from '../../models.ts'
import type { Runtime } from '../../runtime.ts'
import { listPanels } from '../../store/runs/find-agent.ts'
import { toolUse, usageTotal } from '../../store/tables/usage.ts'
import { listRuns } from '../../store/tables/workflow-runs.ts'
import { type Api, answer, json, route, z } from '../api.ts'
import type { ConfigFollower } from '../follow-config.ts'
import type { Services } from '../services.ts'
import { runShape, showRun } from '../show-run.ts'

export interface HomeParts {
  readonly runtime: Runtime
  readonly loaded: LoadedConfig
  readonly config: ConfigFollower
  readonly environment: Environment
  readonly services: () => Promise<Services>
  readonly now: () => number
}

const home = z
  .object({
    workspace: z.string(),
    mode: z.string(),
    /** What is left to do before Kogu can be used. */
    setup: z.object({
      model: z.string().nullable(),
      trust: z.enum(['not-needed', 'trusted', 'untrusted', 'changed']),
      panels: z.int(),
      runs: z.int(),
    }),
    waiting: z.array(
      z.object({
        id: z.string(),
        tool: z.string(),
        risk: z.string(),
        run: z.string(),
        created_at: z.string(),
        expires_at: z.string(),
      }),
    ),
    running: z.array(runShape),
    /** `code` names what the page has words for; `text` says it in English. */
    attention: z.array(
      z.object({
        kind: z.string(),
        subject: z.string(),
        text: z.string(),
        code: z.string().optional(),
        count: z.int().optional(),
      }),
    ),
    last_day: z.object({
      runs: z.int(),
      failed_runs: z.int(),
      calls: z.int(),
      asked: z.int(),
      refused: z.int(),
      cost_usd: z.number(),
      unknown_prices: z.int(),
      budget_usd: z.number().nullable(),
    }),
  })
  .openapi('Home')

const DAY_MS = 86_400_000
const MOST_RUNS = 200

/** What a person wants to see first. */
export function homeRoutes(api: Api, parts: HomeParts): void {
  const { runtime, loaded, environment, services, now } = parts
  const models = openModels(loaded, environment)
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/home',
      summary: 'What waits, what runs, what needs attention, and the last 24 hours',
      responses: { 200: json(home, 'The summary') },
    }),
    async context => {
      const { database, runs } = await services()
      const { workspace } = runtime
      const { place } = runs
      const filter = { place, since: new Date(now() - DAY_MS) }
      const [questions, running, recent, used, tools, [any]] = await Promise.all([
        runtime.listQuestions(),
        listRuns(database, { place, status: 'running', limit: 20 }),
        listRuns(database, { ...filter, limit: MOST_RUNS }),
        usageTotal(database, filter),
        toolUse(database, filter),
        listRuns(database, { place, limit: 1 }),
      ])
      const waiting = questions.filter(({ answer: given }) => given === null)
      const sum = (name: 'calls' | 'asked' | 'refused'): number =>
        tools.reduce((total, tool) => total + tool[name], 0)
      return answer(context, {
        workspace,
        mode: parts.config.loaded.config.mode,
        setup: {
          model: models.defaultId() ?? null,
          trust: parts.config.loaded.trust.status,
          panels: listPanels(workspace).length,
          runs: any === undefined ? 0 : 1,
        },
        waiting: waiting.map(({ id, tool, risk, runId, createdAt, expiresAt }) => ({
          ...{ id, tool: tool.name, risk, run: runId },
          created_at: new Date(createdAt).toISOString(),
          expires_at: new Date(expiresAt).toISOString(),
        })),
        running: running.map(showRun),
        attention: await attention(parts, used.unknown),
        last_day: {
          runs: recent.length,
          failed_runs: recent.filter(({ status }) => status === 'failed').length,
          calls: sum('calls'),
          // A call that waits is not among the calls that were made yet.
          asked: sum('asked') + waiting.length,
          refused: sum('refused'),
          cost_usd: used.costUsd,
          unknown_prices: used.unknown,
          budget_usd: loaded.config.limits.budget.day ?? null,
        },
      })
    },
  )
}

async function attention({ runtime, config }: HomeParts, unknownPrices: number) {
  const admin = await runtime.mcp()
  const servers = admin.servers.flatMap(server => {
    const status = admin.status(server)
    const held = Object.keys(admin.record(server)?.held ?? {}).length
    if (status === 'not trusted' || status === 'changed')
      return [
        {
          ...{ kind: 'mcp', subject: server.name, text: `The MCP server '${server.name}' is ${status}.` },
          code: status === 'changed' ? 'server-changed' : 'server-untrusted',
        },
      ]
    const text = `${held} tools of '${server.name}' are held.`
    return held === 0 ? [] : [{ kind: 'mcp', subject: server.name, text, code: 'tools-held', count: held }]
  })
  const unusable = runtime.dynamic?.problems() ?? []
  return [
    ...servers,
    // Of a server that is named already, the reason is the same.
    ...runtime.registry
      .problems()
      .filter(text => !servers.some(({ subject }) => text.startsWith(`mcp:${subject} `)))
      .map(text => ({ kind: 'tools', subject: '', text })),
    ...unusable.map(text => ({ kind: 'dynamic', subject: '', text })),
    ...(config.problem === undefined
      ? []
      : [{ kind: 'config', subject: '', text: `The configuration is as it was before: ${config.problem}` }]),
    ...config.loaded.warnings.map(({ message }) => ({ kind: 'config', subject: '', text: message })),
    ...(unknownPrices === 0
      ? []
      : [
          {
            ...{ kind: 'price', subject: '', code: 'unknown-price', count: unknownPrices },
            text: `${unknownPrices} requests went to models of unknown price.`,
          },
        ]),
  ]
}
