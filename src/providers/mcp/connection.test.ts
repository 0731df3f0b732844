import { expect, test } from 'vitest'
import { connect } from './connection.ts'
import type { McpServerConfig } from './server-config.ts'

const server: McpServerConfig = {
  ...{ name: 'silent', enabled: true, env: {}, headers: {}, on: [], off: [], hosts: [], write: [] },
  ...{ startMs: 3_600_000, timeoutMs: 1000, era: 'legacy', sandbox: true, workspace: 'read-only' },
}

test('a start that nobody waits for any more ends at once, and so does the server', async () => {
  const closed = Promise.withResolvers<void>()
  const ending = new AbortController()
  const connecting = connect({
    server,
    version: '0',
    signal: ending.signal,
    onToolsChanged: () => undefined,
    open: async () => ({
      over: async () => undefined,
      errors: () => '',
      transport: {
        start: async () => undefined,
        // Whatever it is sent, it says nothing.
        send: async () => ending.abort(),
        close: async () => closed.resolve(),
      },
    }),
  })
  await expect(connecting).rejects.toThrow()
  await closed.promise
})
