import { describe, expect, test } from 'vitest'
import type { CallResult } from '../core/call.ts'
import type { RunEvent } from './events.ts'
import { type LoopContext, runLoop } from './loop.ts'
import { startState, withMessages } from './loop-state.ts'
import { type AssistantBlock, textOf, toolResultsOf } from './messages.ts'
import { type Model, ModelError, type ModelRequest, type ModelResponse, NO_USAGE } from './model.ts'

type Answer = Partial<ModelResponse> | ModelError | ((request: ModelRequest) => Partial<ModelResponse>)

/** A model that gives these answers; the last one for ever. */
function scripted(
  answers: readonly Answer[],
  rest: Partial<Model> = {},
): Model & { requests: ModelRequest[] } {
  const requests: ModelRequest[] = []
  return {
    id: 'test/model',
    provider: 'test',
    name: 'model',
    capabilities: { context: undefined, maxOutput: undefined, tools: true, images: true, temperature: true },
    price: { input: 1, cached: 0, cacheWrite: 0, output: 10 },
    requests,
    async respond(request) {
      const answer = answers[Math.min(requests.length, answers.length - 1)]
      requests.push(request)
      if (answer instanceof ModelError) throw answer
      const given = typeof answer === 'function' ? answer(request) : answer
      return { content: [], stopReason: 'end_turn', usage: NO_USAGE, ...given }
    },
    ...rest,
  }
}

const says = (text: string): Partial<ModelResponse> => ({ content: [{ type: 'text', text }] })

let ids = 0
const calls = (name: string, input: unknown = {}): Partial<ModelResponse> => {
  ids += 1
  const use: AssistantBlock = { type: 'tool_use', id: `use_${ids}`, name, input }
  return { content: [use], stopReason: 'tool_use' }
}

const result = (text: string, rest: Partial<CallResult> = {}): CallResult => ({
  ok: true,
  call: 'call_1',
  tool: 'echo',
  text,
  data: null,
  error: null,
  decision: { outcome: 'allow', by: 'mode', ref: null, reason: '' },
  risk: 'low',
  effects: [],
  label: null,
  number: 1,
  durationMs: 1,
  waitMs: 0,
  ...rest,
})

function contextOf(model: Model, rest: Partial<LoopContext> = {}): LoopContext & { events: RunEvent[] } {
  const events: RunEvent[] = []
  return {
    model,
    system: 'system',
    tools: [],
    limits: { maxTurns: 5 },
    signal: new AbortController().signal,
    callTools: async uses => uses.map(use => result(`${use.name} done`)),
    emit: event => events.push(event),
    events,
    ...rest,
  }
}

describe('the loop', () => {
  test('ends when the model has said its last word', async () => {
    const model = scripted([calls('echo'), says('All done.')])
    const state = await runLoop(startState('Do it.'), contextOf(model))
    expect(state.ending).toEqual({ stopReason: 'end_turn', text: 'All done.' })
    expect(state).toMatchObject({ turn: 2, calls: 1, pending: [] })
    expect(state.messages.map(message => message.role)).toEqual(['user', 'assistant', 'user', 'assistant'])
    expect(toolResultsOf(state.messages)).toMatchObject([{ content: 'echo done', is_error: false }])
  })

  test('all results of one turn go back in one message, in the order of the calls', async () => {
    const content: AssistantBlock[] = ['a', 'b', 'c'].map(name => ({
      type: 'tool_use',
      id: name,
      name,
      input: {},
    }))
    const model = scripted([{ content, stopReason: 'tool_use' }, says('ok')])
    const state = await runLoop(startState('x'), contextOf(model))
    expect(state.messages).toHaveLength(4)
    expect(toolResultsOf(state.messages).map(({ tool_use_id }) => tool_use_id)).toEqual(['a', 'b', 'c'])
  })

  test('stops after its turns and says what was done', async () => {
    const model = scripted([request => calls('echo', { n: request.messages.length })])
    const state = await runLoop(startState('x'), contextOf(model))
    expect(state.ending).toMatchObject({
      stopReason: 'limit_reached',
      error: 'It stopped after 5 turns, its limit.',
    })
    expect(state.calls).toBe(5)
  })

  test.each([
    [{ maxTurns: 5 }, 4, /4 of 5 turns are used\. This is your last turn: give your answer now\./],
    [{ maxTurns: 50 }, 45, /45 of 50 turns are used\. Come to an end/],
    [{ maxTurns: 50, maxCalls: 10 }, 8, /8 of 10 calls are made\. Come to an end/],
    [{ maxTurns: 50, maxTokens: 1000 }, 4, /800 of 1000 tokens are used\. Come to an end/],
  ])(
    'close to its limits %j it says so, to the model in that turn and once to the person',
    async (limits, turn, text) => {
      const usage = { ...NO_USAGE, input: 100, output: 100 }
      const model = scripted([request => ({ ...calls('echo', { n: request.messages.length }), usage })])
      const told: RunEvent[] = []
      const emit = (event: RunEvent) => void (event.type === 'limit.near' && told.push(event))
      const state = await runLoop(startState('x'), contextOf(model, { limits, emit }))
      const notes = model.requests.map(({ messages }) =>
        textOf(messages.at(-1) ?? { role: 'user', content: [] }),
      )
      expect(notes.findIndex(note => note.includes('[Kogu:'))).toBe(turn)
      expect(notes[turn]).toMatch(text)
      expect(told).toEqual([expect.objectContaining({ used: Number(/\d+/.exec(text.source)?.[0]) })])
      // It is no part of the conversation.
      expect(JSON.stringify(state.messages)).not.toContain('[Kogu:')
    },
  )

  test.each([
    [{ maxCostUsd: 0.002 }, 'It has cost $0.0020; the limit is $0.00.'],
    [{ maxTokens: 150 }, 'It has used 200 tokens; the limit is 150.'],
    [{ maxCalls: 1 }, 'It has made 1 calls; the limit is 1.'],
  ])('stops at the budget %j', async (limits, error) => {
    const usage = { ...NO_USAGE, input: 0, output: 200 }
    const model = scripted([{ ...calls('echo'), usage }, says('never')])
    const state = await runLoop(startState('x'), contextOf(model, { limits: { maxTurns: 9, ...limits } }))
    expect(state.ending).toMatchObject({ stopReason: 'limit_reached', error })
    expect(model.requests).toHaveLength(1)
  })

  test('a vendor that takes longer than the run has left is not waited for', async () => {
    const never: Partial<Model> = {
      respond: ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(new ModelError('cancelled', 'aborted')))
        }),
    }
    const limits = { maxTurns: 5, maxTimeMs: 20 }
    const state = await runLoop(startState('x'), contextOf(scripted([], never), { limits }))
    expect(state.ending).toMatchObject({ stopReason: 'limit_reached' })
  })

  test('of the calls of one answer only as many are made as the limit has left', async () => {
    const content: AssistantBlock[] = ['a', 'b', 'c'].map(id => ({
      type: 'tool_use',
      name: 'echo',
      input: {},
      id,
    }))
    const made: string[] = []
    const context = contextOf(scripted([{ content, stopReason: 'tool_use' }]), {
      limits: { maxTurns: 5, maxCalls: 2 },
      callTools: async uses => {
        made.push(...uses.map(use => use.id))
        return uses.map(() => result('done'))
      },
    })
    const state = await runLoop(startState('x'), context)
    expect(made).toEqual(['a', 'b'])
    expect(toolResultsOf(state.messages).map(({ is_error }) => is_error)).toEqual([false, false, true])
    expect(state.ending?.stopReason).toBe('limit_reached')
  })

  test('calls of one answer that have the same id are two calls with a result each', async () => {
    const content: AssistantBlock[] = ['first', 'second'].map(name => ({
      type: 'tool_use',
      id: 'same',
      name,
      input: {},
    }))
    const state = await runLoop(
      startState('x'),
      contextOf(scripted([{ content, stopReason: 'tool_use' }, says('ok')])),
    )
    const results = toolResultsOf(state.messages)
    expect(results.map(({ content: text }) => text)).toEqual(['first done', 'second done'])
    expect(new Set(results.map(({ tool_use_id }) => tool_use_id)).size).toBe(2)
  })

  test('an answer that was cut off leaves no call without a result, and can be gone on with', async () => {
    const cut: Partial<ModelResponse> = {
      content: [{ type: 'text', text: 'I will' }, ...(calls('echo').content ?? [])],
      stopReason: 'max_tokens',
    }
    const state = await runLoop(startState('x'), contextOf(scripted([cut])))
    expect(state.ending).toMatchObject({ stopReason: 'max_tokens', text: 'I will' })
    expect(state.messages.flatMap(message => message.content.map(block => block.type))).not.toContain(
      'tool_use',
    )
    const roles = withMessages({ ...state, ending: null }, []).messages.map(({ role }) => role)
    expect(roles).toEqual(['user', 'assistant', 'user'])
  })

  test('an answer gets no more room than the limit has left, and is said to have reached it', async () => {
    const long: Partial<ModelResponse> = { ...says('and so on'), stopReason: 'max_tokens' }
    const model = scripted([{ ...calls('echo'), usage: { ...NO_USAGE, output: 4_000 } }, long])
    const limits = { maxTurns: 9, maxCostUsd: 0.05, maxTokens: 6_000 }
    const state = await runLoop(startState('x'), contextOf(model, { limits, maxTokens: 9_000 }))
    expect(model.requests.map(({ maxTokens }) => maxTokens)).toEqual([5_000, 1_000])
    expect(state.ending).toMatchObject({ stopReason: 'limit_reached', text: 'and so on' })
  })

  test('answers that broke off count also when no whole one followed', async () => {
    const broken = (): ModelError =>
      Object.assign(new ModelError('unavailable', 'It broke off.', { retryAfterMs: 1 }), {
        usage: { ...NO_USAGE, output: 1_000 },
      })
    const model = scripted([], { respond: () => Promise.reject(broken()) })
    const state = await runLoop(startState('x'), contextOf(model))
    expect(state).toMatchObject({ usage: { output: 6_000 }, costUsd: 0.06, ending: { stopReason: 'error' } })
  })

  test('an unknown price stays unknown', async () => {
    const state = await runLoop(startState('x'), contextOf(scripted([says('hi')], { price: null })))
    expect(state.costUsd).toBeNull()
  })

  test('retries what is worth it, as long as the vendor asks, and tells', async () => {
    const busy = new ModelError('unavailable', 'busy', { retryAfterMs: 1 })
    const context = contextOf(scripted([busy, busy, says('ok')]))
    expect((await runLoop(startState('x'), context)).ending?.stopReason).toBe('end_turn')
    expect(context.events.filter(event => event.type === 'step.retry')).toHaveLength(2)
    expect(context.events.find(event => event.type === 'model.failed')).toMatchObject({
      ...{ kind: 'unavailable', message: 'busy', retryAfterMs: 1 },
    })
  })

  test('counts what answers that broke off have used', async () => {
    const broken = new ModelError('unavailable', 'broke off', { retryAfterMs: 1 })
    broken.usage = { ...NO_USAGE, output: 40 }
    const state = await runLoop(startState('x'), contextOf(scripted([broken, says('ok')])))
    expect(state.usage.output).toBe(40)
  })

  test('does not wait an hour because a vendor says so', async () => {
    const busy = new ModelError('unavailable', 'busy', { retryAfterMs: 3_600_000 })
    const state = await runLoop(startState('x'), contextOf(scripted([busy])))
    expect(state.ending).toMatchObject({ stopReason: 'error', error: 'busy' })
  })

  test('a result that the vendor rejects is left out instead of poisoning the run', async () => {
    const model = scripted([
      calls('echo'),
      request => {
        if (JSON.stringify(request.messages).includes('poison')) throw new ModelError('rejected', 'bad image')
        return says('went on')
      },
    ])
    const context = contextOf(model, { callTools: async uses => uses.map(() => result('poison')) })
    const state = await runLoop(startState('x'), context)
    expect(state.ending).toMatchObject({ stopReason: 'end_turn', text: 'went on' })
    expect(context.events).toContainEqual(expect.objectContaining({ type: 'result.rejected' }))
    // It stays left out: the next request would fail again otherwise.
    expect(state.rejected).toHaveLength(1)
    expect(toolResultsOf(state.messages)[0]?.content).toBe('poison')
  })

  test('the same call with the same result again and again is first pointed out, then stopped', async () => {
    const model = scripted([() => calls('echo', { same: true })])
    const state = await runLoop(startState('x'), contextOf(model, { limits: { maxTurns: 50 } }))
    expect(state.ending?.stopReason).toBe('loop_detected')
    expect(state.turn).toBe(5)
    expect(toolResultsOf(state.messages)[2]?.content).toContain('made 3 times with the same result')
  })

  test('polling for something that changes is no loop', async () => {
    let count = 0
    const model = scripted([() => (count < 12 ? calls('poll') : says('there'))])
    const context = contextOf(model, {
      limits: { maxTurns: 50 },
      callTools: async uses => {
        count += 1
        return uses.map(() => result(String(count)))
      },
    })
    expect((await runLoop(startState('x'), context)).ending?.stopReason).toBe('end_turn')
  })

  test('input that is no JSON is answered with an error and reaches no tool', async () => {
    const use: AssistantBlock = {
      type: 'tool_use',
      id: 'u',
      name: 'echo',
      input: {},
      malformed: 'Unexpected end',
    }
    const called: string[] = []
    const context = contextOf(scripted([{ content: [use], stopReason: 'tool_use' }, says('ok')]), {
      callTools: async uses => {
        called.push(...uses.map(({ name }) => name))
        return uses.map(() => result(''))
      },
    })
    const state = await runLoop(startState('x'), context)
    expect(called).toEqual([])
    expect(toolResultsOf(state.messages)[0]).toMatchObject({ is_error: true })
  })

  test('is cancelled between two steps, and a cancelled request ends it as cancelled', async () => {
    const controller = new AbortController()
    const model = scripted([
      () => {
        controller.abort()
        throw new ModelError('cancelled', 'The request was cancelled.')
      },
    ])
    const state = await runLoop(startState('x'), contextOf(model, { signal: controller.signal }))
    expect(state.ending?.stopReason).toBe('cancelled')
  })

  test('a message from the person joins the last one instead of following it', async () => {
    const model = scripted([says('ok')])
    const state = await runLoop(withMessages(startState('x'), ['and be quick']), contextOf(model))
    expect(model.requests[0]?.messages).toHaveLength(1)
    expect(textOf(state.messages[0] ?? { role: 'user', content: [] })).toBe('x\nand be quick')
  })

  test('a full context turns old results into references that can be read again', async () => {
    const long = Array.from({ length: 400 }, (_, line) => `line ${line} of the long result`).join('\n')
    const wanted: Answer = request => {
      const shortened = JSON.stringify(request.messages[2])
      expect(shortened).toContain('Shortened')
      const id = /read_result \{\\+"id\\+": \\+"([^"\\]+)/.exec(shortened)?.[1] ?? ''
      return calls('read_result', { id, search: 'line 123 ' })
    }
    const model = scripted([calls('echo', 1), calls('echo', 2), calls('echo', 3), wanted, says('found')], {
      capabilities: { context: 9_000, maxOutput: undefined, tools: true, images: true, temperature: true },
    })
    const context = contextOf(model, {
      limits: { maxTurns: 9 },
      callTools: async uses => uses.map(({ input }) => result(`${input}\n${long}`)),
    })
    const state = await runLoop(startState('x'), context)
    expect(state.ending?.text).toBe('found')
    expect(toolResultsOf(state.messages)[0]?.content).toContain('line 399')
    expect(toolResultsOf(state.messages).at(-1)?.content).toBe('125\tline 123 of the long result')
  })
})
