import { laterApprover } from '../../src/core/approval.ts'
import { createApp } from '../../src/server/app.ts'
import { createSessions } from '../../src/server/auth/sessions.ts'
import { makeToken, SCOPES, type Scope, type StoredToken } from '../../src/server/auth/tokens.ts'
import { openTestRuntime, type TestRuntime } from './runtime.ts'

/** The HTTP door over a real runtime, without a port. */
export interface TestApp {
  readonly machine: TestRuntime
  readonly clock: { now: number }
  /** Sends a request with a token of these scopes, and reads the JSON of its answer. */
  send(request: string, body?: unknown, ...scopes: Scope[]): Promise<{ status: number; json: never }>
  close(): Promise<void>
}

export async function openTestApp(config = ''): Promise<TestApp> {
  const machine = await openTestRuntime(config, laterApprover)
  const clock = { now: Date.now() }
  const now = () => clock.now
  const stored: StoredToken[] = []
  const app = createApp({
    runtime: machine.runtime,
    version: '0',
    sessions: createSessions(now),
    tokens: { list: () => stored, add: async () => undefined, remove: async () => false },
    allowedHosts: ['127.0.0.1'],
    now,
  })
  return {
    machine,
    clock,
    async send(request, body, ...scopes) {
      const [method = 'GET', path = ''] = request.split(' ')
      const made = makeToken('test', scopes.length === 0 ? SCOPES : scopes, { now: new Date(clock.now) })
      stored.push(made.stored)
      const response = await app.request(`http://127.0.0.1:4000${path}`, {
        method,
        headers: {
          host: '127.0.0.1:4000',
          authorization: `Bearer ${made.token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      // What a test expects of it is said there.
      return { status: response.status, json: (text === '' ? null : JSON.parse(text)) as never }
    },
    close: () => machine.close(),
  }
}
