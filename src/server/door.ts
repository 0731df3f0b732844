import { randomUUID } from 'node:crypto'
import type { HttpBindings } from '@hono/node-server'
import type { Context, MiddlewareHandler } from 'hono'
import { getCookie } from 'hono/cookie'
import type { Sessions } from './auth/sessions.ts'
import { findToken, SCOPES, type Scope, type TokenStore } from './auth/tokens.ts'
import { HttpProblem } from './problem.ts'
import { createRateLimit } from './rate-limit.ts'

// What every request passes before a route sees it: host, origin, who it is, what it may do. A page of another site, a
// name that was rebound to this address and a program without a token all end here.

/** Browsers send cookies to all ports of a host: each server has its own, or one would sign the other's browser out. */
export function sessionCookie(context: Context): string {
  const [, port] = /:(\d+)$/.exec(context.req.header('host') ?? '') ?? []
  return port === undefined ? 'kogu_session' : `kogu_session_${port}`
}

export interface DoorOptions {
  readonly sessions: Sessions
  readonly tokens: TokenStore
  /** Whose server this is: tokens can be for one workspace only. */
  readonly workspace: string
  /** Names, without a port, under which this server may be addressed. */
  readonly allowedHosts: readonly string[]
  /** How browsers reach it: `https` also behind a proxy that has TLS. */
  readonly scheme: 'http' | 'https'
  readonly now: () => number
}

/** Who is asking. A browser session is the person; a token is what it was made for. */
interface Caller {
  /** One for each token, whatever it is called. */
  readonly id: string
  readonly name: string
  readonly kind: 'session' | 'token'
  readonly scopes: readonly Scope[]
  /** Of a token that is for one workspace. */
  readonly isBound: boolean
}

export interface DoorVariables {
  requestId: string
  caller: Caller | undefined
  /** Whether the session or token still counts: a stream outlasts the look at its beginning. */
  mayStay: () => boolean
  /** What a page of this server says it comes from. */
  ownOrigin: string
  /** Others have used up what those without a credential may ask here. Only a good credential is still let in. */
  isCrowded: boolean
}

export type DoorContext = Context<{ Variables: DoorVariables }>

/** For what is more than the scope of its route: to decide what a person would be asked about. */
export function mayApprove(context: DoorContext): boolean {
  return context.get('caller')?.scopes.includes('approve') === true
}

/** Who asks, as the audit log and the runs name them. Two tokens may have the same name, so the id of a token is part of it. */
export function callerName(context: DoorContext): string {
  const { id, name, kind } = context.get('caller') ?? { id: '', name: '', kind: 'session' }
  return kind === 'token' ? `http:${name}#${id}` : `http:${name}`
}

/** The same for the parts that both doors use. */
export function doorUser(context: DoorContext): { caller: string; mayApprove: boolean; isBound: boolean } {
  const isBound = context.get('caller')?.isBound === true
  return { caller: callerName(context), mayApprove: mayApprove(context), isBound }
}

/**
 * For what makes a run go on: it uses the answers that were given to that run, and one that a person has stopped or paused
 * stays so. Who did not start the run needs the scope that answering needs.
 */
export function refuseForeign(context: DoorContext, startedBy: string | undefined): void {
  if (startedBy === callerName(context) || mayApprove(context)) return
  throw new HttpProblem(403, 'forbidden', 'Another caller has started this run.', {
    hint: "Making it go on, or saying something to it, needs the scope 'approve'.",
  })
}

/** For what holds in every workspace of the person: a token of one does not reach the others. */
export function refuseBound(context: DoorContext): void {
  if (context.get('caller')?.isBound !== true) return
  throw new HttpProblem(
    403,
    'forbidden',
    'This token is for one workspace, and this would hold in others too.',
    {
      hint: 'Do it in the browser, or with a token that was made with --all-workspaces.',
    },
  )
}

/**
 * The run that a request names. Each caller has its own: the id of another's run, or of one of an agent or a pipeline, is no
 * secret, and must not let anybody use the answers that were given to it.
 */
export function ownRun(context: DoorContext, name: string): string {
  const own = `${context.get('caller')?.id ?? ''}.`
  return name.startsWith(own) ? name : `${own}${name}`
}

const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
    "object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

export function guardDoor(options: DoorOptions): MiddlewareHandler<{ Variables: DoorVariables }> {
  const limit = createRateLimit({ perSecond: 200, burst: 1_000, now: options.now })
  return async (context, next) => {
    context.set('requestId', randomUUID())
    refuseWrongHost(context, options.allowedHosts)
    refuseForeignOrigin(context, options)
    const given = credentialsOf(context)
    const caller = identify(given, options)
    context.set('caller', caller)
    context.set('mayStay', () => identify(given, options) !== undefined)
    context.set('ownOrigin', ownOrigin(context, options))
    // A credential is looked at first, and its holder has a limit of their own: what strangers send, from the same address
    // too, must not keep a person out. All programs of one machine have one address.
    const isWithin = limit.take(caller?.id ?? `nobody at ${sourceOf(context)}`)
    const maySignIn = caller === undefined && SIGN_IN.has(context.req.path)
    context.set('isCrowded', !isWithin)
    if (!isWithin && !maySignIn) throw tooMany()
    await next()
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) context.res.headers.set(name, value)
  }
}

export function tooMany(): HttpProblem {
  return new HttpProblem(429, 'rate_limited', 'Too many requests.', { hint: 'Wait a second and try again.' })
}

/** Where a link becomes a session. They refuse themselves what is no good link when there is a crowd. */
const SIGN_IN: ReadonlySet<string> = new Set(['/open', '/api/auth/login'])

/** The address that a request comes from. Behind a proxy it is the proxy's: what a header says can be made up. */
function sourceOf({ env }: DoorContext): string {
  const { incoming } = (env ?? {}) as Partial<HttpBindings>
  return incoming?.socket.remoteAddress ?? ''
}

/** A route's own guard: the caller has to have this scope. */
export function requireScope(scope: Scope): MiddlewareHandler<{ Variables: DoorVariables }> {
  return async (context, next) => {
    const caller = context.get('caller')
    if (caller === undefined) {
      throw new HttpProblem(401, 'unauthorized', 'No session and no valid token.', {
        hint: 'Open the link that kogu serve printed, or send Authorization: Bearer TOKEN (kogu tokens create, in the workspace of the server).',
      })
    }
    if (!caller.scopes.includes(scope)) {
      throw new HttpProblem(403, 'forbidden', `This token does not have the scope '${scope}'.`)
    }
    refuseForgery(context)
    await next()
  }
}

/** A name that was rebound to 127.0.0.1 still stands in the Host header. */
function refuseWrongHost(context: DoorContext, allowed: readonly string[]): void {
  const host = context.req.header('host') ?? ''
  const name = host.replace(/:\d+$/, '').toLowerCase()
  if (!allowed.includes(name)) {
    throw new HttpProblem(403, 'forbidden', 'This host name is not allowed.', {
      hint: 'Add it to [server] allowed_hosts if it is yours.',
    })
  }
}

function refuseForeignOrigin(context: DoorContext, options: DoorOptions): void {
  const origin = context.req.header('origin')
  const site = context.req.header('sec-fetch-site')
  const isOwn = origin === undefined || origin === ownOrigin(context, options)
  // A link on another site may lead here; nothing else of it may.
  const isNavigation = context.req.method === 'GET' && context.req.header('sec-fetch-mode') === 'navigate'
  const isCrossSite = (site === 'cross-site' || site === 'same-site') && !isNavigation
  if (!isOwn || isCrossSite) throw new HttpProblem(403, 'forbidden', 'Requests from other sites are refused.')
}

/** What a browser sends along by itself is not enough for a change: a form of another site would send it too. */
export function refuseForgery(context: DoorContext): void {
  if (
    context.get('caller')?.kind === 'token' ||
    context.req.method === 'GET' ||
    context.req.method === 'HEAD'
  )
    return
  if (
    context.req.header('x-kogu-csrf') !== '1' ||
    context.req.header('origin') !== context.get('ownOrigin')
  ) {
    throw new HttpProblem(
      403,
      'forbidden',
      'The request lacks the header X-Kogu-CSRF: 1 or a same-origin Origin.',
    )
  }
}

function ownOrigin(context: DoorContext, { scheme }: DoorOptions): string {
  return `${scheme}://${context.req.header('host')}`
}

interface Credentials {
  readonly authorization: string | undefined
  readonly session: string | undefined
}

function credentialsOf(context: DoorContext): Credentials {
  return {
    authorization: context.req.header('authorization'),
    session: getCookie(context, sessionCookie(context)),
  }
}

function identify(
  { authorization, session }: Credentials,
  { sessions, tokens, workspace, now }: DoorOptions,
): Caller | undefined {
  if (authorization !== undefined) {
    const [, token = ''] = /^Bearer ([\w-]+)$/i.exec(authorization) ?? []
    const found = findToken(tokens.list(), token, { now: new Date(now()), workspace })
    return found === undefined
      ? undefined
      : {
          ...{ id: found.id, name: found.name, kind: 'token', scopes: found.scopes },
          isBound: found.workspace != null,
        }
  }
  if (session === undefined || !sessions.isValid(session)) return undefined
  return { id: 'person', name: 'person', kind: 'session', scopes: SCOPES, isBound: false }
}
