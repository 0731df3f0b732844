import { describe, expect, test } from 'vitest'
import { parsePanel } from './agents/panel.ts'
import { createTestMachine } from './config/test-machine.ts'
import { Registry } from './core/registry.ts'
import { openModels } from './models.ts'
import { type RunWish, toRunSpec, toRunSpecAgain } from './run-spec.ts'

test.each([
  ['ask', 'ask', 'ask'],
  ['ask', 'stop', 'stop'],
  ['stop', 'ask', 'stop'],
])('with on_limit %j in the configuration and %j in the panel it is %j', (configured, own, limit) => {
  const machine = createTestMachine()
  machine.write('user/config.toml', `[limits]\non_limit = "${configured}"\n`)
  const script = machine.write('script.toml', '[[answer]]\ntext = "Done."\n')
  const loaded = machine.load()
  const panel = parsePanel(`model = "rehearsal:${script}"\n[limits]\non_limit = "${own}"\n`, 'p', 'p.toml')
  if (panel.kind !== 'ai') throw new Error('It has a model.')
  const runs = { models: openModels(loaded, machine.environment()) }
  const runtime = { registry: new Registry() }
  const spec = toRunSpec({ loaded, runtime, runs }, { task: 'Go.', startedBy: 'test', panel })
  expect(spec.limits.onLimit).toBe(limit)
})

const record = {
  ...{
    id: 'a',
    name: 'a',
    description: null,
    system: null,
    provider: 'rehearsal',
    providerId: 'p',
    model: 'x',
  },
  ...{ temperature: 1, maxTokens: 100, sourcePath: null, sourceHash: null, createdAt: new Date(0) },
}

describe('a wish', () => {
  const specOf = (
    wish: Partial<RunWish>,
    more = '',
    limits = '[limits]\nmax_turns = 3\n',
    turns = 30,
    config = '',
  ) => {
    const machine = createTestMachine()
    machine.write('user/config.toml', `${config}[limits]\nmax_tokens = 1000\nmax_turns = ${turns}\n`)
    const script = machine.write('script.toml', '[[answer]]\ntext = "Done."\n')
    const loaded = machine.load()
    const text = `model = "rehearsal:${script}"\n${more}${limits}`
    const panel = parsePanel(text, 'p', 'p.toml')
    if (panel.kind !== 'ai') throw new Error('It has a model.')
    const parts = { loaded, runtime: { registry: new Registry() } }
    const runs = { models: openModels(loaded, machine.environment()) }
    return toRunSpec({ ...parts, runs }, { task: 'Go.', startedBy: 'test', panel, ...wish })
  }

  test('lowers the limits of a panel and of the configuration, also ones that they do not set', () => {
    const { limits } = specOf({ limits: { maxTurns: 2, maxTokens: 1000, maxCostUsd: 5 } })
    expect(limits).toMatchObject({ maxTurns: 2, maxTokens: 1000, maxCostUsd: 5 })
  })

  test.each([
    [{ maxTurns: 4 }, 'max_turns 4 is above 3', 'at most 3'],
    [{ maxTokens: 1001 }, 'max_tokens 1001 is above 1000', 'at most 1000'],
  ])('raises them by %j only where a person could approve it', (limits, message, hint) => {
    expect(() => specOf({ limits })).toThrow(
      expect.objectContaining({
        ...{ code: 'forbidden', message: expect.stringContaining(message) },
        hint: expect.stringContaining(hint),
      }),
    )
    expect(specOf({ limits, mayApprove: true }).limits).toMatchObject(limits)
  })

  test('has as many turns as the configuration lets it where the panel does not say', () => {
    const free = (turns: number, mayApprove = false) =>
      specOf({ limits: { maxTurns: turns }, mayApprove }, '', '').limits
    expect(free(30)).toMatchObject({ maxTurns: 30 })
    expect(() => free(31)).toThrow('max_turns 31 is above 30')
    expect(free(31, true)).toMatchObject({ maxTurns: 31 })
  })

  test('of an agent has the turns of the configuration, and few where a request waits for it', () => {
    const turnsOf = (turns: number, wish: Partial<RunWish> = {}) =>
      specOf({ agent: { record, tools: [] }, ...wish }, '', '', turns).limits.maxTurns
    expect([turnsOf(30), turnsOf(3)]).toEqual([30, 3])
    expect([turnsOf(30, { isWaitedFor: true }), turnsOf(3, { isWaitedFor: true })]).toEqual([5, 3])
  })

  test('does not leave out the plan that a panel shows to a person', () => {
    const planned = 'orchestration = "approval"\n'
    expect(specOf({}, planned).orchestration).toBe('approval')
    for (const orchestration of ['automatic', 'none'] as const) {
      expect(() => specOf({ orchestration }, planned)).toThrow('plan is approved')
      expect(specOf({ orchestration, mayApprove: true }, planned).orchestration).not.toBe('approval')
    }
    expect(specOf({ orchestration: 'none', tools: [] }, planned)).toMatchObject({ authority: { tools: [] } })
  })

  test('does not leave out the plan that [defaults] wants a person to see, with an agent or without', () => {
    const under = (wish: Partial<RunWish>, more = '') =>
      specOf(wish, more, undefined, undefined, '[defaults]\norchestration = "approval"\n')
    for (const agent of [{}, { agent: { record, tools: [] } }]) {
      expect(under(agent).orchestration).toBe('approval')
      for (const orchestration of ['automatic', 'none'] as const) {
        expect(() => under({ ...agent, orchestration })).toThrow('plan is approved')
        expect(under({ ...agent, orchestration, mayApprove: true }).orchestration).not.toBe('approval')
      }
    }
    expect(under({}, 'orchestration = "automatic"\n').orchestration).toBe('automatic')
  })
})

describe('a run that is started again', () => {
  const createPlace = () => {
    const machine = createTestMachine()
    const model = `rehearsal:${machine.write('script.toml', '[[answer]]\ntext = "Done."\n')}`
    const under = (limits: string) => {
      machine.write('user/config.toml', `[limits]\n${limits}`)
      const loaded = machine.load()
      const runs = { models: openModels(loaded, machine.environment()) }
      return { loaded, runtime: { registry: new Registry() }, runs }
    }
    const agentOf = (more: string) => {
      const panel = parsePanel(`model = "${model}"\n${more}`, 'p', 'p.toml')
      if (panel.kind !== 'ai') throw new Error('It has a model.')
      return { record, tools: [], panel }
    }
    return { model, under, agentOf }
  }
  const begun = { task: 'Go.', startedBy: 'test', mayApprove: true }

  test('has the limits that hold now, and higher ones only by who may approve', () => {
    const { model, under, agentOf } = createPlace()
    for (const agent of [{ agent: agentOf('') }, {}]) {
      const spec = toRunSpec(under('max_turns = 30\n'), {
        ...{ ...begun, ...agent, model, limits: { maxTurns: 20 } },
      })
      const lowered = under('max_turns = 10\nmax_tokens = 1000\non_limit = "stop"\n')
      expect(() => toRunSpecAgain(lowered, spec, agent)).toThrow('max_turns 20 is above 10')
      expect(toRunSpecAgain(lowered, spec, { ...agent, mayApprove: true }).limits).toMatchObject({
        ...{ maxTurns: 20, maxTokens: 1000, onLimit: 'stop' },
      })
    }
  })

  test('skips the plan that a panel shows to a person only by who may approve', () => {
    const { under, agentOf } = createPlace()
    const agent = agentOf('orchestration = "approval"\n')
    const parts = under('')
    const spec = toRunSpec(parts, { ...begun, agent, orchestration: 'none' })
    expect(() => toRunSpecAgain(parts, { ...spec, authority: {} }, { agent })).toThrow('plan is approved')
    expect(toRunSpecAgain(parts, spec, { agent, mayApprove: true })).toEqual(spec)
  })
})
