import { describe, expect, test } from 'vitest'
import { checkPipeline } from './check-pipeline.ts'
import { toGraph } from './graph.ts'
import { toPipeline } from './pipeline.ts'
import {
  finishStep,
  nextSteps,
  type Progress,
  type StepOutcome,
  startProgress,
  statusOf,
} from './progress.ts'
import { fillIn, referencesIn } from './values.ts'

const steps = (...ids: string[]) => ids.map(id => ({ id, text: id }))
const pipeline = (value: object) => toPipeline({ name: 'p', ...value })

/** Runs a pipeline to its end; `answer` plays the steps. Returns the order in which they ran. */
function play(
  value: object,
  answer: (id: string, time: number) => StepOutcome | string,
): { ran: string[]; progress: Progress } {
  const made = pipeline(value)
  const graph = toGraph(made)
  const ran: string[] = []
  let progress = startProgress(made)
  for (let round = 0; round < 100; round++) {
    const next = nextSteps(made, graph, progress)
    progress = next.progress
    const [step] = next.ready
    if (step === undefined) return { ran, progress }
    ran.push(step.id)
    const said = answer(step.id, ran.filter(id => id === step.id).length)
    const outcome = typeof said === 'string' ? ({ ok: true, text: said, data: null } as const) : said
    progress = finishStep(made, graph, progress, { id: step.id, outcome, now: 0 })
  }
  throw new Error('does not end')
}

describe('order', () => {
  test('without edges, steps run in the order of the file', () => {
    expect(play({ step: steps('c', 'a', 'b') }, id => id).ran).toEqual(['c', 'a', 'b'])
  })

  test('a step runs after everything that leads to it', () => {
    const edge = [
      { from: 'a', to: 'c' },
      { from: 'b', to: 'c' },
    ]
    expect(play({ step: steps('c', 'a', 'b'), edge }, id => id).ran).toEqual(['a', 'b', 'c'])
  })

  test('where all edges of a circle have a limit, the way back is the one that leads up in the file', () => {
    const both = [
      { from: 'a', to: 'b', max_retries: 2 },
      { from: 'b', to: 'a', max_retries: 3 },
    ]
    const { order, cyclic, loops } = toGraph(pipeline({ step: steps('a', 'b'), edge: both }))
    expect([order, cyclic, [...loops.keys()]]).toEqual([['a', 'b'], [], ['b']])
  })

  test('a cycle without a limit is found', () => {
    const made = pipeline({
      step: steps('a', 'b', 'c'),
      edge: [
        { from: 'a', to: 'b' },
        { from: 'b', to: 'a' },
        { from: 'b', to: 'c' },
      ],
    })
    expect(toGraph(made).cyclic).toEqual(['a', 'b', 'c'])
  })
})

describe('conditions and loops', () => {
  const loop = {
    step: steps('spec', 'code', 'verify', 'commit'),
    edge: [
      { from: 'spec', to: 'code' },
      { from: 'code', to: 'verify' },
      { from: 'verify', to: 'code', when: 'contains:失敗', max_retries: 3 },
      { from: 'verify', to: 'commit', when: 'not:失敗' },
    ],
  }

  test('a loop runs again until its condition no longer holds', () => {
    const { ran, progress } = play(loop, (id, time) => (id === 'verify' && time < 3 ? '失敗' : 'ok'))
    expect(ran).toEqual(['spec', 'code', 'verify', 'code', 'verify', 'code', 'verify', 'commit'])
    expect(progress.loops).toEqual({ 'verify>code': 2 })
  })

  test('a loop ends at its limit, and what depends on success is skipped', () => {
    const { ran, progress } = play(loop, id => (id === 'verify' ? '失敗' : 'ok'))
    expect(ran.filter(id => id === 'code')).toHaveLength(4)
    expect(progress.steps.commit).toMatchObject({ status: 'skipped' })
  })

  test('a step whose conditions all fail is skipped, and so is what only follows it', () => {
    const edge = [
      { from: 'a', to: 'b', when: 'contains:x' },
      { from: 'b', to: 'c' },
      { from: 'a', to: 'd' },
    ]
    const { ran, progress } = play({ step: steps('a', 'b', 'c', 'd'), edge }, () => 'no')
    expect(ran).toEqual(['a', 'd'])
    expect(progress.steps.c).toMatchObject({ status: 'skipped' })
  })
})

describe('failures', () => {
  const failed = { ok: false, error: 'broken', retryable: true } as const

  test('a failed step is tried again as often as its edges or it say, then stops the pipeline', () => {
    const value = {
      step: steps('a', 'b', 'c'),
      edge: [
        { from: 'a', to: 'b', max_retries: 2 },
        { from: 'b', to: 'c' },
      ],
    }
    const { ran, progress } = play(value, id => (id === 'b' ? failed : id))
    expect(ran).toEqual(['a', 'b', 'b', 'b'])
    expect(statusOf(pipeline(value), progress)).toBe('failed')
  })

  test('what cannot succeed is not tried again, and on_error = "continue" goes on', () => {
    const value = {
      step: [
        { id: 'a', text: '', retry: 5, on_error: 'continue' },
        { id: 'b', text: '' },
      ],
      edge: [{ from: 'b', to: 'a' }],
    }
    const { ran, progress } = play(value, id => (id === 'a' ? { ...failed, retryable: false } : id))
    expect(ran).toEqual(['b', 'a'])
    expect(statusOf(pipeline(value), progress)).toBe('completed')
  })
})

describe('values', () => {
  const scope = {
    input: { topic: 'tea' },
    steps: { search: { text: 'found', data: { results: [{ title: 'T' }] } } },
  }

  test('a lone reference is the value itself, and part of a text is written out', () => {
    expect(
      fillIn(
        { a: '{{steps.search.results}}', b: 'on {{ input.topic }}: {{steps.search.results[0].title}}' },
        scope,
      ),
    ).toEqual({
      a: [{ title: 'T' }],
      b: 'on tea: T',
    })
  })

  test.each([
    '{{steps.search.constructor}}',
    '{{input.__proto__}}',
    '{{steps.other.text}}',
    '{{input.week}}',
  ])('%s has no value', reference => {
    expect(() => fillIn(reference, scope)).toThrow(/no/)
  })

  test.each(['{{process.env}}', '{{input.a()}}', '{{1+1}}', '{{}}', '{{input}}'])(
    '%s is no reference',
    reference => {
      expect(() => referencesIn(reference)).toThrow('is not a reference')
    },
  )

  test('a filled-in text is not read again for references', () => {
    expect(fillIn('x {{input.topic}}', { ...scope, input: { topic: '{{steps.search.text}}' } })).toBe(
      'x {{steps.search.text}}',
    )
  })
})

test.each([
  [{ step: [] }, 'at least one'],
  [{ step: [{ id: 'a' }] }, 'exactly one of tool, panel, pipeline, folder, text, condition and transform'],
  [{ step: [{ id: 'A b', text: '' }] }, 'lower-case'],
  [{ step: steps('a'), edge: [{ from: 'a', to: 'a', when: 'a AND b OR c' }] }, 'cannot be mixed'],
  [{ step: steps('a'), color: 'red' }, 'color'],
])('the pipeline %j is refused', (value, reason) => {
  expect(() => pipeline(value)).toThrow(reason)
})

test('a file with as many loops as it may name is refused at once', () => {
  const many = Array.from({ length: 500 }, (_, n) => ({ id: `s${n}`, text: 'x' }))
  const chain = many.slice(1).map(({ id }, n) => ({ from: `s${n}`, to: id }))
  const back = Array.from({ length: 1_500 }, (_, n) => ({
    ...{ from: `s${499 - (n % 250)}`, to: `s${(n * 7) % 250}`, max_retries: 3 },
  }))
  const nothing = { tool: () => undefined, panel: () => undefined, pipeline: () => undefined }
  const problems = (edge: object[]) => checkPipeline(pipeline({ step: many, edge }), nothing)
  expect(problems([...chain, ...back])).toEqual([
    'There are 1500 edges back to earlier steps; 50 are allowed.',
  ])
  expect(problems([...chain, ...back.slice(0, 50)])).toEqual([])
})

test('everything that is wrong with a file is said, with the names of its steps', () => {
  const file = {
    steps: [],
    step: [{ id: 'a', text: 'x', tool: 'y' }, { id: 'b', text: 'q', retry: 'x' }, { text: 'z' }],
  }
  expect(() => toPipeline(file)).toThrow(
    "The pipeline is not valid: name is missing; step 'a': A step has exactly one of tool, panel, pipeline, folder, text, condition and transform.; step 'b': retry: Invalid input: expected number, received string; step.2.id is missing; Unrecognized key: \"steps\"",
  )
  expect(() => toPipeline({ name: 'p' })).toThrow('The pipeline is not valid: step is missing')
  for (const value of [null, 5, [], { name: 'p', step: 'x' }, { name: 'p', step: [5] }])
    expect(() => toPipeline(value)).toThrow('The pipeline is not valid: ')
})
