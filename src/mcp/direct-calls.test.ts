import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { beforeEach, expect, test } from 'vitest'
import type { CallRequest } from '../runtime.ts'
import { answerDirectly, type DirectDoor } from './direct-calls.ts'

const OURS = { isPartOfKogu: true }
const ENTRIES: Readonly<Record<string, object>> = {
  look: { tool: OURS, risk: 'low' },
  change: { tool: OURS, risk: 'high' },
  foreign: { tool: {}, risk: 'low' },
}

let stdin: PassThrough
let calls: (CallRequest & { settle: (outcome: object) => void })[]
let written: object[]
let passedOn: string
let door: DirectDoor | undefined
let direct: ReturnType<typeof answerDirectly>

beforeEach(() => {
  stdin = new PassThrough()
  calls = []
  written = []
  passedOn = ''
  // What the short way asks of its door, and nothing else.
  door = {
    runtime: {
      registry: { candidates: (name: string) => [ENTRIES[name]] },
      call(request: CallRequest) {
        const { promise, resolve } = Promise.withResolvers<object>()
        calls.push({ ...request, settle: resolve })
        return promise
      },
    },
    begun: new Map(),
    run: async () => 'run_1',
    client: 'tester',
    canAsk: true,
    listTools: async () => [],
    track: () => undefined,
  } as unknown as DirectDoor
  const output = { write: (message: object) => void written.push(message), cork() {}, uncork() {} }
  direct = answerDirectly(stdin, output, { greet: () => false, door: () => door, missed: () => [] })
  direct.rest.on('data', chunk => {
    passedOn += chunk
  })
})

async function send(text: string): Promise<void> {
  stdin.write(text)
  await setImmediate()
  await setImmediate()
}

function request(name: string, more: object = {}, id: unknown = 7): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: { path: 'a' }, ...more } })}\n`
}

const DONE = { error: null, text: 'seen', data: null, label: null, call: 'call_1' }

test('a tool of our own that only looks is called and answered', async () => {
  await send(request('look'))
  expect(calls).toMatchObject([{ tool: 'look', input: { path: 'a' }, caller: 'mcp:tester', run: 'run_1' }])
  calls[0]?.settle(DONE)
  await setImmediate()
  expect(written).toEqual([
    {
      jsonrpc: '2.0',
      id: 7,
      result: { content: [{ type: 'text', text: 'seen' }], _meta: { 'kogu/call': 'call_1' } },
    },
  ])
  expect(passedOn).toBe('')
})

test.each([
  ['a tool that can change something', request('change')],
  ['a tool of somebody else', request('foreign')],
  ['a tool that is not there', request('nothing')],
  ['a request of the newer protocol', request('look', { _meta: { 'io.modelcontextprotocol/x': 1 } })],
  ['an answer to a question', request('look', { requestState: 'x' })],
  ['arguments that are no object', request('look', { arguments: [1] })],
  ['an id that is none', request('look', {}, null)],
  ['another request', '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}\n'],
  ['text that is no JSON', '{"method":"tools/call"\n'],
  ['an empty line', '\n'],
])('%s goes to the SDK as it came', async (_, line) => {
  await send(line)
  expect(calls).toEqual([])
  expect(passedOn).toBe(line)
})

test('before a client of the older protocol has introduced itself, everything goes to the SDK', async () => {
  door = undefined
  await send(request('look'))
  expect([calls, passedOn]).toEqual([[], request('look')])
})

test('wherever a piece ends, no byte is lost, and what comes whole is still answered', async () => {
  const [first, second] = [request('look', {}, 1), request('look', {}, 2)]
  const all = first + second
  for (let cut = 1; cut < all.length; cut += 1) {
    passedOn = ''
    calls = []
    await send(all.slice(0, cut))
    await send(all.slice(cut))
    for (const { settle } of calls) settle(DONE)
    await setImmediate()
    const taken = calls.length
    expect(passedOn).toBe(taken === 2 ? '' : cut < first.length ? first : second)
    expect(taken).toBe(cut === first.length ? 2 : 1)
  }
})

test('a call that is cancelled ends, and is not answered', async () => {
  await send(request('look'))
  await send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}\n')
  expect(calls[0]?.signal?.aborted).toBe(true)
  calls[0]?.settle(DONE)
  await setImmediate()
  expect([written, passedOn]).toEqual([[], ''])
})

test('cancelling what is not ours is for the SDK', async () => {
  const cancel = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8}}\n'
  await send(request('look') + cancel)
  expect(calls[0]?.signal?.aborted).toBe(false)
  expect(passedOn).toBe(cancel)
})

test('a second request with the id of one that runs goes to the SDK', async () => {
  await send(request('look') + request('look'))
  expect(calls).toHaveLength(1)
  expect(passedOn).toBe(request('look'))
})

test('a call that needs a yes is left to the SDK with its outcome, where the client can ask', async () => {
  await send(request('look'))
  calls[0]?.settle({ ...DONE, question: 'q-1' })
  await setImmediate()
  await setImmediate()
  expect(door?.begun.get(7)).toMatchObject({ question: 'q-1' })
  expect([written, passedOn]).toEqual([[], request('look')])
})

test('progress is told to a client that asked for it', async () => {
  await send(request('look', { _meta: { progressToken: 3 } }))
  calls[0]?.onProgress?.('half\n')
  await setImmediate()
  expect(written).toEqual([
    {
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: 3, progress: 1, message: 'half' },
    },
  ])
})

test('with the connection, what runs ends', async () => {
  await send(request('look'))
  direct.close()
  expect(calls[0]?.signal?.aborted).toBe(true)
})

test('calls that came together all begin though none has ended, and lines for the SDK keep their order', async () => {
  const others = Array.from({ length: 9 }, (_, index) => request('change', {}, 100 + index))
  await send(others.map((other, index) => request('look', {}, index) + other).join(''))
  expect(calls).toHaveLength(9)
  expect(passedOn).toBe(others.join(''))
})

test('what came right before the end of the input is not lost', async () => {
  stdin.write(Array.from({ length: 9 }, (_, index) => request('change', {}, index)).join(''))
  stdin.end()
  await once(direct.rest, 'end')
  expect(passedOn.split('\n')).toHaveLength(10)
})

test('answers of calls that came together leave together, before others begin', async () => {
  const seen: (string | number)[] = []
  stdin = new PassThrough()
  const output = {
    write: (message: object) => void seen.push(Number((message as { id: number }).id)),
    cork: () => void seen.push('hold'),
    uncork: () => void seen.push('let go'),
  }
  const ending = { ...door, runtime: { ...door?.runtime, call: async () => DONE } } as unknown as DirectDoor
  answerDirectly(stdin, output, { greet: () => false, door: () => ending, missed: () => [] })
  await send(Array.from({ length: 5 }, (_, index) => request('look', {}, index)).join(''))
  expect(seen).toEqual(['hold', 0, 1, 2, 3, 'let go', 'hold', 4, 'let go'])
})

test('a line that is too long is answered with an error, and the next one is read', async () => {
  const long = request('look', { arguments: { path: 'x'.repeat(11_000_000) } })
  for (let at = 0; at < long.length; at += 1_000_000) await send(long.slice(at, at + 1_000_000))
  expect(written).toEqual([
    {
      jsonrpc: '2.0',
      id: 7,
      error: { code: -32_600, message: expect.stringContaining('longer than 10 MB') },
    },
  ])
  const { jsonrpc, id, ...first } = JSON.parse(long)
  await send(`${JSON.stringify({ ...first, jsonrpc, id: 'last' })}\n`)
  await send(`["${'x'.repeat(11_000_000)}", {"id": 5}]\n`)
  expect(written.slice(1)).toMatchObject([{ id: 'last' }, { id: null }])
  await send(request('look'))
  expect([calls.length, passedOn]).toEqual([1, ''])
})
