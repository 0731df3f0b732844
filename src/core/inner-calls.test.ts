import { describe, expect, test } from 'vitest'
import { laterApprover } from './approval.ts'
import { callTool } from './call.ts'
import type { Decision } from './decision.ts'
import { createTestRuntime, echo, testCall, toolNamed } from './testing.ts'
import type { ToolContext } from './tool.ts'

// A tool that makes calls, one of which asks: what is given again, what is made again, and what ends it.

const ALLOW: Decision = { outcome: 'allow', by: 'rule', ref: null, reason: 'ok' }
const ASK: Decision = { outcome: 'ask', by: 'mode', ref: null, reason: 'It is risky.' }

/** `outer` runs this; `write` counts, and `risky` asks. */
async function open(steps: (say: (tool: string, text: string) => Promise<string>) => Promise<string>) {
  const done: string[] = []
  const asking = { always: false }
  const does = (name: string) =>
    toolNamed(name, {
      risk: 'high',
      async run({ text }) {
        done.push(`${name} ${text}`)
        return { text: `did ${text}` }
      },
    })
  const touches = { details: 'code, version 1' }
  const outer = toolNamed('outer', {
    access: () => [{ kind: 'custom', name: 'code', ...touches }],
    async run(_input: unknown, context: ToolContext) {
      const say = async (tool: string, text: string) =>
        (await context.call({ tool, input: { text }, caller: 'outer' })).text
      return { text: await steps(say) }
    },
  })
  const { runtime, events } = await createTestRuntime({ tools: [outer, echo, does('write'), does('risky')] })
  const judge = runtime.permissions.judge.bind(runtime.permissions)
  const permissions = {
    ...runtime.permissions,
    judge: async (request: Parameters<typeof judge>[0]) => ({
      ...(await judge(request)),
      decision: asking.always || request.tool.name === 'risky' ? ASK : ALLOW,
    }),
  }
  const parts = { ...runtime, permissions }
  const call = (more = {}) =>
    callTool(parts, testCall('outer', { text: 'x' }, { approver: laterApprover, ...more }))
  const answer = async (id = '', kind: 'once' | 'deny' = 'once') => {
    await parts.questions.answer(id, { kind, user: 'kim' }, 1)
  }
  return { parts, events, done, call, answer, asking, touches }
}

describe('a call that makes calls', () => {
  test('waits for the question of one, and goes on without making any of them again', async () => {
    const { parts, events, done, call, answer } = await open(async say => {
      const first = await say('write', 'a')
      const second = await say('risky', 'b')
      return `${first}, ${second}, ${await say('risky', 'c')}`
    })
    const waits = await call()
    expect(waits).toMatchObject({
      ok: false,
      question: expect.stringMatching(/^q-/),
      part: { call: 'call_1~2', tool: 'risky', input: { text: 'b' } },
      error: {
        code: 'needs_approval',
        message: expect.stringContaining('Its call of risky asks: It is risky.'),
      },
    })
    const [asked] = await parts.questions.list()
    expect(asked).toMatchObject({
      question: { callId: 'call_1~2', within: [{ callId: 'call_1', tool: 'outer' }] },
      outer: { id: 'call_1', tool: 'outer', input: { text: 'x' } },
    })
    // Nobody has answered yet.
    expect((await call({ isResumed: true })).question).toBe(waits.question)
    await answer(waits.question)
    const again = await call({ isResumed: true })
    expect(again).toMatchObject({ part: { call: 'call_1~3' } })
    expect(again.question).not.toBe(waits.question)
    await answer(again.question)
    expect(await call({ isResumed: true })).toMatchObject({ ok: true, text: 'did a, did b, did c' })
    expect(done).toEqual(['write a', 'risky b', 'risky c'])
    expect(await parts.questions.list()).toEqual([])
    expect(parts.journals.read('call_1')).toBeUndefined()
    // Each call has one beginning and one end on record.
    const recorded = (type: 'call-started' | 'call-finished') =>
      events.flatMap(event => (event.type === type ? [event.call] : []))
    expect(recorded('call-started')).toEqual(['call_1', 'call_1~1', 'call_1~2', 'call_1~3'])
    expect(recorded('call-finished')).toEqual(['call_1~1', 'call_1~2', 'call_1~3', 'call_1'])
  })

  test('gets a refusal as the result of the inner call', async () => {
    const { call, answer, done } = await open(say => say('risky', 'a'))
    const waits = await call()
    await answer(waits.question, 'deny')
    expect(await call()).toMatchObject({ ok: true, text: 'answered deny' })
    expect(done).toEqual([])
  })

  test('is itself asked about once', async () => {
    const { call, answer, asking, done, parts } = await open(say => say('risky', 'a'))
    asking.always = true
    const first = await call()
    await answer(first.question)
    const second = await call({ continues: await parts.questions.find(first.question ?? '') })
    expect(second).toMatchObject({ part: { tool: 'risky' } })
    await answer(second.question)
    expect(await call()).toMatchObject({ ok: true, decision: { by: 'user' } })
    expect(done).toEqual(['risky a'])
  })

  test('asks anew when the question of the inner call has expired meanwhile', async () => {
    const { call, answer, parts, done } = await open(say => say('risky', 'a'))
    const waits = await call()
    await parts.questions.extend(waits.question ?? '', 0)
    const again = await call()
    expect(again.question).toMatch(/^q-/)
    expect(again.question).not.toBe(waits.question)
    await answer(again.question)
    expect(await call()).toMatchObject({ ok: true, text: 'did a' })
    expect(done).toEqual(['risky a'])
  })

  test('goes on when a client repeats it under another id', async () => {
    const { call, answer, done, parts } = await open(async say => {
      await say('write', 'a')
      return say('risky', 'b')
    })
    const waits = await call()
    const repeated = await call({ id: 'call_2' })
    expect(repeated.question).toBe(waits.question)
    await answer(waits.question)
    expect(await call({ id: 'call_3' })).toMatchObject({ ok: true, text: 'did b' })
    expect(done).toEqual(['write a', 'risky b'])
    expect(parts.journals.read('call_1')).toBeUndefined()
  })

  test.each([
    [
      'asks for something else',
      async (turn: number) => (turn === 1 ? ['write a', 'risky b'] : ['write z', 'risky b']),
    ],
    ['leaves something out', async (turn: number) => (turn === 1 ? ['write a', 'risky b'] : ['write a'])],
    [
      'asks for the same twice',
      async (turn: number) => (turn === 1 ? ['write a', 'risky b'] : ['write a', 'write a']),
    ],
  ])('ends when it %s on going on', async (_how, plan) => {
    let turn = 0
    const { call, answer, done, parts } = await open(async say => {
      turn += 1
      for (const step of await plan(turn)) await say(step.split(' ')[0] ?? '', step.split(' ')[1] ?? '')
      return 'done'
    })
    const waits = await call()
    await answer(waits.question)
    expect(await call()).toMatchObject({
      ok: false,
      error: { code: 'stale', message: expect.stringContaining('other things than before') },
    })
    expect(done).toEqual(['write a'])
    // Nobody is asked for what nobody waits for.
    expect(await parts.questions.list()).toEqual([])
  })

  test('may make its calls in another order on going on', async () => {
    let turn = 0
    const { call, answer, done } = await open(async say => {
      turn += 1
      const steps = [() => say('write', 'a'), () => say('risky', 'b'), () => say('write', 'c')]
      const order = turn === 1 ? steps : steps.toReversed()
      return (await Promise.all(order.map(step => step()))).toSorted().join()
    })
    const waits = await call()
    // Those beside the one that asks have ended by then.
    await new Promise(setImmediate)
    await answer(waits.question)
    expect(await call()).toMatchObject({ ok: true, text: 'did a,did b,did c' })
    expect(done.toSorted()).toEqual(['risky b', 'write a', 'write c'])
  })

  test('does not repeat an inner call that was interrupted, and says so', async () => {
    const { call, parts, done } = await open(say => say('write', 'a'))
    const digest = parts.digestInput(['write', { text: 'a' }, '/workspace']) ?? ''
    // As a killed process leaves it.
    const whole =
      parts.digestInput([
        'call_1',
        'outer',
        parts.registry.candidates('outer')[0]?.fingerprint,
        { text: 'x', kind: 'a' },
        [{ kind: 'custom', name: 'code', details: 'code, version 1' }],
        '/workspace',
      ]) ?? ''
    parts.journals.append('call_1', [
      { digest: whole, decision: ALLOW },
      { id: 'call_1~1', digest, hasBegun: true },
    ])
    expect(await call()).toMatchObject({
      error: {
        message:
          'Kogu was interrupted while write ran. It may or may not have taken effect, and it was not repeated.',
      },
    })
    expect(done).toEqual([])
  })

  test('does not go on as another call, or with a tool that has changed', async () => {
    const { call, answer, done } = await open(async say => {
      await say('write', 'a')
      return say('risky', 'b')
    })
    const waits = await call()
    await answer(waits.question)
    expect(await call({ input: { text: 'y' } })).toMatchObject({ error: { code: 'stale' } })
    expect(done).toEqual(['write a'])
  })

  test('does not go on with code that nobody was asked about, or by the journal of another call', async () => {
    const { parts, call, answer, asking, touches, done } = await open(say => say('risky', 'b'))
    asking.always = true
    const asked = await call()
    await answer(asked.question)
    const waits = await call({ continues: await parts.questions.find(asked.question ?? '') })
    await answer(waits.question)
    const journal = parts.journals.read('call_1') ?? []
    touches.details = 'code, version 2'
    expect(await call({ isResumed: true })).toMatchObject({ error: { code: 'stale' } })
    touches.details = 'code, version 1'
    parts.journals.append('call_2', journal)
    expect(await call({ id: 'call_2' })).toMatchObject({ error: { code: 'stale' } })
    expect([journal.length, done]).toEqual([2, []])
  })

  test('goes on once when several want to', async () => {
    const { call, answer, done } = await open(async say => {
      await say('write', 'a')
      const second = await say('risky', 'b')
      await say('write', 'c')
      return second
    })
    const waits = await call()
    await answer(waits.question)
    const both = await Promise.all([call({ isResumed: true }), call({ isResumed: true })])
    expect(both.map(({ ok, error }) => [ok, error?.code])).toEqual([
      [true, undefined],
      [false, 'conflict'],
    ])
    // And not after it has ended.
    expect((await call({ isResumed: true })).error?.code).toBe('conflict')
    expect(done).toEqual(['write a', 'risky b', 'write c'])
  })

  test('that was refused meanwhile leaves no question behind', async () => {
    const { call, parts } = await open(say => say('risky', 'a'))
    await call()
    const judged = parts.permissions.judge
    const refused = async (request: Parameters<typeof judged>[0]) => ({
      ...(await judged(request)),
      decision: { ...ALLOW, outcome: 'deny' as const },
    })
    const again = await callTool(
      { ...parts, permissions: { ...parts.permissions, judge: refused } },
      testCall('outer', { text: 'x' }),
    )
    expect(again.error?.code).toBe('denied')
    expect(await parts.questions.list()).toEqual([])
    expect(parts.journals.read('call_1')).toBeUndefined()
  })

  test('that only reads leaves nothing on the disk', async () => {
    const { call, parts } = await open(say => say('echo', 'a'))
    const kept: unknown[] = []
    const journals = { ...parts.journals, append: (...all: unknown[]) => void kept.push(all) }
    const { text } = await callTool({ ...parts, journals }, testCall('outer', { text: 'x' }))
    expect([text, kept]).toEqual(['a', []])
    expect((await call()).ok).toBe(true)
  })
})
