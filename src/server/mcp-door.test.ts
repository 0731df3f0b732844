import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../test/support/app.ts'

let app: TestApp

beforeAll(async () => {
  app = await openTestApp()
  app.machine.write('a.txt', 'hello from the workspace')
})
afterAll(() => app.close())

function post(message: object, headers: Record<string, string> = {}) {
  return app.api.request('http://127.0.0.1:4000/mcp', {
    method: 'POST',
    headers: {
      host: '127.0.0.1:4000',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  })
}

const initialize = {
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '0' } },
}

test('a client with a token that may run lists and calls tools', async () => {
  const authorization = `Bearer ${app.token('run')}`
  const begun = await post(initialize, { authorization })
  expect(begun.status).toBe(200)
  const session = begun.headers.get('mcp-session-id') ?? ''
  const own = { authorization, 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' }
  await post({ method: 'notifications/initialized' }, own)
  const read = { name: 'read_file', arguments: { path: 'a.txt' } }
  const called = await post({ id: 2, method: 'tools/call', params: read }, own)
  expect(await called.text()).toContain('hello from the workspace')
})

test('the checks of every other route hold here too', async () => {
  expect((await post(initialize)).status).toBe(401)
  expect((await post(initialize, { authorization: `Bearer ${app.token('read')}` })).status).toBe(403)
  const authorization = `Bearer ${app.token('run')}`
  expect((await post(initialize, { authorization, origin: 'https://evil.example' })).status).toBe(403)
  expect((await post(initialize, { authorization, host: 'evil.example' })).status).toBe(403)
})
