import { expect, test } from 'vitest'
import { estimateAnswer } from './estimate.ts'
import { nearestModels } from './nearest-models.ts'
import { fillText, unknownMarks, variablesOf } from './prompt-variables.ts'

const price = { input: 3, output: 15, cached: 0.3, cacheWrite: 3.75 }

test('one answer costs at most what is sent and the longest answer', () => {
  const settings = { system: 'x'.repeat(3_000), prompt: '{{topic}}', max_tokens: 4_000 }
  const model = { price, max_output: 8_000 }
  expect(estimateAnswer(settings, { topic: 'y'.repeat(3_000) }, model)).toEqual({
    costUsd: (2_000 * 3 + 4_000 * 15) / 1e6,
    tokens: 4_000,
  })
  expect(estimateAnswer({ prompt: '' }, {}, model)).toEqual({ costUsd: 0.12, tokens: 8_000 })
})

test('without a price or a longest answer nothing is promised', () => {
  expect(estimateAnswer({ max_tokens: 10 }, {}, undefined)).toEqual({ costUsd: null, tokens: 10 })
  expect(estimateAnswer({}, {}, { price, max_output: null })).toEqual({ costUsd: null, tokens: null })
})

test('a model that is gone has its family as the nearest', () => {
  const models = [
    'claude-opus-4-1',
    'claude-sonnet-4-5',
    'claude-sonnet-4-5-20250929',
    'claude-haiku-4-5',
  ].map(name => ({ id: `anthropic/${name}`, name }))
  const near = nearestModels('anthropic/claude-sonnet-3-7', models).map(({ name }) => name)
  expect(near.slice(0, 2)).toEqual(['claude-sonnet-4-5', 'claude-sonnet-4-5-20250929'])
  expect(nearestModels('x', [])).toEqual([])
})

test('values are filled in once, and what is missing stays visible', () => {
  expect(variablesOf('{{a}} {{ b }} {{a}}')).toEqual(['a', 'b'])
  expect(unknownMarks('{{a}} {{steps.x}} {{}}')).toEqual(['{{steps.x}}', '{{}}'])
  expect(fillText('{{a}} {{b}}', { a: '{{b}}' })).toBe('{{b}} {{b}}')
  const long = fillText('{{a}}'.repeat(10_000), { a: 'x'.repeat(1_000) })
  expect(long.length).toBeLessThan(1_100_000)
})
