import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { describe, expect, test } from 'vitest'
import { aboutKogu } from './about.ts'
import { createServer, type ServerParts } from './create-server.ts'
import { isInitialized, readGreeting } from './greeting.ts'

const clientInfo = { name: 'tester', version: '1' }

function line(params: object, more: object = {}): Buffer {
  return Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'initialize', params, ...more })}\n`)
}

/** What the SDK answers to the same line. */
async function answerOfSdk(greeting: Buffer): Promise<unknown> {
  const [input, output] = [new PassThrough(), new PassThrough()]
  // An introduction asks nothing of the parts.
  const parts = { version: '1', state: { verify: () => undefined } } as unknown as ServerParts
  const handle = serveStdio(() => createServer(parts), { transport: new StdioServerTransport(input, output) })
  input.write(greeting)
  const [answer] = await once(output, 'data')
  await handle.close()
  return JSON.parse(String(answer))
}

describe('an introduction', () => {
  test.each(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'])(
    'of %s is answered as the SDK answers it',
    async protocolVersion => {
      const greeting = line({ protocolVersion, capabilities: { roots: {} }, clientInfo, unknown: 1 })
      expect(readGreeting(greeting)).toEqual({ id: 7, protocolVersion, client: 'tester', canAsk: false })
      expect(await answerOfSdk(greeting)).toEqual({
        jsonrpc: '2.0',
        id: 7,
        result: { protocolVersion, ...aboutKogu('1') },
      })
    },
  )

  const usual = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
  test.each([
    ['of another version', line({ ...usual, protocolVersion: '2026-07-28' })],
    ['without a name', line({ ...usual, clientInfo: { version: '1' } })],
    ['without capabilities', line({ protocolVersion: '2025-06-18', clientInfo })],
    ['with odd capabilities', line({ ...usual, capabilities: { elicitation: 'all' } })],
    ['without an id', line(usual, { id: null })],
    ['that is another request', line(usual, { method: 'tools/call', note: 'initialize' })],
    ['that is not JSON', Buffer.from('{"method":"initialize"\n')],
  ])('%s is left to the SDK', (_, greeting) => {
    expect(readGreeting(greeting)).toBeUndefined()
  })

  test('says whether the client can ask its person', () => {
    const canAsk = (elicitation: object) =>
      readGreeting(line({ ...usual, capabilities: { elicitation } }))?.canAsk
    expect([{}, { form: {} }, { form: {}, url: {} }, { url: {} }].map(canAsk)).toEqual([
      true,
      true,
      true,
      false,
    ])
  })

  test('ends with a notification, and with nothing that only names it', () => {
    expect(isInitialized(Buffer.from('{"jsonrpc":"2.0","method":"notifications/initialized"}\n'))).toBe(true)
    expect(isInitialized(Buffer.from('{"id":1,"method":"notifications/initialized"}\n'))).toBe(false)
    expect(isInitialized(Buffer.from('{"method":"x","a":"notifications/initialized"}\n'))).toBe(false)
  })
})
