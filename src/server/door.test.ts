import { mkdirSync, rmdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestRuntime, type TestRuntime } from '../../test/support/runtime.ts'
import { segmentPath } from '../store/audit/segment-files.ts'
import type { Api } from './api.ts'
import { createApp } from './app.ts'
import { createSessions, type Sessions } from './auth/sessions.ts'
import { makeToken, type Scope, type StoredToken } from './auth/tokens.ts'
import { createRateLimit } from './rate-limit.ts'
import { lazyServices } from './services.ts'

let machine: TestRuntime
let app: Api
let sessions: Sessions
let now = Date.parse('2026-11-16T08:00:00Z')
const stored: StoredToken[] = []
const ORIGIN = 'http://127.0.0.1:4000'

beforeAll(async () => {
  machine = await openTestRuntime()
  sessions = createSessions(() => now)
  const tokens = { list: () => stored, add: async () => undefined, remove: async () => false }
  const allowedHosts = ['127.0.0.1', 'localhost']
  const made = createApp({
    ...{ runtime: machine.runtime, loaded: machine.loaded, version: '0' },
    environment: machine.environment,
    config: {
      loaded: machine.loaded,
      problem: undefined,
      check: async () => undefined,
      close: async () => undefined,
    },
    scheme: 'http',
    ...{ sessions, tokens, allowedHosts, now: () => now, workspace: machine.runtime.workspace },
    services: lazyServices(() => Promise.reject(new Error('There is none.'))),
    log: () => undefined,
  })
  app = made.api
})
afterAll(() => machine.close())

function tokenFor(...scopes: Scope[]): string {
  const made = makeToken('test', scopes, { now: new Date(now), lifetimeMs: 60_000 })
  stored.push(made.stored)
  return made.token
}

function send(
  path: string,
  {
    method = 'GET',
    headers = {},
    body,
  }: { method?: string; headers?: Record<string, string>; body?: unknown } = {},
) {
  // Time for the limit of requests to recover.
  now += 10
  return app.request(`${ORIGIN}${path}`, {
    method,
    headers: {
      host: '127.0.0.1:4000',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

function signIn(): string {
  const opened = sessions.redeem(sessions.createLink())
  return `kogu_session_4000=${opened?.session ?? ''}`
}

/** Every route of the document, with values for its path parameters. */
async function routes(): Promise<{ method: string; path: string; scope: Scope | undefined }[]> {
  const response = await send('/api/openapi.json')
  const document = (await response.json()) as {
    paths: Record<string, Record<string, { 'x-kogu-scope'?: Scope }>>
  }
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, definition]) => ({
      method: method.toUpperCase(),
      path: path.replaceAll(/\{\w+\}/g, 'x'),
      scope: definition['x-kogu-scope'],
    })),
  )
}

describe('every route of the OpenAPI document', () => {
  test('refuses callers without a session or token, with a wrong host, of another site and without the scope', async () => {
    const all = (await routes()).filter(({ scope }) => scope !== undefined)
    expect(all.length).toBeGreaterThan(10)
    const cookie = signIn()
    for (const { method, path, scope } of all) {
      const body = method === 'GET' || method === 'DELETE' ? undefined : {}
      const token = tokenFor(...(['read', 'run', 'approve', 'admin'] as const).filter(each => each !== scope))
      const refused: [number, Record<string, string>][] = [
        [401, {}],
        [401, { authorization: 'Bearer kogu_wrong' }],
        [401, { cookie: 'kogu_session_4000=wrong' }],
        [403, { cookie, host: 'evil.test', 'x-kogu-csrf': '1', origin: ORIGIN }],
        [403, { cookie, origin: 'http://evil.test', 'x-kogu-csrf': '1' }],
        [403, { cookie, 'sec-fetch-site': 'cross-site', 'x-kogu-csrf': '1' }],
        [403, { authorization: `Bearer ${token}` }],
        ...(method === 'GET'
          ? []
          : ([
              [403, { cookie, origin: ORIGIN }],
              [403, { cookie, 'x-kogu-csrf': '1' }],
            ] as [number, Record<string, string>][])),
      ]
      for (const [status, headers] of refused) {
        const response = await send(path, { method, headers, body })
        expect({ path, method, headers, status: response.status }).toEqual({ path, method, headers, status })
        expect(response.headers.get('content-type')).toBe('application/problem+json')
        expect(response.headers.get('access-control-allow-origin')).toBeNull()
      }
    }
  })

  test('refuses a session that has expired', async () => {
    const cookie = signIn()
    now += 13 * 3_600_000
    for (const { method, path } of (await routes()).filter(({ scope }) => scope !== undefined)) {
      const headers = { cookie, 'x-kogu-csrf': '1', origin: ORIGIN }
      const response = await send(path, { method, headers, body: method === 'GET' ? undefined : {} })
      expect({ path, method, status: response.status }).toEqual({ path, method, status: 401 })
    }
  })

  test('takes no body that is not UTF-8, wherever the bytes are', async () => {
    const headers = { authorization: `Bearer ${tokenFor('read', 'run')}`, 'content-type': 'application/json' }
    const input = Buffer.concat([
      Buffer.from('{"tool":"read_file","input":{"path":"a'),
      Buffer.from([0xff]),
      Buffer.from('"}}'),
    ])
    const message = Buffer.concat([
      Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"'),
      Buffer.from([0xe9]),
      Buffer.from('"}}'),
    ])
    for (const [path, body] of [
      ['/api/calls', input],
      ['/mcp', message],
    ] as const) {
      const response = await app.request(`${ORIGIN}${path}`, {
        method: 'POST',
        headers: { host: '127.0.0.1:4000', accept: 'application/json, text/event-stream', ...headers },
        body,
      })
      expect([path, response.status, await response.text()]).toEqual([
        path,
        400,
        expect.stringContaining('not UTF-8'),
      ])
    }
  })

  test('answers malformed and oversized bodies with a problem', async () => {
    const token = tokenFor('read', 'run', 'approve', 'admin')
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    for (const { method, path } of (await routes()).filter(each => ['POST', 'PUT'].includes(each.method))) {
      const notUtf8 = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xc3]), Buffer.from('"}')])
      for (const body of ['{', '[]', '"x"', `{"a":${'['.repeat(50)}`, notUtf8]) {
        const response = await app.request(`${ORIGIN}${path}`, {
          method,
          headers: { host: '127.0.0.1:4000', ...headers },
          body,
        })
        expect([method, path, response.status]).toEqual([method, path, 400])
        expect(await response.json()).toMatchObject({
          status: 400,
          code: 'invalid_input',
          error_code: 'invalid_input',
        })
      }
      const large = await app.request(`${ORIGIN}${path}`, {
        method,
        headers: { host: '127.0.0.1:4000', 'content-length': String(11 * 1024 * 1024), ...headers },
        body: ' '.repeat(11 * 1024 * 1024),
      })
      expect(large.status).toBe(413)
    }
  })
})

test('strangers send no more than a link to sign in with', async () => {
  const send = async (bytes: number, more: Record<string, string> = {}) => {
    const headers = { host: '127.0.0.1:4000', 'content-type': 'application/json', ...more }
    const sent = { method: 'POST', headers, body: ' '.repeat(bytes) }
    return (await app.request(`${ORIGIN}/api/calls`, sent)).status
  }
  expect([await send(100), await send(20_000)]).toEqual([401, 413])
  expect(await send(20_000, { authorization: `Bearer ${tokenFor('run')}` })).toBe(400)
})

test('tokens of one name have limits of their own', async () => {
  const [first, second] = [tokenFor('read'), tokenFor('read')]
  const ask = async (token: string) => {
    const headers = { host: '127.0.0.1:4000', authorization: `Bearer ${token}` }
    return (await app.request(`${ORIGIN}/api/health`, { headers })).status
  }
  while ((await ask(first)) === 200);
  expect([await ask(first), await ask(second)]).toEqual([429, 200])
})

test('strangers who use up their limit keep no credential out, and no link', async () => {
  const headers = { host: '127.0.0.1:4000' }
  const ask = async (path: string, more: Record<string, string> = {}) =>
    (await app.request(`${ORIGIN}${path}`, { headers: { ...headers, ...more } })).status
  const login = async (link: string) =>
    (
      await app.request(`${ORIGIN}/api/auth/login`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', 'x-kogu-csrf': '1', origin: ORIGIN },
        body: JSON.stringify({ link: `${ORIGIN}/open?link=${link}` }),
      })
    ).status
  const wrong = { authorization: 'Bearer kogu_wrong' }
  while ((await ask('/api/tools', wrong)) !== 429);
  expect([await ask('/api/health'), await ask('/open?link=guess'), await login('guess')]).toEqual([
    429, 429, 429,
  ])
  const token = { authorization: `Bearer ${tokenFor('read')}` }
  expect([await ask('/api/health', token), await ask('/api/health', { cookie: signIn() })]).toEqual([
    200, 200,
  ])
  expect([await ask(`/open?link=${sessions.createLink()}`), await login(sessions.createLink())]).toEqual([
    302, 204,
  ])
})

test('what strangers send from one address leaves those of another alone', async () => {
  const from = async (remoteAddress: string) => {
    const env = { incoming: { socket: { remoteAddress } } }
    const headers = { host: '127.0.0.1:4000' }
    return (await app.request(`${ORIGIN}/api/health`, { headers }, env)).status
  }
  while ((await from('127.0.0.2')) === 200);
  expect([await from('127.0.0.2'), await from('127.0.0.3')]).toEqual([429, 200])
})

describe('sessions', () => {
  test('a link opens one session, once, and becomes a cookie that scripts cannot read', async () => {
    const link = sessions.createLink('/approvals')
    const first = await send(`/open?link=${link}`)
    expect([first.status, first.headers.get('location')]).toEqual([302, '/approvals'])
    const cookie = first.headers.get('set-cookie') ?? ''
    expect(cookie).toMatch(/HttpOnly/)
    expect(cookie).toMatch(/SameSite=Strict/)
    expect((await send(`/open?link=${link}`)).status).toBe(401)
    const response = await send('/api/tools', { headers: { cookie: cookie.split(';')[0] ?? '' } })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-security-policy')).toContain("script-src 'self'")
  })

  test('a link that is pasted opens one too, once, only from the page of this server, and a token does not', async () => {
    const link = sessions.createLink()
    const headers = { 'x-kogu-csrf': '1', origin: ORIGIN }
    const paste = (text: string, with_: Record<string, string> = headers) =>
      send('/api/auth/login', { method: 'POST', headers: with_, body: { link: text } })
    const whole = `http://localhost:5000/open?link=${link}`
    const foreign = { ...headers, origin: 'http://evil.test' }
    for (const with_ of [{}, { origin: ORIGIN }, { 'x-kogu-csrf': '1' }, foreign]) {
      expect((await paste(whole, with_)).status).toBe(403)
    }
    const token = tokenFor('admin')
    for (const [text, status] of [
      ...[[token, 400] as const, [`${ORIGIN}/open?link=${token}`, 401] as const],
      ...[['', 400] as const, [link, 400] as const, [`${ORIGIN}/open?link=${link}x`, 401] as const],
    ]) {
      const refused = await paste(text)
      expect([text, refused.status, refused.headers.get('set-cookie')]).toEqual([text, status, null])
    }
    const opened = await paste(` ${whole.slice(0, 40)}\n${whole.slice(40)} `)
    const cookie = opened.headers.get('set-cookie') ?? ''
    expect([opened.status, await opened.text()]).toEqual([204, ''])
    expect(cookie).toMatch(/^kogu_session_4000=.*HttpOnly; SameSite=Strict/)
    const response = await send('/api/tools', { headers: { cookie: cookie.split(';')[0] ?? '' } })
    expect(response.status).toBe(200)
    const again = await paste(whole)
    expect([again.status, again.headers.get('set-cookie')]).toEqual([401, null])
    expect(await again.text()).not.toContain(link)
  })

  test('of two servers on one machine do not sign each other out', async () => {
    const names = ['127.0.0.1:4000', '127.0.0.1:4001'].map(async host => {
      const opened = await send(`/open?link=${sessions.createLink()}`, { headers: { host } })
      return opened.headers.get('set-cookie')?.split('=')[0]
    })
    expect(new Set(await Promise.all(names)).size).toBe(2)
  })

  test('a link and a session end by themselves', async () => {
    const link = sessions.createLink()
    const cookie = signIn()
    now += 13 * 3_600_000
    expect((await send(`/open?link=${link}`)).status).toBe(401)
    expect((await send('/api/tools', { headers: { cookie } })).status).toBe(401)
  })
})

describe('routes', () => {
  test('a call goes through the pipeline, and its refusal is a problem with the founding codes', async () => {
    machine.write('a.txt', 'hello')
    const headers = { authorization: `Bearer ${tokenFor('run', 'read')}` }
    const ok = await send('/api/calls', {
      method: 'POST',
      headers,
      body: { tool: 'Read', input: { path: 'a.txt' } },
    })
    expect([ok.status, await ok.json()]).toMatchObject([200, { ok: true, tool: 'read_file' }])
    const denied = await send('/api/calls', {
      method: 'POST',
      headers,
      body: { tool: 'write_file', input: { path: '.git/config', content: 'x' } },
    })
    expect([denied.status, await denied.json()]).toMatchObject([
      403,
      { error_code: 'tool_permission_denied', code: 'tool_permission_denied', result: { ok: false } },
    ])
    const unknown = await send('/api/calls', { method: 'POST', headers, body: { tool: 'nope' } })
    expect([unknown.status, await unknown.json()]).toMatchObject([404, { error_code: 'not_found' }])
  })

  test('the audit log comes in pages without gaps or repetitions', async () => {
    const headers = { authorization: `Bearer ${tokenFor('run', 'read')}` }
    for (let i = 0; i < 7; i++)
      await send('/api/calls', {
        method: 'POST',
        headers,
        body: { tool: 'read_file', input: { path: 'a.txt' } },
      })
    const hashes: string[] = []
    let cursor = ''
    do {
      const response = await send(
        `/api/audit?limit=3${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
        { headers },
      )
      const page = (await response.json()) as { items: { hash: string }[]; next: string | null }
      hashes.push(...page.items.map(({ hash }) => hash))
      cursor = page.next ?? ''
    } while (cursor !== '')
    const whole = (await (await send('/api/audit?limit=200', { headers })).json()) as {
      items: { hash: string }[]
    }
    expect(hashes).toEqual(whole.items.map(({ hash }) => hash))
    expect(new Set(hashes).size).toBe(hashes.length)
    const lines = (await (await send('/api/audit/export', { headers })).text()).trimEnd().split('\n')
    const [note, ...exported] = lines.map(line => JSON.parse(line) as { hash: string; action?: string })
    expect(note?.action).toBe('audit-exported')
    expect(exported.map(({ hash }) => hash)).toEqual(hashes)
    // Behind a whole segment one that cannot be read: what breaks off does not end like the whole of it.
    const { audit } = machine.runtime.places
    const broken = segmentPath(audit, '20000101T000000000Z-00000000')
    mkdirSync(broken)
    const stopped = await send('/api/audit/export', { headers })
    await expect(stopped.text()).rejects.toThrow()
    rmdirSync(broken)
  })
})

test('callers that keep coming give nobody back the limit that they have used up', () => {
  const limit = createRateLimit({ perSecond: 1, burst: 2, now: () => 0 })
  const takes = (): boolean[] => [1, 2, 3].map(() => limit.take('loud'))
  expect(takes()).toEqual([true, true, false])
  for (let index = 0; index < 2_000; index += 1) {
    limit.take(`other ${index}`)
    expect(limit.take('loud')).toBe(false)
  }
})
