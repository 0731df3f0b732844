import { laterApprover } from '../../src/core/approval.ts'
import type { Api } from '../../src/server/api.ts'
import { createApp } from '../../src/server/app.ts'
import { createSessions } from '../../src/server/auth/sessions.ts'
import { makeToken, SCOPES, type Scope, type StoredToken } from '../../src/server/auth/tokens.ts'
import { followConfig } from '../../src/server/follow-config.ts'
import { lazyServices, openServices, type Services } from '../../src/server/services.ts'
import type { WebClientOptions } from '../../src/tools/web/web-client.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { openTestRuntime, type TestRuntime } from './runtime.ts'

/** The HTTP door over a real runtime, without a port. */
export interface TestApp {
  readonly api: Api
  readonly machine: TestRuntime
  readonly services: () => Promise<Services>
  /** A token of these scopes; of all of them by default. */
  token(...scopes: Scope[]): string
  /** Adds a token that a test made itself. */
  store(token: StoredToken): void
  /** Revokes all tokens. */
  revoke(): void
  /** Sends a request with such a token, the same for the same scopes, and reads the JSON of its answer. */
  send(request: string, body?: unknown, ...scopes: Scope[]): Promise<{ status: number; json: never }>
  close(): Promise<void>
}

export interface TestAppOptions {
  readonly config?: string
  /** With a database of its own, and a worker on it. */
  readonly database?: boolean
  readonly web?: WebClientOptions
  /** How long a listener that takes nothing is kept. Defaults to a time that no test takes. */
  readonly slowListenerMs?: number
  readonly onQuestion?: (question: { id: string; tool: string; risk: string }) => void
}

const HOST = '127.0.0.1:4000'

export async function openTestApp({
  config = '',
  database = false,
  web = {},
  slowListenerMs = 600_000,
  onQuestion,
}: TestAppOptions = {}): Promise<TestApp> {
  const machine = await openTestRuntime(config, laterApprover, web)
  const made: { database?: TestDatabase; services?: Services } = {}
  const began = Date.now()
  const services = lazyServices(async reached => {
    if (!database) throw new Error('This test has none.')
    // Load must not decide.
    reached()
    made.database = await createTestDatabase()
    const environment = {
      ...machine.environment,
      variables: { ...machine.environment.variables, DATABASE_URL: made.database.url },
    }
    made.services = await openServices({
      ...{ environment, loaded: machine.loaded, runtime: machine.runtime, version: '0', began },
      log: () => undefined,
      onQuestion: question => onQuestion?.(question),
    })
    return made.services
  })
  const follower = followConfig({
    ...{ runtime: machine.runtime, loaded: machine.loaded, environment: machine.environment },
  })
  const stored: StoredToken[] = []
  const app = createApp({
    ...{ runtime: machine.runtime, loaded: machine.loaded, services, version: '0' },
    environment: machine.environment,
    config: follower,
    slowListenerMs,
    scheme: 'http',
    sessions: createSessions(Date.now),
    tokens: { list: () => stored, add: async () => undefined, remove: async () => false },
    allowedHosts: ['127.0.0.1'],
    workspace: machine.runtime.workspace,
    now: Date.now,
    log: () => undefined,
  })
  const { api } = app
  const token = (...scopes: Scope[]): string => {
    const fresh = makeToken('test', scopes.length === 0 ? SCOPES : scopes, { now: new Date() })
    stored.push(fresh.stored)
    return fresh.token
  }
  // One caller, however often it asks: what belongs to it stays its own.
  const sent = new Map<string, string>()
  const tokenFor = (scopes: readonly Scope[]): string => {
    const known = sent.get(scopes.join())
    const used = known ?? token(...scopes)
    sent.set(scopes.join(), used)
    return used
  }
  return {
    api,
    machine,
    services,
    token,
    store: token => void stored.push(token),
    revoke() {
      stored.splice(0)
      sent.clear()
    },
    async send(request, body, ...scopes) {
      const [method = 'GET', path = ''] = request.split(' ')
      const response = await api.request(`http://${HOST}${path}`, {
        method,
        headers: {
          host: HOST,
          authorization: `Bearer ${tokenFor(scopes)}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      const isJson = /json/.test(response.headers.get('content-type') ?? '')
      // What a test expects of it is said there.
      return { status: response.status, json: (isJson ? JSON.parse(text) : text) as never }
    },
    async close() {
      await app.close()
      await follower.close()
      await made.services?.close()
      await machine.close()
      await made.database?.close()
    },
  }
}
