import { createRoute } from '@hono/zod-openapi'
import { bodyLimit } from 'hono/body-limit'
import { setCookie } from 'hono/cookie'
import type { Runtime } from '../runtime.ts'
import { type Api, createApi, json, z } from './api.ts'
import { type DoorOptions, guardDoor, SESSION_COOKIE } from './door.ts'
import { HttpProblem, sendProblem } from './problem.ts'
import { approvalRoutes } from './routes/approvals.ts'
import { auditRoutes } from './routes/audit.ts'
import { callRoutes } from './routes/calls.ts'
import { changeRoutes } from './routes/changes.ts'
import { ruleRoutes } from './routes/rules.ts'
import { toolRoutes } from './routes/tools.ts'

export interface ServerParts extends DoorOptions {
  readonly runtime: Runtime
  readonly version: string
}

const MOST_BODY_BYTES = 10 * 1024 * 1024

/** The whole HTTP door, without a port: a test can send it requests directly. */
export function createApp(parts: ServerParts): Api {
  const api = createApi()
  api.onError((error, context) => sendProblem(context, error))
  api.notFound(context => sendProblem(context, new HttpProblem(404, 'not_found', 'There is nothing here.')))
  api.use('*', guardDoor(parts))
  api.use(
    '*',
    bodyLimit({
      maxSize: MOST_BODY_BYTES,
      onError: () => {
        throw new HttpProblem(413, 'too_large', `A request has at most ${MOST_BODY_BYTES} bytes.`)
      },
    }),
  )
  openRoutes(api, parts)
  toolRoutes(api, parts.runtime)
  callRoutes(api, parts.runtime)
  approvalRoutes(api, parts.runtime)
  changeRoutes(api, parts.runtime)
  auditRoutes(api, parts.runtime)
  ruleRoutes(api, parts.runtime, parts.now)
  api.openAPIRegistry.registerComponent('securitySchemes', 'session', {
    type: 'apiKey',
    in: 'cookie',
    name: SESSION_COOKIE,
  })
  api.openAPIRegistry.registerComponent('securitySchemes', 'token', { type: 'http', scheme: 'bearer' })
  api.doc31('/api/openapi.json', { openapi: '3.1.0', info: { title: 'Kogu', version: parts.version } })
  return api
}

/** What needs no session: whether the server lives, and the link that makes a session. */
function openRoutes(api: Api, { sessions, version }: ServerParts): void {
  api.openapi(
    createRoute({
      method: 'get',
      path: '/api/health',
      summary: 'Whether the server answers',
      security: [],
      responses: { 200: json(z.object({ status: z.literal('ok'), version: z.string() }), 'It does') },
    }),
    context => context.json({ status: 'ok' as const, version }, 200),
  )
  api.get('/open', context => {
    const opened = sessions.redeem(context.req.query('link') ?? '')
    if (opened === undefined) {
      throw new HttpProblem(401, 'unauthorized', 'This link has been used or has expired.', {
        hint: 'Get a new one with: kogu open',
      })
    }
    setCookie(context, SESSION_COOKIE, opened.session, { httpOnly: true, sameSite: 'Strict', path: '/' })
    return context.redirect(opened.target)
  })
}
