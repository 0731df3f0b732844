import { expect, test } from 'vitest'
import { feedsOf } from './feeds.ts'

const chain = (name: string, ...panels: (string | undefined)[]) => {
  const step = panels.map((panel, index) =>
    panel === undefined ? { id: `s${index}` } : { id: `s${index}`, panel },
  )
  const edges = step.slice(1).map((_, index) => ({ from: `s${index}`, to: `s${index + 1}` }))
  return { name, definition: { step }, edges }
}

test('a panel feeds the next ones, also through steps that are no panels', () => {
  expect(feedsOf([chain('weekly', 'docs', undefined, 'writer', 'chart')])).toEqual([
    { from: 'docs', to: 'writer', label: 'weekly' },
    { from: 'writer', to: 'chart', label: 'weekly' },
  ])
})

test('the same way in two pipelines is one, and a loop ends', () => {
  const loop = chain('b', 'docs', undefined, undefined, 'writer')
  const looped = { ...loop, edges: [...loop.edges, { from: 's2', to: 's1' }, { from: 's3', to: 's0' }] }
  expect(feedsOf([chain('a', 'docs', 'writer'), looped])).toEqual([
    { from: 'docs', to: 'writer', label: 'a, b' },
    { from: 'writer', to: 'docs', label: 'b' },
  ])
})

test('a pipeline that cannot be read feeds nothing', () => {
  expect(feedsOf([{ name: 'x', definition: null, edges: [{ from: 'a', to: 'b' }] }])).toEqual([])
})
