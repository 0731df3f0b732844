import { describe, expect, test } from 'vitest'
import { type Approver, onceApprover } from './approval.ts'
import { callTool, explainCall } from './call.ts'
import { ProviderUnavailable, ToolError } from './errors.ts'
import { localProvider } from './provider.ts'
import { createTestRuntime, echo, testCall, toolNamed } from './testing.ts'

describe('a call', () => {
  test('is recorded before it runs and after', async () => {
    const seen: number[] = []
    const { runtime, events } = await createTestRuntime({
      tools: [
        {
          ...echo,
          run: async () => {
            seen.push(events.length)
            return { text: 'done' }
          },
        },
      ],
    })
    const result = await callTool(runtime, testCall('echo', { text: 'hi' }))
    expect(result).toMatchObject({ ok: true, tool: 'echo', text: 'done', error: null, risk: 'low' })
    expect(seen).toEqual([1])
    expect(events.map(event => event.type)).toEqual(['call-started', 'call-finished'])
  })

  test('that cannot be recorded does not run', async () => {
    let ran = false
    const { runtime } = await createTestRuntime({
      tools: [
        {
          ...echo,
          run: async () => {
            ran = true
            return { text: '' }
          },
        },
      ],
      audit: {
        record: () => {
          throw new Error('disk full')
        },
      },
    })
    const result = await callTool(runtime, testCall('echo', { text: 'hi' }))
    expect(ran).toBe(false)
    expect(result.error).toMatchObject({ code: 'failed' })
    expect(result.error?.message).toContain('disk full')
  })

  test('whose end cannot be recorded says that it did run', async () => {
    let count = 0
    const { runtime } = await createTestRuntime({
      audit: {
        record: () => {
          count += 1
          if (count === 2) throw new Error('disk full')
        },
      },
    })
    const result = await callTool(runtime, testCall('echo', { text: 'hi' }))
    expect(result.ok).toBe(false)
    expect(result.text).toBe('hi')
    expect(result.error?.message).toBe(
      'The audit log cannot be written: disk full, so the end of this call is not recorded. It did run.',
    )
  })

  test('that failed on a full disk, and whose end cannot be recorded either, says that it changed nothing', async () => {
    let count = 0
    const { runtime } = await createTestRuntime({
      tools: [
        {
          ...echo,
          run: async () => {
            throw new ToolError('failed', 'No space left on device.')
          },
        },
      ],
      audit: {
        record: () => {
          count += 1
          if (count === 2) throw new Error('disk full')
        },
      },
    })
    const result = await callTool(runtime, testCall('echo', { text: 'hi' }))
    expect(result.error?.message).toMatch(/is not recorded\. It failed and changed nothing\.$/)
  })

  test('is claimed right before it runs, and does not run when the claim fails', async () => {
    const order: string[] = []
    const { runtime } = await createTestRuntime({
      tools: [
        {
          ...echo,
          run: async () => {
            order.push('run')
            return { text: '' }
          },
        },
      ],
    })
    const claimed = { ...testCall('echo', { text: 'hi' }), beforeRun: async () => void order.push('claim') }
    await callTool(runtime, claimed)
    expect(order).toEqual(['claim', 'run'])
    const refused = await callTool(runtime, {
      ...testCall('echo', { text: 'hi' }),
      beforeRun: () => Promise.reject(new ToolError('conflict', 'Somebody else has it.')),
    })
    expect(refused.error).toMatchObject({ code: 'conflict' })
    expect(order).toEqual(['claim', 'run'])
  })

  test('is found by alias in any case, and by parameter alias', async () => {
    const { runtime } = await createTestRuntime({})
    const result = await callTool(runtime, testCall('SAY', { message: 'hi', seconds: 2 }))
    expect(result).toMatchObject({ ok: true, tool: 'echo', text: 'hi' })
  })

  test.each([
    ['nothing', {}, 'unknown_tool'],
    ['constructor', {}, 'unknown_tool'],
    ['__proto__', {}, 'unknown_tool'],
    ['echo', {}, 'invalid_input'],
    ['echo', [], 'invalid_input'],
    ['echo', 'text', 'invalid_input'],
    ['echo', null, 'invalid_input'],
    ['echo', { text: 1 }, 'invalid_input'],
    ['echo', { text: 'x', kind: 'c' }, 'invalid_input'],
    ['echo', { text: 'x', ms: -1 }, 'invalid_input'],
    ['echo', { text: 'x', ms: 1.5 }, 'invalid_input'],
    ['echo', { text: 'x', txt: 'y' }, 'invalid_input'],
    ['echo', { text: 'x', message: 'y' }, 'invalid_input'],
    ['echo', JSON.parse('{"text":"x","__proto__":{"polluted":1}}'), 'invalid_input'],
    ['echo', { text: 'x', constructor: 1 }, 'invalid_input'],
    ['echo', { text: '\uD800' }, 'invalid_input'],
    ['echo', { text: 'x', ms: Number.POSITIVE_INFINITY }, 'invalid_input'],
    ['echo', { text: () => 'x' }, 'invalid_input'],
    ['switched_off', { text: 'x' }, 'not_enabled'],
  ])('of %s with %j ends with %s', async (tool, input, code) => {
    const { runtime, events } = await createTestRuntime({ tools: [echo, toolNamed('switched_off')] })
    const result = await callTool(runtime, testCall(tool, input))
    expect(result.error?.code).toBe(code)
    expect(result.decision.outcome).toBe('deny')
    expect(events).toHaveLength(2)
  })

  test('of a misspelt tool or parameter names the nearest', async () => {
    const { runtime } = await createTestRuntime({})
    const tool = await callTool(runtime, testCall('ehco', {}))
    expect(tool.error?.hint).toContain("'echo'")
    const parameter = await callTool(runtime, testCall('echo', { text: 'x', knd: 'a' }))
    expect(parameter.error?.hint).toContain("'kind'")
  })

  test('of a tool that is off for the agent is refused although it was never listed', async () => {
    const { runtime } = await createTestRuntime({})
    const result = await callTool(
      runtime,
      testCall('echo', { text: 'x' }, { authority: { agent: 'a', tools: [] } }),
    )
    expect(result.error?.code).toBe('not_enabled')
  })

  test('never shows a secret in its error', async () => {
    const failing = { ...echo, run: () => Promise.reject(new Error('login with hunter2 failed')) }
    const { runtime, events } = await createTestRuntime({ tools: [failing] })
    const result = await callTool(runtime, testCall('echo', { text: 'x' }))
    expect(JSON.stringify([result, events])).not.toContain('hunter2')
  })

  test('tells nothing but the change of what it may not read; the record has it all', async () => {
    const { runtime, events } = await createTestRuntime({})
    const state = { mode: 0o644, size: 4, sha256: 'abc' }
    const effect = (path: string) =>
      ({ change: 'changed', path, entry: 'file', before: state, after: state }) as const
    const effects = [effect('/workspace/open.txt'), effect('/workspace/closed.txt')]
    const result = await callTool(
      {
        ...runtime,
        permissions: {
          ...runtime.permissions,
          judge: async request => {
            const judgement = await runtime.permissions.judge(request)
            const mayRead = (path: string) => path !== '/workspace/closed.txt'
            return { ...judgement, permit: { ...judgement.permit, mayRead } }
          },
        },
        openFiles: (...call) => ({ ...runtime.openFiles(...call), effects }),
      },
      testCall('echo', { text: 'a' }),
    )
    expect(result.effects).toEqual([
      effects[0],
      { change: 'changed', path: '/workspace/closed.txt', entry: 'file' },
    ])
    expect(events.at(-1)).toMatchObject({ type: 'call-finished', effects })
  })

  test('keeps values off the record that its tool wants kept off', async () => {
    const { runtime, events } = await createTestRuntime({ tools: [{ ...echo, unrecorded: ['text'] }] })
    await callTool(runtime, testCall('echo', { text: 'open sesame' }))
    expect(JSON.stringify(events)).not.toContain('sesame')
    expect(events[0]).toMatchObject({ input: { text: '‹not shown›' } })
  })

  test('keeps them off under another name of the parameter, and while the provider of the tool starts', async () => {
    const { runtime, events } = await createTestRuntime({ tools: [] })
    const connected = Promise.withResolvers<void>()
    void runtime.registry.add({
      ...localProvider('mcp:slow', 'Slow', 100, []),
      async start(_signal, onTools) {
        await connected.promise
        onTools([{ ...echo, unrecorded: ['text'] }])
      },
    })
    const calls = ['text', 'message'].map(name =>
      callTool(runtime, testCall('echo', { [name]: 'open sesame' })),
    )
    connected.resolve()
    expect((await Promise.all(calls)).map(result => result.text)).toEqual(['open sesame', 'open sesame'])
    expect(JSON.stringify(events)).not.toContain('sesame')
  })

  test('that is cancelled ends although its tool never says what it would touch', async () => {
    const controller = new AbortController()
    const access = () => {
      controller.abort()
      return new Promise<never>(() => undefined)
    }
    const { runtime } = await createTestRuntime({ tools: [{ ...echo, access }] })
    const result = await callTool(runtime, testCall('echo', { text: 'x' }, { signal: controller.signal }))
    expect(result.error?.code).toBe('cancelled')
  })

  test('that is cancelled ends although its tool does not listen', async () => {
    const controller = new AbortController()
    const { runtime } = await createTestRuntime({
      tools: [
        {
          ...echo,
          run() {
            controller.abort()
            return new Promise(() => undefined)
          },
        },
      ],
    })
    const result = await callTool(runtime, testCall('echo', { text: 'x' }, { signal: controller.signal }))
    expect(result.error?.code).toBe('cancelled')
  })
})

describe('a decision', () => {
  test('to deny ends the call, and a hard one says so', async () => {
    const refuse = (by: 'rule' | 'hard-stop') => () => ({
      outcome: 'deny' as const,
      by,
      ref: null,
      reason: 'no',
    })
    const soft = await createTestRuntime({ decide: refuse('rule') })
    expect((await callTool(soft.runtime, testCall('echo', { text: 'x' }))).error?.code).toBe('denied')
    const hard = await createTestRuntime({ decide: refuse('hard-stop') })
    expect((await callTool(hard.runtime, testCall('echo', { text: 'x' }))).error?.code).toBe('forbidden')
  })

  const ask = () => ({ outcome: 'ask' as const, by: 'mode' as const, ref: null, reason: 'writes' })

  test('to ask without anybody to ask is refused', async () => {
    const { runtime } = await createTestRuntime({ decide: ask })
    expect((await callTool(runtime, testCall('echo', { text: 'x' }))).error?.code).toBe('needs_approval')
  })

  test('to ask is settled by an answer, and the record says who gave it', async () => {
    const { runtime, events } = await createTestRuntime({ decide: ask })
    const approver = onceApprover('kim')
    const result = await callTool(runtime, testCall('echo', { text: 'x' }, { approver }))
    expect(result).toMatchObject({ ok: true, decision: { outcome: 'allow', by: 'user' } })
    expect(events).toMatchObject([
      { type: 'call-started' },
      { type: 'approval-requested', question: expect.any(String) },
      { type: 'approval-answered', answer: 'once', user: 'kim' },
      { type: 'call-finished', decision: { by: 'user' } },
    ])
  })

  test('that nobody answers in time is expired, not denied by a person', async () => {
    const { runtime } = await createTestRuntime({ decide: ask })
    const approver: Approver = { ask: async () => ({ kind: 'expired' }) }
    const result = await callTool(runtime, testCall('echo', { text: 'x' }, { approver }))
    expect(result.error?.code).toBe('expired')
    expect(result.decision.by).toBe('timeout')
  })

  test('can be explained without running or recording anything', async () => {
    const { runtime, events } = await createTestRuntime({ decide: ask })
    const { judgement } = await explainCall(runtime, testCall('echo', { text: 'x' }))
    expect(judgement.decision.outcome).toBe('ask')
    expect(events).toEqual([])
  })
})

describe('hooks', () => {
  test('before a call can veto it but not change its input', async () => {
    const { runtime } = await createTestRuntime({
      hooks: {
        before: [
          async request => {
            expect(() => Object.assign(request.input, { text: 'other' })).toThrow()
            return { veto: 'not today' }
          },
        ],
      },
    })
    const result = await callTool(runtime, testCall('echo', { text: 'x' }))
    expect(result.error).toMatchObject({ code: 'denied' })
    expect(result.decision).toMatchObject({ by: 'hook', reason: 'not today' })
  })

  test('after a call that fail withhold the output', async () => {
    const { runtime } = await createTestRuntime({
      hooks: {
        after: [
          () => {
            throw new Error('cannot redact')
          },
        ],
      },
    })
    const result = await callTool(runtime, testCall('echo', { text: 'very secret' }))
    expect(result.ok).toBe(false)
    expect(JSON.stringify(result)).not.toContain('very secret')
  })
})

describe('a provider that becomes unavailable', () => {
  test('hands the call to the next one, which is judged by itself', async () => {
    const { runtime } = await createTestRuntime({
      tools: [{ ...echo, run: async () => ({ text: 'from below' }) }],
    })
    const above = toolNamed('echo', {
      overrides: 'echo',
      run: () => Promise.reject(new ProviderUnavailable('gone')),
    })
    await runtime.registry.add(localProvider('above', 'Above', 10, [above]))
    const result = await callTool(runtime, testCall('echo', { text: 'x' }))
    expect(result).toMatchObject({ ok: true, text: 'from below' })
  })

  test('ends the call when there is no other', async () => {
    const failing = { ...echo, run: () => Promise.reject(new ProviderUnavailable('gone')) }
    const { runtime } = await createTestRuntime({ tools: [failing] })
    const result = await callTool(runtime, testCall('echo', { text: 'x' }))
    expect(result.error?.message).toBe("No provider of 'echo' is available now: test is down: gone.")
  })

  test('is not tried elsewhere when its tool merely failed', async () => {
    const failing = { ...echo, run: () => Promise.reject(new ToolError('failed', 'half done')) }
    const { runtime } = await createTestRuntime({ tools: [failing] })
    expect((await callTool(runtime, testCall('echo', { text: 'x' }))).error?.message).toBe('half done')
  })
})
