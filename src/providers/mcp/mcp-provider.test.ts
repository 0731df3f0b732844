import { expect, test } from 'vitest'
import { localProvider, PRIORITY } from '../../core/provider.ts'
import { Registry } from '../../core/registry.ts'
import type { AnyTool, ToolContext } from '../../core/tool.ts'
import { toolPattern } from '../../permissions/rules/rules.ts'
import type { OpenedTransport } from './connection.ts'
import { createMcpProvider } from './mcp-provider.ts'
import { compareWithPins, type McpRecord } from './record.ts'
import { configHash, type McpServerConfig } from './server-config.ts'
import { toTool } from './to-tool.ts'

const server: McpServerConfig = {
  ...{ name: 'slow', enabled: true, env: {}, headers: {}, on: [], off: [], hosts: [], write: [] },
  ...{ startMs: 3_600_000, timeoutMs: 1000, era: 'legacy', sandbox: true, workspace: 'read-only' },
}

/** A server with one tool. `onList` is called before it answers which tools it has, and may let it say that they change. */
function openServer(onList: (announce: () => void) => void): OpenedTransport {
  const transport: OpenedTransport['transport'] = {
    start: async () => undefined,
    close: async () => undefined,
    async send(message) {
      if (!('id' in message) || !('method' in message)) return
      const { id, method } = message
      const announce = (): void =>
        transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
      if (method === 'tools/list') onList(announce)
      transport.onmessage?.({ jsonrpc: '2.0', id, result: RESULTS[method] ?? {} })
    },
  }
  return { transport, over: async () => undefined, errors: () => '' }
}

const RESULTS: Readonly<Record<string, Record<string, unknown>>> = {
  'tools/list': { tools: [{ name: 'look', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: 'called' }] },
  initialize: {
    protocolVersion: '2025-06-18',
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'slow', version: '1' },
  },
}

const TRUSTED: McpRecord = { config: configHash(server), trustedAt: '', pins: {}, held: {} }

/** A provider of the server above over one record; `before` is what another process has written meanwhile. */
function createProvider(
  onList: Parameters<typeof openServer>[0],
  before: (record: McpRecord | undefined) => McpRecord | undefined = record => record,
) {
  const state: { record: McpRecord | undefined } = { record: TRUSTED }
  const provider = createMcpProvider({
    server,
    version: '0',
    records: {
      read: () => state.record,
      update: async (_, edit) => {
        state.record = edit(before(state.record))
      },
    },
    open: async () => openServer(onList),
    callOnLayer: () => Promise.reject(new Error('Nothing is called.')),
  })
  return { provider, state }
}

async function startServer(takeBack: boolean) {
  const offered: (readonly AnyTool[])[] = []
  const { provider, state } = createProvider(() => {
    if (takeBack) state.record = undefined
  })
  const signal = new AbortController().signal
  const start = async (): Promise<void> => provider.start(signal, tools => offered.push(tools))
  const problem = await start().catch((error: Error) => error.message)
  await provider.close()
  const names = offered.flat().map(({ name }) => name)
  const { record } = state
  return { names, pinned: Object.keys(record?.pins ?? {}), record, problem }
}

test('the first list of a trusted server is pinned and offered', async () => {
  expect(await startServer(false)).toMatchObject({ names: ['slow__look'], pinned: ['look'] })
})

test('tools that come after an empty first list are held', () => {
  const look = { name: 'look', inputSchema: { type: 'object' } }
  expect(compareWithPins(TRUSTED, [look]).approved).toEqual([look])
  expect(compareWithPins({ ...TRUSTED, era: 'legacy' }, [look])).toEqual({ approved: [], held: { look } })
})

test('trust that is taken back while a server is starting does not come back with its answer', async () => {
  expect(await startServer(true)).toEqual({
    names: [],
    pinned: [],
    record: undefined,
    problem: expect.stringContaining('not trusted'),
  })
})

test.each([
  [2, 'called'],
  [100, 'its tools do not stop changing'],
])('a server that changes its tools %i times while it is asked which it has', async (times, said) => {
  let left = times
  const { provider } = createProvider(announce => {
    if (left-- > 0) announce()
  })
  const offered: AnyTool[] = []
  await provider.start(new AbortController().signal, tools => offered.push(...tools))
  // Of a context, a call of a server uses these two only.
  const context = {
    signal: new AbortController().signal,
    progress: () => undefined,
  } as unknown as ToolContext
  const told = await offered[0]?.run({}, context).then(
    output => output.text,
    (error: Error) => error.message,
  )
  expect(told).toBe(said)
  await provider.close?.()
})

test('of two processes that see a first list, the second one holds what is not in the first', async () => {
  const other = { name: 'other', inputSchema: { type: 'object' } }
  const offered: string[] = []
  // The other process was quicker.
  const { provider, state } = createProvider(
    () => undefined,
    record => record && { ...record, era: 'legacy', pins: { other } },
  )
  await provider.start(new AbortController().signal, tools => offered.push(...tools.map(({ name }) => name)))
  expect(offered).toEqual([])
  expect(state.record).toMatchObject({ pins: { other }, held: { look: { name: 'look' } } })
  await provider.close?.()
})

test('rules know a tool by the whole of a name that is too long or has odd characters', async () => {
  const names = [`delete_${'x'.repeat(80)}`, 'delete.repo\nnow']
  const way = { call: () => Promise.reject(new Error('Nothing is called.')), line: () => '' }
  const tools = names.map(name => toTool(server, { name, inputSchema: { type: 'object' } }, way))
  const registry = new Registry()
  await registry.add(localProvider('mcp:slow', 'slow', PRIORITY.mcp, tools))
  const matches = toolPattern('slow__delete_*')
  const others = toolPattern('slow__delete.*now')
  const known = registry.list().map(entry => [...entry.names])
  expect(known.map(each => each.some(name => matches(name) || others(name)))).toEqual([true, true])
  await expect(registry.resolve(`slow__${names[0]}`)).rejects.toMatchObject({ code: 'unknown_tool' })
})
