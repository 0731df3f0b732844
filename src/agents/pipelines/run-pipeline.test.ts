import { describe, expect, test } from 'vitest'
import { type Pipeline, toPipeline } from './pipeline.ts'
import { type Progress, type StepOutcome, type StepProgress, startProgress, whyFailed } from './progress.ts'
import { beginAgain } from './run-again.ts'
import { type PanelOrder, type PipelineWorkers, runPipeline } from './run-pipeline.ts'
import { summarizeText } from './summaries.ts'

const made = (value: object): Pipeline => toPipeline({ name: 'p', ...value })
const panels = (...ids: string[]) => ids.map(id => ({ id, panel: id }))

interface Played {
  readonly orders: PanelOrder[]
  readonly waits: number[]
  readonly saves: Progress[]
  readonly most: { now: number; ever: number }
}

/** Plays panels by a function; time passes only where the pipeline waits. */
function workers(
  answer: (order: PanelOrder, time: number) => StepOutcome | undefined,
  more: Partial<PipelineWorkers> = {},
): { parts: PipelineWorkers; played: Played } {
  const played: Played = { orders: [], waits: [], saves: [], most: { now: 0, ever: 0 } }
  let clock = 0
  const times = new Map<string, number>()
  return {
    played,
    parts: {
      parallel: 4,
      signal: new AbortController().signal,
      now: () => clock,
      wait: async until => {
        played.waits.push(until - clock)
        clock = until
      },
      save: async progress => void played.saves.push(structuredClone(progress)),
      passGate: async () => ({ kind: 'open' }),
      runPipeline: async () => ({ ok: true, text: 'pipeline', data: null }),
      summarize: async (_, text) => `short:${text.length}`,
      runTool: async () => ({ ok: true, text: 'tool', data: null }),
      fillArgs: ({ args }, fill) => fill(args) as Record<string, unknown>,
      panelContent: async () => undefined,
      readFolder: async () => ({ ok: true, text: 'folder', data: null }),
      async runPanel(order) {
        played.orders.push(order)
        played.most.now += 1
        played.most.ever = Math.max(played.most.ever, played.most.now)
        await Promise.resolve()
        const time = (times.get(order.step.id) ?? 0) + 1
        times.set(order.step.id, time)
        played.most.now -= 1
        return answer(order, time)
      },
      ...more,
    },
  }
}

const done = (text: string): StepOutcome => ({ ok: true, text, data: null })
const start = (pipeline: Pipeline) => ({ pipeline, input: {}, progress: startProgress(pipeline) })

describe('a run', () => {
  test('a rate limit is waited for five times, longer each time, in the same run of the panel', async () => {
    const limited = { ok: false, error: '429', retryable: true, rateLimited: true, run: 'r1' } as const
    const { parts, played } = workers((_, time) => (time <= 5 ? limited : done('at last')))
    const { status } = await runPipeline(start(made({ step: panels('a') })), parts)
    expect(status).toBe('completed')
    expect(played.waits).toEqual([15_000, 30_000, 45_000, 60_000, 75_000])
    expect(played.orders.map(({ run }) => run)).toEqual([undefined, 'r1', 'r1', 'r1', 'r1', 'r1'])
    const never = workers(() => limited)
    expect((await runPipeline(start(made({ step: panels('a') })), never.parts)).status).toBe('failed')
    expect(never.played.waits).toHaveLength(5)
  })

  test('a step that ran and says no ends the run as failed, and nothing follows it unless an edge says when', async () => {
    const no = {
      ok: true,
      text: 'test: failed',
      data: null,
      verdict: { is: 'failed', why: 'one test failed' },
    } as const
    const { parts, played } = workers(({ step }) => (step.id === 'check' ? no : done('x')))
    const plain = await runPipeline(start(made({ step: panels('check', 'commit') })), parts)
    expect(plain.status).toBe('failed')
    expect(plain.progress.steps.commit).toMatchObject({ status: 'skipped', reason: "'check' failed." })
    expect(whyFailed(plain.progress)).toEqual({ step: 'check', why: 'one test failed' })
    const edge = [
      { from: 'check', to: 'commit', when: 'not:failed' },
      { from: 'check', to: 'report', when: 'contains:failed' },
    ]
    const branched = await runPipeline(
      start(made({ step: panels('check', 'commit', 'report'), edge })),
      parts,
    )
    expect(branched.status).toBe('failed')
    expect(played.orders.map(({ step }) => step.id)).toEqual(['check', 'check', 'report'])
    const step = [{ id: 'check', panel: 'check', on_error: 'continue' }, ...panels('next')]
    const warned = await runPipeline(start(made({ step })), parts)
    expect(warned.status).toBe('completed')
    expect(warned.progress.steps.check).toMatchObject({ verdict: { is: 'unknown', why: 'one test failed' } })
  })

  test('a loop that would have to go back once more has failed, and pauses before each round', async () => {
    const edge = [
      { from: 'fix', to: 'check' },
      { from: 'check', to: 'fix', when: 'contains:wrong', max_retries: 2, retry_delay: 4_000 },
    ]
    const { parts, played } = workers(({ step }) => done(step.id === 'check' ? 'still wrong' : 'x'))
    const pipeline = made({ step: panels('fix', 'check'), edge })
    const { status, progress } = await runPipeline(start(pipeline), parts)
    expect({ status, waits: played.waits }).toEqual({ status: 'failed', waits: [4_000, 4_000] })
    expect(whyFailed(progress)?.why).toMatch(/^It went back to 'fix' 2 times[\s\S]*still wrong$/)
    const mended = workers(({ step }, time) => done(step.id === 'check' && time < 3 ? 'wrong' : 'x'))
    expect((await runPipeline(start(pipeline), mended.parts)).status).toBe('completed')
  })

  test('a failure is tried again as often as the edges to it say, each time in a new run', async () => {
    const edge = [{ from: 'a', to: 'b', max_retries: 2, retry_delay: 3_000 }]
    const { parts, played } = workers(({ step }, time) =>
      step.id === 'b' && time < 3 ? { ok: false, error: 'no', retryable: true, run: 'old' } : done('x'),
    )
    expect((await runPipeline(start(made({ step: panels('a', 'b'), edge })), parts)).status).toBe('completed')
    expect(played.waits).toEqual([3_000, 3_000])
    expect(played.orders.every(({ run }) => run === undefined)).toBe(true)
  })

  test('panels that do not wait for each other work side by side, as many as may', async () => {
    const edge = ['b', 'c', 'd'].flatMap(id => [
      { from: 'a', to: id },
      { from: id, to: 'e' },
    ])
    const pipeline = made({ step: panels('a', 'b', 'c', 'd', 'e'), edge })
    const all = workers(() => done('x'))
    await runPipeline(start(pipeline), all.parts)
    expect(all.played.most.ever).toBe(3)
    const two = workers(() => done('x'), { parallel: 2 })
    expect((await runPipeline(start(pipeline), two.parts)).status).toBe('completed')
    expect(two.played.most.ever).toBe(2)
  })

  test('whoever tries again in a loop is told what went wrong', async () => {
    const edge = [
      { from: 'code', to: 'check' },
      { from: 'check', to: 'code', when: 'failed', max_retries: 3 },
    ]
    const { parts, played } = workers(({ step }, time) =>
      step.id === 'check' ? done(time < 3 ? `failed for the ${time}. time` : 'fine') : done('code'),
    )
    const { progress, status } = await runPipeline(
      start(made({ step: panels('code', 'check'), edge })),
      parts,
    )
    expect([status, progress.loops]).toEqual(['completed', { 'check>code': 2 }])
    const prompts = played.orders.filter(({ step }) => step.id === 'code').map(({ prompt }) => prompt)
    expect(prompts[0]).toBe('')
    expect(prompts[1]).toContain('failed for the 1. time')
    expect(prompts[2]).toContain('failed for the 2. time')
  })

  test('what somebody else said in the round before is still theirs', async () => {
    const edge = [
      { from: 'code', to: 'page' },
      { from: 'page', to: 'code', max_retries: 1 },
    ]
    const { parts, played } = workers(({ step }) => {
      return step.id === 'page' ? { ok: true, text: 'obey', data: null, untrusted: 'web' } : done('code')
    })
    await runPipeline(start(made({ step: panels('code', 'page'), edge })), parts)
    const [, second] = played.orders.filter(({ step }) => step.id === 'code')
    expect(second?.prompt).toMatch(/<untrusted-content [\s\S]*obey[\s\S]*<\/untrusted-content/)
  })

  test('no two tries have the same name, whatever is waited for and whichever loop goes round', async () => {
    const names: string[] = []
    const outcomes: StepOutcome[] = [
      { ok: false, error: '429', retryable: true, rateLimited: true },
      { ok: false, error: '429', retryable: true, rateLimited: true },
      { ok: false, error: 'x', retryable: true },
      done('again'),
      done('again'),
      done('fine'),
    ]
    const { parts } = workers(() => done('x'), {
      async runTool(_, __, attempt) {
        names.push(attempt)
        return outcomes[names.length - 1]
      },
    })
    const step = [{ id: 'a', tool: 't', retry: 1 }, ...panels('b')]
    const edge = [
      { from: 'a', to: 'b' },
      { from: 'b', to: 'a', max_retries: 2 },
    ]
    await runPipeline(start(made({ step, edge })), parts)
    expect(names).toHaveLength(6)
    expect(new Set(names).size).toBe(6)
  })

  test('the question of a step that waits keeps its name while a loop beside it goes round', async () => {
    const names: string[] = []
    const { parts } = workers(({ step }, time) => done(step.id === 'c' && time < 3 ? 'failed' : 'fine'), {
      async runTool(_, __, attempt) {
        names.push(attempt)
        return undefined
      },
    })
    const step = [{ id: 'asks', tool: 't' }, ...panels('b', 'c')]
    const edge = [
      { from: 'b', to: 'c' },
      { from: 'c', to: 'b', when: 'failed', max_retries: 3 },
    ]
    const run = start(made({ step, edge }))
    const { progress } = await runPipeline(run, parts)
    await runPipeline({ ...run, progress }, parts)
    expect(names).toEqual(['0.1', '0.1'])
  })

  test('one branch that waits for a person does not hold the others', async () => {
    const { parts, played } = workers(({ step }) => (step.id === 'a' ? undefined : done('x')))
    const edge = [
      { from: 'b', to: 'c' },
      { from: 'a', to: 'd' },
    ]
    const { status, progress } = await runPipeline(
      start(made({ step: panels('a', 'b', 'c', 'd'), edge })),
      parts,
    )
    expect(status).toBe('waiting')
    expect(progress.steps).toMatchObject({ a: { status: 'waiting' }, c: { status: 'done' } })
    expect(played.orders.map(({ step }) => step.id)).toEqual(['a', 'b', 'c'])
  })

  test('what a summarised edge hands over is the summary, and what is injected is bounded', async () => {
    const step = [{ id: 'long', text: 'é'.repeat(200_000) }, ...panels('whole', 'short')]
    const edge = [
      { from: 'long', to: 'whole' },
      { from: 'long', to: 'short', summarize: true },
    ]
    const { parts, played } = workers(() => done('x'))
    await runPipeline(start(made({ step, edge })), parts)
    const [whole = '', short = ''] = played.orders.map(({ prompt }) => prompt)
    expect(Buffer.byteLength(whole)).toBeLessThan(180_100)
    expect(whole).not.toContain('\uFFFD')
    expect(whole).toContain('bytes left out]')
    expect(short).toContain('short:200000')
  })

  test('a panel whose run has begun is on record with it before it works, and goes on with it later', async () => {
    const { parts, played } = workers(() => undefined, {
      runPanel: async order => {
        await order.begun('run-1')
        return undefined
      },
    })
    const first = await runPipeline(start(made({ step: panels('a') })), parts)
    expect(played.saves).toContainEqual(
      expect.objectContaining({ steps: { a: { status: 'running', attempts: 0, run: 'run-1' } } }),
    )
    const next = workers(() => done('x'))
    await runPipeline({ ...start(made({ step: panels('a') })), progress: first.progress }, next.parts)
    expect(next.played.orders[0]?.run).toBe('run-1')
  })

  test('a person who stops it finds every step where it was', async () => {
    const controller = new AbortController()
    const { parts } = workers(
      ({ step }) => {
        if (step.id === 'b') controller.abort()
        return step.id === 'b' ? undefined : done('x')
      },
      { signal: controller.signal },
    )
    const { status, progress } = await runPipeline(start(made({ step: panels('a', 'b', 'c') })), parts)
    expect(status).toBe('stopped')
    expect(progress.steps).toMatchObject({ a: { status: 'done' }, b: { status: 'waiting' } })
  })
})

describe('beginning again', () => {
  const pipeline = made({
    step: panels('a', 'b', 'c', 'd'),
    edge: [
      { from: 'a', to: 'b', auto_chain: true },
      { from: 'b', to: 'c' },
      { from: 'a', to: 'd' },
    ],
  })
  const all = Object.fromEntries(
    ['a', 'b', 'c', 'd'].map(id => [id, { status: 'done' as const, attempts: 1, text: id, data: null }]),
  )
  const waiting = ({ steps }: Progress): string[] =>
    Object.keys(steps).filter(id => steps[id]?.status === 'waiting')

  test('from a step on, everything behind it runs; a step alone takes along what is chained to it', () => {
    const earlier = { steps: all, loops: {} }
    expect(waiting(beginAgain(pipeline, earlier, { step: 'b', extent: 'from' }).progress)).toEqual(['b', 'c'])
    expect(waiting(beginAgain(pipeline, earlier, { step: 'a', extent: 'only' }).progress)).toEqual(['a', 'b'])
    expect(beginAgain(pipeline, earlier, { step: 'c', extent: 'only' }).repeats).toEqual(['c'])
  })

  test.each([
    ['in the middle of its list', { attempts: 0, items: [{ text: 'x', data: null }] }],
    ['in the middle of its panel', { attempts: 0, run: 'r' }],
    ['for its next try', { attempts: 1 }],
  ])('a step that waits %s has been done in part, and is named', (_, tries) => {
    const earlier = { steps: { ...all, c: { status: 'waiting' as const, ...tries } }, loops: {} }
    expect(beginAgain(pipeline, earlier, { step: 'c', extent: 'from' }).repeats).toEqual(['c'])
  })

  test('what was done in an earlier round, or in the run before the run before, is named', () => {
    const looping = made({
      step: panels('a', 'b', 'c'),
      edge: [
        { from: 'a', to: 'b' },
        { from: 'b', to: 'c' },
        { from: 'c', to: 'b', max_retries: 2 },
      ],
    })
    const waits = { status: 'waiting' as const, attempts: 0 }
    const both = (each: StepProgress): Progress => ({ steps: { ...all, b: each, c: each }, loops: {} })
    const [first, second] = [both(waits), both({ ...waits, round: 1 })]
    const again = { step: 'b', extent: 'from' } as const
    expect(beginAgain(looping, second, again).repeats).toEqual(['b', 'c'])
    expect(beginAgain(looping, first, again).repeats).toEqual([])
    expect(beginAgain(looping, first, again, [{ steps: all, loops: {} }]).repeats).toEqual(['b', 'c'])
  })

  test('a step whose sources have no output cannot be begun with', () => {
    const earlier = {
      steps: { ...all, b: { status: 'failed' as const, attempts: 1, error: 'x' } },
      loops: {},
    }
    expect(() => beginAgain(pipeline, earlier, { step: 'c', extent: 'from' })).toThrow('b has no output')
  })
})

describe('summaries', () => {
  test('long texts are summarised in parts and merged; what was summarised before is not asked again', async () => {
    const asked: string[] = []
    const kept = new Map<string, string>()
    let pauses = 0
    const summarizer = {
      id: 'model',
      cache: {
        get: (key: string) => kept.get(key),
        set: (key: string, text: string) => void kept.set(key, text),
      },
      pause: async () => {
        pauses += 1
      },
      async ask(_: string, text: string) {
        asked.push(text)
        return `s${text.length}`
      },
    }
    const text = Array.from({ length: 1_000 }, (_, line) => `${line} ${'x'.repeat(90)}\n`).join('')
    expect(await summarizeText(text, summarizer)).toMatch(/^s\d+$/)
    const chunks = asked.slice(0, -1)
    expect(chunks.join('')).toBe(text)
    expect(Math.max(...chunks.map(chunk => Buffer.byteLength(chunk)))).toBeLessThanOrEqual(10_000)
    // Batches of three: a pause before each but the first.
    expect(pauses).toBe(Math.ceil(chunks.length / 3) - 1)
    const before = asked.length
    await summarizeText(`${text}one more line\n`, summarizer)
    expect(asked.length - before).toBeLessThanOrEqual(2)
  })

  test('a line without an end is cut between characters', async () => {
    const parts: string[] = []
    await summarizeText('日'.repeat(10_000), {
      id: 'm',
      cache: { get: () => undefined, set: () => undefined },
      pause: async () => undefined,
      ask: async (_, text) => {
        parts.push(text)
        return 's'
      },
    })
    expect(parts.slice(0, -1).join('')).toBe('日'.repeat(10_000))
  })
})
