import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type MockVendor, startMockVendor, USAGE } from '../../../test/support/mock-vendor.ts'
import { userText } from '../messages.ts'
import { type Model, type ModelError, type ModelRequest, totalTokens, type Usage } from '../model.ts'
import { createModels, type Vendor, type VendorKind } from './models.ts'

// The real packages of the vendors, over real HTTP, against a server that speaks their formats.

const SECRET = 'sk-secret-0123456789'
let vendor: MockVendor

beforeAll(async () => {
  vendor = await startMockVendor()
})
afterAll(() => vendor.close())
afterEach(() => {
  vendor.requests.length = 0
})

const KINDS: readonly (readonly [VendorKind, string])[] = [
  ['anthropic', '/v1'],
  ['openai', '/v1'],
  ['openai-compatible', '/v1'],
  ['google', '/v1beta'],
]

function vendorOf(kind: VendorKind, path: string, overrides: Partial<Vendor> = {}): Vendor {
  return {
    name: kind,
    kind,
    baseUrl: `${vendor.url}${path}`,
    keyPlace: 'env SOME_KEY',
    hasKey: true,
    readKey: async () => SECRET,
    models: {},
    ...overrides,
  }
}

function modelOf(kind: VendorKind, path: string, name = 'model-x'): Model {
  return createModels({
    vendors: [vendorOf(kind, path)],
    openRehearsal: () => {
      throw new Error('not here')
    },
  }).find(`${kind}/${name}`)
}

const request = (rest: Partial<ModelRequest> = {}): ModelRequest => ({
  system: 'Be brief.',
  messages: [userText('Hi')],
  tools: [{ name: 'read_file', description: 'Reads.', input_schema: { type: 'object', properties: {} } }],
  signal: new AbortController().signal,
  ...rest,
})

describe.each(KINDS)('a model of the kind %s', (kind, path) => {
  test('streams text, and its token counts are disjoint and add up to the total', async () => {
    vendor.play({ text: 'Hello there.' })
    const deltas: string[] = []
    const response = await modelOf(kind, path).respond(request({ onText: delta => deltas.push(delta) }))
    expect(response.stopReason).toBe('end_turn')
    expect(response.content).toMatchObject([{ type: 'text', text: 'Hello there.' }])
    expect(deltas.join('')).toBe('Hello there.')
    expect(totalTokens(response.usage)).toBe(totalTokens(USAGE))
    expect(response.usage.cached).toBe(USAGE.cached)
    expect(vendor.requests[0]?.path).toContain(path)
  })

  test('asks for tools and gets their results back in the next request', async () => {
    vendor.play(
      { text: 'Looking.', calls: [{ name: 'read_file', input: { path: 'a.txt' } }] },
      { text: 'Done.' },
    )
    const model = modelOf(kind, path)
    const first = await model.respond(request())
    expect(first.stopReason).toBe('tool_use')
    const use = first.content.find(block => block.type === 'tool_use')
    expect(use).toMatchObject({ name: 'read_file', input: { path: 'a.txt' } })
    const result = {
      type: 'tool_result',
      tool_use_id: use?.id ?? '',
      name: 'read_file',
      is_error: false,
    } as const
    const second = await model.respond(
      request({
        messages: [
          userText('Hi'),
          { role: 'assistant', content: first.content },
          { role: 'user', content: [{ ...result, content: 'the bytes of a.txt' }] },
        ],
      }),
    )
    expect(second).toMatchObject({ stopReason: 'end_turn', content: [{ text: 'Done.' }] })
    expect(JSON.stringify(vendor.requests[1]?.body)).toContain('the bytes of a.txt')
  })

  test('an answer that breaks off is worth another try, and no half answer is taken', async () => {
    vendor.play({ text: 'Hello there, this is long.', truncate: true })
    await expect(modelOf(kind, path).respond(request())).rejects.toMatchObject({ kind: 'unavailable' })
  })

  test.each([
    [401, 'credentials'],
    [403, 'credentials'],
    [400, 'rejected'],
    [413, 'rejected'],
    [429, 'rate_limited'],
    [500, 'unavailable'],
    [529, 'unavailable'],
  ])('the status %i means %s, and no message shows the key', async (status, kindOfError) => {
    vendor.play({ status, message: `bad key ${SECRET}` })
    const error = await modelOf(kind, path)
      .respond(request())
      .catch((thrown: Error) => thrown)
    expect(error).toMatchObject({ kind: kindOfError })
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(SECRET)
  })

  test.each([301, 302, 303, 307, 308])(
    'a redirect with the status %i takes neither the key nor the conversation elsewhere',
    async status => {
      const thief = await startMockVendor()
      try {
        for (const location of [`${thief.url}/v1/messages?all=${SECRET}`, '/elsewhere', '//', '']) {
          vendor.play({ status, headers: { location } })
          const asked = vendor.requests.length
          const error = await modelOf(kind, path)
            .respond(request())
            .catch((thrown: Error) => thrown)
          expect(error).toMatchObject({ kind: 'failed', message: expect.stringContaining('redirects') })
          expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(SECRET)
          expect([thief.requests, vendor.requests.length - asked]).toEqual([[], 1])
        }
      } finally {
        await thief.close()
      }
    },
  )

  test('Retry-After is honoured, in seconds and in milliseconds', async () => {
    vendor.play(
      { status: 429, headers: { 'retry-after': '7' } },
      { status: 429, headers: { 'retry-after-ms': '250' } },
    )
    const model = modelOf(kind, path)
    await expect(model.respond(request())).rejects.toMatchObject({ retryAfterMs: 7_000 })
    await expect(model.respond(request())).rejects.toMatchObject({ retryAfterMs: 250 })
  })

  test('an answer that reaches the token limit says so', async () => {
    vendor.play({ text: 'Half of', stop: 'length' })
    expect(await modelOf(kind, path).respond(request())).toMatchObject({ stopReason: 'max_tokens' })
  })

  test('is cancelled by its signal', async () => {
    const controller = new AbortController()
    controller.abort()
    await expect(modelOf(kind, path).respond(request({ signal: controller.signal }))).rejects.toMatchObject({
      kind: 'cancelled',
    })
  })
})

describe('models', () => {
  test('an error inside a stream is an overload', async () => {
    vendor.play({ text: 'Hel', errorInStream: true })
    await expect(modelOf('anthropic', '/v1').respond(request())).rejects.toMatchObject({
      kind: 'unavailable',
    })
  })

  test('input that is no JSON is marked instead of thrown', async () => {
    vendor.play({ calls: [{ name: 'read_file', input: {}, rawInput: '{"path": ' }] })
    const { content } = await modelOf('openai-compatible', '/v1').respond(request())
    expect(content).toMatchObject([{ type: 'tool_use', input: {}, malformed: expect.any(String) }])
  })

  const chat = (delta: object, rest: object = {}): string =>
    `data: ${JSON.stringify({ id: 'c', created: 1, model: 'm', choices: [{ index: 0, delta, ...rest }] })}\n\n`
  const ended = (usage: object): string =>
    `${chat({}, { finish_reason: 'stop' })}data: ${JSON.stringify({ id: 'c', created: 1, model: 'm', choices: [], usage })}\n\n`

  test.each([
    [{ prompt_tokens: 1.5, completion_tokens: 2.5 }, 5],
    [{ prompt_tokens: 1e15, completion_tokens: 0 }, 1e9],
  ])('token counts %j of a server become counts that can be added', async (usage, total) => {
    vendor.play({ raw: [chat({ content: 'x' }), ended(usage)] })
    const response = await modelOf('openai-compatible', '/v1').respond(request())
    expect(totalTokens(response.usage)).toBe(total)
  })

  test('what a server does not count, or counts below nought, is estimated: a limit must hold with it too', async () => {
    const model = modelOf('openai-compatible', '/v1')
    for (const usage of [{}, { prompt_tokens: -1_000_000, completion_tokens: -5 }]) {
      vendor.play({ raw: [chat({ content: 'word '.repeat(70) }), ended(usage)] })
      const { usage: counted } = await model.respond(request())
      expect([counted.input > 20, counted.output >= 100]).toEqual([true, true])
    }
    vendor.play({ raw: [chat({ content: 'word '.repeat(70) })] })
    const broken = await model.respond(request()).catch((error: ModelError) => error.usage)
    expect(broken).toMatchObject({ output: expect.any(Number) })
    expect(totalTokens(broken as Usage)).toBeGreaterThan(100) // the line above says that it is one
  })

  test('a key that a server repeats, in pieces too, is in no word and no block', async () => {
    const pieces = [`The key: ${SECRET.slice(0, 6)}`, SECRET.slice(6, 12), `${SECRET.slice(12)}. 鍵です`]
    const call = { name: 'read_file', input: { path: SECRET } }
    const wanted = { index: 0, id: 'a', function: { name: call.name, arguments: JSON.stringify(call.input) } }
    vendor.play({
      raw: [...pieces.map(content => chat({ content })), chat({ tool_calls: [wanted] }), ended({})],
    })
    const said: string[] = []
    const { content } = await modelOf('openai-compatible', '/v1').respond(
      request({ onText: text => said.push(text) }),
    )
    expect(said.join('')).toBe('The key: ‹key›. 鍵です')
    expect(content).toMatchObject([{ text: 'The key: ‹key›. 鍵です' }, { input: { path: '‹key›' } }])
  })

  test('names and nesting that could not be kept or sent back are cut', async () => {
    const deep = `{"path":${'['.repeat(5000)}${']'.repeat(5000)}}`
    vendor.play({
      calls: [
        { name: 'x'.repeat(500), input: {} },
        { name: 'read_file', input: {}, rawInput: deep },
      ],
    })
    const { content } = await modelOf('openai-compatible', '/v1').respond(request())
    expect(content).toMatchObject([
      { name: 'x'.repeat(64) },
      { input: {}, malformed: 'it is nested too deeply' },
    ])
  })

  test('a stream that ends without saying so is worth another try, and one without end is cut off', async () => {
    const model = modelOf('openai-compatible', '/v1')
    vendor.play({ raw: [chat({ content: 'x' }), 'data: [DONE]\n\n'] })
    await expect(model.respond(request())).rejects.toMatchObject({ kind: 'unavailable' })
    vendor.play({ raw: Array.from({ length: 70 }, () => chat({ content: 'y '.repeat(512 * 1024) })) })
    await expect(model.respond(request())).rejects.toMatchObject({
      kind: 'failed',
      message: expect.stringContaining('larger than 64 MB'),
    })
  })

  test('reasoning goes back to the vendor with its signature', async () => {
    vendor.play({ reasoning: 'Let me think.', text: 'Yes.' })
    const model = modelOf('anthropic', '/v1')
    const { content } = await model.respond(request())
    await model.respond(
      request({ messages: [userText('Hi'), { role: 'assistant', content }, userText('And?')] }),
    )
    expect(JSON.stringify(vendor.requests[1]?.body)).toContain('"signature":"signed"')
  })

  test('Anthropic is told what to keep in its cache', async () => {
    vendor.play({ text: 'Yes.' })
    await modelOf('anthropic', '/v1').respond(request())
    expect(JSON.stringify(vendor.requests[0]?.body.system)).toContain('"cache_control":{"type":"ephemeral"}')
  })

  test('a model is found by its own name, and a misspelt provider gets a suggestion', () => {
    const models = createModels({
      vendors: [vendorOf('anthropic', '/v1', { hasKey: false }), vendorOf('openai', '/v1')],
      openRehearsal: () => {
        throw new Error('not here')
      },
    })
    expect(models.find('claude-sonnet-4-5').id).toBe('anthropic/claude-sonnet-4-5')
    expect(models.defaultId()).toBe('openai/gpt-5')
    expect(() => models.find('antropic/claude')).toThrow(
      "No provider is known for the model 'antropic/claude'",
    )
  })

  test('the price of a dated name is that of its model, and an unknown one stays unknown', () => {
    expect(modelOf('anthropic', '/v1', 'claude-sonnet-4-5-20250929').price).toMatchObject({
      input: 3,
      output: 15,
    })
    expect(modelOf('openai', '/v1', 'gpt-5-2025-08-07').price).toMatchObject({ input: 1.25 })
    expect(modelOf('openai', '/v1', 'gpt-5-codex').price).toBeNull()
    expect(modelOf('openai-compatible', '/v1', 'qwen').price).toBeNull()
  })
})
