import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

// A server that speaks the streaming wire formats of the vendors: Anthropic Messages, OpenAI Responses, OpenAI Chat
// Completions and Gemini. It plays what a test tells it to, and remembers what it was asked.

export interface VendorAnswer {
  readonly text?: string
  readonly reasoning?: string
  readonly calls?: readonly { name: string; input: unknown; rawInput?: string }[]
  /** An HTTP error instead of an answer. */
  readonly status?: number
  readonly message?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Breaks the connection in the middle of the stream. */
  readonly truncate?: boolean
  /** An error inside a stream that began well, as Anthropic sends when it is overloaded. */
  readonly errorInStream?: boolean
  readonly stop?: 'length'
  /** Written as it is, instead of everything above. */
  readonly raw?: readonly string[]
}

export interface VendorRequest {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  // What a vendor's package sends is looked at field by field in tests.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly body: any
}

export interface MockVendor {
  readonly url: string
  readonly requests: VendorRequest[]
  /** Answers in order; the last one is repeated. A function looks at the request first, and may take its time. */
  play(...answers: Played[]): void
  close(): Promise<void>
}

type Played = VendorAnswer | ((request: VendorRequest) => VendorAnswer | Promise<VendorAnswer>)

export const USAGE = { input: 100, cached: 40, cacheWrite: 10, output: 20, reasoning: 5 }

export async function startMockVendor(): Promise<MockVendor> {
  const requests: VendorRequest[] = []
  let answers: Played[] = [{ text: 'Hello.' }]
  const server: Server = createServer((request, response) => {
    void readBody(request).then(async text => {
      const asked = { path: request.url ?? '', headers: request.headers, body: JSON.parse(text) }
      requests.push(asked)
      const next = answers.length > 1 ? answers.shift() : answers[0]
      answer(asked, typeof next === 'function' ? await next(asked) : (next ?? {}), response)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  // A server that listens on a port has this kind of address.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    play: (...next) => {
      answers = next
    },
    close: () =>
      new Promise(resolve => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

function answer(request: VendorRequest, played: VendorAnswer, response: ServerResponse): void {
  if (played.status !== undefined) {
    const error = {
      type: 'error',
      error: { type: 'some_error', message: played.message ?? 'no', code: played.status },
    }
    response.writeHead(played.status, { 'content-type': 'application/json', ...played.headers })
    response.end(JSON.stringify(error))
    return
  }
  const format = FORMATS.find(([pattern]) => pattern.test(request.path))
  if (format === undefined) {
    response.writeHead(404).end('{}')
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const events = played.raw ?? format[1](played)
  const shown = played.truncate === true ? events.slice(0, Math.ceil(events.length / 2)) : events
  for (const event of shown) response.write(event)
  if (played.truncate === true) setImmediate(() => response.destroy())
  else response.end()
}

const FORMATS: readonly (readonly [RegExp, (played: VendorAnswer) => string[]])[] = [
  [/\/messages$/, anthropic],
  [/\/responses$/, openaiResponses],
  [/\/chat\/completions$/, openaiChat],
  [/:streamGenerateContent/, gemini],
]

const sse = (data: unknown, event?: string): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`

const raw = ({ input, rawInput }: { input: unknown; rawInput?: string }): string =>
  rawInput ?? JSON.stringify(input)

function anthropic(played: VendorAnswer): string[] {
  const events: string[] = []
  const send = (type: string, rest: object): number => events.push(sse({ type, ...rest }, type))
  const { input, cached, cacheWrite, output, reasoning } = USAGE
  const usage = {
    input_tokens: input,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: cacheWrite,
  }
  send('message_start', {
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...usage, output_tokens: 1 },
    },
  })
  let index = 0
  const block = (content_block: object, deltas: readonly object[]): void => {
    send('content_block_start', { index, content_block })
    for (const delta of deltas) send('content_block_delta', { index, delta })
    send('content_block_stop', { index })
    index += 1
  }
  if (played.reasoning !== undefined) {
    block({ type: 'thinking', thinking: '', signature: '' }, [
      { type: 'thinking_delta', thinking: played.reasoning },
      { type: 'signature_delta', signature: 'signed' },
    ])
  }
  for (const text of halves(played.text)) block({ type: 'text', text: '' }, [{ type: 'text_delta', text }])
  if (played.errorInStream === true) {
    return [
      ...events,
      sse({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'error'),
    ]
  }
  ;(played.calls ?? []).forEach((call, number) => {
    block({ type: 'tool_use', id: `toolu_${number}`, name: call.name, input: {} }, [
      { type: 'input_json_delta', partial_json: raw(call).slice(0, 3) },
      { type: 'input_json_delta', partial_json: raw(call).slice(3) },
    ])
  })
  const stop = played.stop === 'length' ? 'max_tokens' : played.calls === undefined ? 'end_turn' : 'tool_use'
  send('message_delta', {
    delta: { stop_reason: stop, stop_sequence: null },
    usage: { output_tokens: output + reasoning },
  })
  send('message_stop', {})
  return events
}

function halves(text: string | undefined): string[] {
  return text === undefined ? [] : [text]
}

function openaiResponses(played: VendorAnswer): string[] {
  const events: string[] = []
  let sequence_number = 0
  const send = (type: string, rest: object): void => {
    events.push(sse({ type, sequence_number, ...rest }))
    sequence_number += 1
  }
  const head = {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    model: 'gpt',
    status: 'in_progress',
    output: [],
  }
  send('response.created', { response: head })
  let output_index = 0
  if (played.text !== undefined) {
    const item = { type: 'message', id: 'msg_1', role: 'assistant', status: 'in_progress', content: [] }
    send('response.output_item.added', { output_index, item })
    const place = { item_id: 'msg_1', output_index, content_index: 0 }
    send('response.content_part.added', {
      ...place,
      part: { type: 'output_text', text: '', annotations: [] },
    })
    for (const delta of [played.text.slice(0, 4), played.text.slice(4)]) {
      send('response.output_text.delta', { ...place, delta, logprobs: [] })
    }
    const part = { type: 'output_text', text: played.text, annotations: [] }
    send('response.output_text.done', { ...place, text: played.text, logprobs: [] })
    send('response.content_part.done', { ...place, part })
    send('response.output_item.done', {
      output_index,
      item: { ...item, status: 'completed', content: [part] },
    })
    output_index += 1
  }
  ;(played.calls ?? []).forEach((call, number) => {
    const item = {
      type: 'function_call',
      id: `fc_${number}`,
      call_id: `call_${number}`,
      name: call.name,
      arguments: '',
    }
    send('response.output_item.added', { output_index, item })
    send('response.function_call_arguments.delta', { item_id: item.id, output_index, delta: raw(call) })
    send('response.function_call_arguments.done', { item_id: item.id, output_index, arguments: raw(call) })
    send('response.output_item.done', {
      output_index,
      item: { ...item, arguments: raw(call), status: 'completed' },
    })
    output_index += 1
  })
  const { input, cached, cacheWrite, output, reasoning } = USAGE
  const total = input + cached + cacheWrite
  send(played.stop === 'length' ? 'response.incomplete' : 'response.completed', {
    response: {
      ...head,
      status: played.stop === 'length' ? 'incomplete' : 'completed',
      ...(played.stop === 'length' ? { incomplete_details: { reason: 'max_output_tokens' } } : {}),
      usage: {
        input_tokens: total,
        input_tokens_details: { cached_tokens: cached, cache_write_tokens: cacheWrite },
        output_tokens: output + reasoning,
        output_tokens_details: { reasoning_tokens: reasoning },
        total_tokens: total + output + reasoning,
      },
    },
  })
  return events
}

function openaiChat(played: VendorAnswer): string[] {
  const head = { id: 'chat_1', object: 'chat.completion.chunk', created: 1, model: 'local' }
  const chunk = (delta: object, finish_reason: string | null = null, rest: object = {}): string =>
    sse({ ...head, choices: [{ index: 0, delta, finish_reason }], ...rest })
  const { input, cached, cacheWrite, output, reasoning } = USAGE
  const total = input + cached + cacheWrite
  const usage = {
    prompt_tokens: total,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens: output + reasoning,
    completion_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: total + output + reasoning,
  }
  const stop = played.stop ?? (played.calls === undefined ? 'stop' : 'tool_calls')
  return [
    chunk({ role: 'assistant', content: '' }),
    ...(played.text === undefined
      ? []
      : [chunk({ content: played.text.slice(0, 4) }), chunk({ content: played.text.slice(4) })]),
    ...(played.calls ?? []).map((call, index) =>
      chunk({
        tool_calls: [
          {
            index,
            id: `call_${index}`,
            type: 'function',
            function: { name: call.name, arguments: raw(call) },
          },
        ],
      }),
    ),
    chunk({}, stop),
    sse({ ...head, choices: [], usage }),
    'data: [DONE]\n\n',
  ]
}

function gemini(played: VendorAnswer): string[] {
  const { input, cached, cacheWrite, output, reasoning } = USAGE
  const usageMetadata = {
    promptTokenCount: input + cached + cacheWrite,
    cachedContentTokenCount: cached,
    candidatesTokenCount: output,
    thoughtsTokenCount: reasoning,
    totalTokenCount: input + cached + cacheWrite + output + reasoning,
  }
  const chunk = (parts: readonly object[], finishReason?: string): string =>
    sse({
      candidates: [
        {
          content: { parts, role: 'model' },
          index: 0,
          ...(finishReason === undefined ? {} : { finishReason }),
        },
      ],
      usageMetadata,
    })
  return [
    ...(played.text === undefined
      ? []
      : [chunk([{ text: played.text.slice(0, 4) }]), chunk([{ text: played.text.slice(4) }])]),
    ...(played.calls ?? []).map(({ name, input: args }) =>
      chunk([{ functionCall: { name, args }, thoughtSignature: 'sig' }]),
    ),
    chunk([], played.stop === 'length' ? 'MAX_TOKENS' : 'STOP'),
  ]
}
