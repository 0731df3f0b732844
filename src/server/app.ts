import { isUtf8 } from 'node:buffer'
import { createRoute } from '@hono/zod-openapi'
import { bodyLimit } from 'hono/body-limit'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { routePath } from 'hono/route'
import type { Environment } from '../config/environment.ts'
import type { LoadedConfig } from '../config/load.ts'
import type { Runtime } from '../runtime.ts'
import { type Api, body, createApi, json, route, z } from './api.ts'
import { dashboardRoutes } from './dashboard.ts'
import {
  type DoorContext,
  type DoorOptions,
  guardDoor,
  refuseForgery,
  sessionCookie,
  tooMany,
} from './door.ts'
import type { ConfigFollower } from './follow-config.ts'
import { mcpRoute } from './mcp-door.ts'
import { createRequestCounts, metricRoutes, type RequestCounts } from './metrics.ts'
import { HttpProblem, sendProblem } from './problem.ts'
import { agentRoutes } from './routes/agents.ts'
import { approvalContextRoutes } from './routes/approval-context.ts'
import { approvalOfferRoutes } from './routes/approval-offers.ts'
import { approvalRoutes } from './routes/approvals.ts'
import { auditRoutes } from './routes/audit.ts'
import { auditCallRoutes } from './routes/audit-calls.ts'
import { auditSummaryRoute } from './routes/audit-summary.ts'
import { callRoutes } from './routes/calls.ts'
import { changeRoutes } from './routes/changes.ts'
import { dynamicToolRoutes } from './routes/dynamic-tools.ts'
import { eventRoutes } from './routes/events.ts'
import { executionRoutes } from './routes/executions.ts'
import { homeRoutes } from './routes/home.ts'
import { mcpImportRoutes } from './routes/mcp-import.ts'
import { mcpServerRoutes } from './routes/mcp-servers.ts'
import { modelRoutes } from './routes/models.ts'
import { panelRoutes } from './routes/panels.ts'
import { pipelineRunRoutes } from './routes/pipeline-runs.ts'
import { pipelineRoutes } from './routes/pipelines.ts'
import { reviewRoutes } from './routes/reviews.ts'
import { ruleRoutes } from './routes/rules.ts'
import { runAgentRoutes } from './routes/run-agents.ts'
import { runDetailRoutes } from './routes/run-details.ts'
import { runRoutes } from './routes/runs.ts'
import { scheduleRoutes } from './routes/schedules.ts'
import { settingsRoutes } from './routes/settings.ts'
import { toolRoutes } from './routes/tools.ts'
import { usageRoutes } from './routes/usage.ts'
import { workspaceRoutes } from './routes/workspace.ts'
import type { Services } from './services.ts'

export interface ServerParts extends DoorOptions {
  readonly runtime: Runtime
  readonly loaded: LoadedConfig
  readonly config: ConfigFollower
  readonly environment: Environment
  readonly services: () => Promise<Services>
  readonly version: string
  /** How long a listener that takes nothing is kept. */
  readonly slowListenerMs?: number | undefined
  readonly log: (line: Record<string, unknown>) => void
}

const MOST_BODY_BYTES = 10 * 1024 * 1024
/** Of a request without a good credential, which can only be a link to sign in with: strangers must not fill the memory. */
const MOST_STRANGERS_BYTES = 16 * 1024

export interface App {
  readonly api: Api
  close(): Promise<void>
}

/** The whole HTTP door, without a port: a test can send it requests directly. */
export function createApp(parts: ServerParts): App {
  const { runtime, services } = parts
  const api = createApi()
  const counts = createRequestCounts()
  api.onError((error, context) => sendProblem(context, error))
  api.notFound(context => sendProblem(context, new HttpProblem(404, 'not_found', 'There is nothing here.')))
  observe(api, counts, parts.log)
  api.use('*', guardDoor(parts))
  const [known, unknown] = [limitBody(MOST_BODY_BYTES), limitBody(MOST_STRANGERS_BYTES)]
  api.use('*', (context, next) => (context.get('caller') === undefined ? unknown : known)(context, next))
  // Every body is JSON. What is not UTF-8 would become other characters, unnoticed: another path or another content.
  api.use('*', async ({ req: { raw } }, next) => {
    if (raw.body !== null && !isUtf8(await raw.clone().arrayBuffer()))
      throw new HttpProblem(400, 'invalid_input', 'The body is not UTF-8.')
    await next()
  })
  api.use('*', async (_, next) => {
    await parts.config.check()
    await next()
  })
  openRoutes(api, parts)
  sessionRoutes(api, parts)
  agentRoutes(api, parts)
  panelRoutes(api, parts)
  pipelineRoutes(api, parts)
  pipelineRunRoutes(api, parts)
  scheduleRoutes(api, runtime, parts.now)
  toolRoutes(api, runtime)
  dynamicToolRoutes(api, runtime)
  mcpServerRoutes(api, runtime)
  mcpImportRoutes(api, runtime, parts.environment)
  modelRoutes(api, parts)
  settingsRoutes(api, parts)
  callRoutes(api, runtime)
  approvalRoutes(api, runtime)
  approvalContextRoutes(api, runtime, parts.environment.home)
  approvalOfferRoutes(api, runtime)
  changeRoutes(api, runtime)
  auditCallRoutes(api, runtime)
  auditSummaryRoute(api, runtime, parts.now)
  auditRoutes(api, runtime)
  reviewRoutes(api, runtime)
  ruleRoutes(api, parts)
  runRoutes(api, parts)
  runDetailRoutes(api, parts)
  runAgentRoutes(api, parts)
  executionRoutes(api, parts)
  workspaceRoutes(api, parts)
  usageRoutes(api, parts)
  homeRoutes(api, parts)
  eventRoutes(api, services, { slowMs: parts.slowListenerMs })
  metricRoutes(api, counts, services)
  api.openAPIRegistry.registerComponent('securitySchemes', 'session', {
    type: 'apiKey',
    in: 'cookie',
    name: 'kogu_session',
    description: 'Its name ends with the port of the server, as in kogu_session_4000',
  })
  api.openAPIRegistry.registerComponent('securitySchemes', 'token', { type: 'http', scheme: 'bearer' })
  api.doc31('/api/openapi.json', { openapi: '3.1.0', info: { title: 'Kogu', version: parts.version } })
  const mcp = mcpRoute(api, parts)
  dashboardRoutes(api)
  return { api, close: mcp.close }
}

function limitBody(maxSize: number) {
  const onError = (): never => {
    throw new HttpProblem(413, 'too_large', `A request has at most ${maxSize} bytes.`)
  }
  return bodyLimit({ maxSize, onError })
}

/** One line and one count for every request. No query, no header, no body: each may hold a secret. */
function observe(api: Api, counts: RequestCounts, log: ServerParts['log']): void {
  api.use('*', async (context, next) => {
    const started = performance.now()
    await next()
    const ms = performance.now() - started
    const { method } = context.req
    const { status } = context.res
    // Of the handler that answered; the last one that matches is the dashboard's.
    const path = routePath(context)
    const name = path.startsWith('/api/') ? path : 'other'
    counts.count({ method, route: name, status, ms })
    log({
      level: status >= 500 ? 'error' : 'info',
      event: 'request',
      request_id: context.get('requestId'),
      caller: context.get('caller')?.name ?? null,
      method,
      route: name,
      status,
      ms: Math.round(ms * 10) / 10,
    })
  })
}

/** What needs no session: whether the server lives, and the link that makes a session. */
function openRoutes(api: Api, parts: ServerParts): void {
  api.openapi(
    createRoute({
      method: 'get',
      path: '/api/health',
      summary: 'Whether the server answers',
      security: [],
      responses: { 200: json(z.object({ status: z.literal('ok'), version: z.string() }), 'It does') },
    }),
    context => context.json({ status: 'ok' as const, version: parts.version }, 200),
  )
  api.get('/open', context => context.redirect(openSession(context, parts, context.req.query('link') ?? '')))
  api.openapi(
    createRoute({
      method: 'post',
      path: '/api/auth/login',
      summary: 'Open a browser session with the link of kogu open, as it was copied',
      security: [],
      request: { body: body(z.object({ link: z.string().max(4_000) })) },
      responses: { 204: { description: 'The cookie of the session is set' } },
    }),
    context => {
      refuseForgery(context)
      // A terminal breaks long lines. Anything else than a link is refused, a token too: it is for programs.
      const text = context.req.valid('json').link.replaceAll(/\s/g, '')
      const [, link] = /\/open\?link=([\w-]+)$/.exec(text) ?? []
      if (link === undefined && context.get('isCrowded')) throw tooMany()
      if (link === undefined) {
        throw new HttpProblem(400, 'invalid_input', 'This is not a link of kogu open.', {
          hint: 'Paste the whole link that kogu open or kogu serve printed.',
        })
      }
      openSession(context, parts, link)
      return context.body(null, 204)
    },
  )
}

/** Uses the link up and sets the cookie. Returns the page that the link is for. */
function openSession(context: DoorContext, parts: ServerParts, link: string): string {
  const opened = parts.sessions.redeem(link)
  if (opened === undefined && context.get('isCrowded')) throw tooMany()
  if (opened === undefined) {
    throw new HttpProblem(
      401,
      'unauthorized',
      'This link has been used, has expired or is for another server.',
      {
        hint: 'Get a new one with: kogu open',
      },
    )
  }
  parts.runtime.note('signed-in', { with: 'link' })
  setCookie(context, sessionCookie(context), opened.session, {
    httpOnly: true,
    sameSite: 'Strict',
    path: '/',
    secure: parts.scheme === 'https',
  })
  return opened.target
}

function sessionRoutes(api: Api, { sessions, runtime }: ServerParts): void {
  api.openapi(
    route('read', {
      method: 'post',
      path: '/api/auth/logout',
      summary: 'End this browser session',
      request: { body: body(z.object({})) },
      responses: { 204: { description: 'It has ended' } },
    }),
    context => {
      const cookie = sessionCookie(context)
      sessions.end(getCookie(context, cookie) ?? '')
      runtime.note('signed-out', {})
      deleteCookie(context, cookie, { path: '/' })
      return context.body(null, 204)
    },
  )
}
