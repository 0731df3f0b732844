import { expect, test } from 'vitest'
import { layout } from '../../components/graph/layout.ts'
import {
  changeStep,
  dropEdges,
  edgesOf,
  freshId,
  insertStep,
  moveStep,
  pathsIn,
  pathsOfSchema,
  pinOf,
  removeStep,
  setEdge,
  stepsBefore,
  waysOf,
} from './definition.ts'
import { emptyHistory, type History, redo, remember, undo } from './history.ts'
import type { Definition } from './types.ts'

const chain: Definition = {
  name: 'weekly',
  description: 'x',
  step: [
    { id: 'search', tool: 'web_search', args: { query: 'tea' } },
    { id: 'think', panel: 'researcher', vars: { material: '{{steps.search.results}}' } },
    { id: 'write', tool: 'write_file', args: { content: '{{ steps.think.text }}{{steps.thinker.text}}' } },
  ],
}

const diamond: Definition = {
  name: 'review',
  step: ['read', 'left', 'right', 'merge'].map(id => ({ id, text: id })),
  edge: [
    { from: 'read', to: 'left', when: 'contains:x' },
    { from: 'read', to: 'right' },
    { from: 'left', to: 'merge' },
    { from: 'right', to: 'merge' },
    { from: 'merge', to: 'read', max_retries: 2 },
  ],
}

test('without edges, a step takes its place in the order', () => {
  const next = insertStep(chain, 'search', { id: 'new', text: '' })
  expect(next.step.map(({ id }) => id)).toEqual(['search', 'new', 'think', 'write'])
  expect(next.edge).toBeUndefined()
  expect(insertStep(chain, null, { id: 'first', text: '' }).step[0]?.id).toBe('first')
  expect(moveStep(chain, 'write', -1).step.map(({ id }) => id)).toEqual(['search', 'write', 'think'])
  expect(moveStep(chain, 'search', -1)).toBe(chain)
})

test('with edges, a step is put into the way and taken out of it again', () => {
  const next = insertStep(diamond, 'read', { id: 'new', text: '' })
  expect(edgesOf(next)).toContainEqual({ from: 'read', to: 'new', when: 'contains:x' })
  expect(edgesOf(next)).toContainEqual({ from: 'new', to: 'left' })
  expect(edgesOf(next)).not.toContainEqual(expect.objectContaining({ from: 'read', to: 'left' }))
  const without = removeStep(diamond, 'left')
  expect(edgesOf(without)).toContainEqual({ from: 'read', to: 'merge' })
  expect(JSON.stringify(without)).not.toContain('left')
})

test('a step that is renamed is renamed everywhere, and nothing that only looks like it', () => {
  const next = changeStep(chain, 'think', { id: 'analyse' })
  expect(next.step[2]?.args?.content).toBe('{{ steps.analyse.text }}{{steps.thinker.text}}')
  expect(edgesOf(changeStep(diamond, 'read', { id: 'r' })).map(({ from }) => from)).toContain('r')
  expect(changeStep(chain, 'search', { args: undefined }).step[0]).toEqual({
    id: 'search',
    tool: 'web_search',
  })
})

test('an edge makes the order explicit, and it can be made implicit again', () => {
  const next = setEdge(chain, 1, { from: 'think', to: 'write', when: 'length>10' })
  expect(next.edge).toEqual([
    { from: 'search', to: 'think' },
    { from: 'think', to: 'write', when: 'length>10' },
  ])
  expect(dropEdges(next)).toEqual(chain)
  expect(setEdge(next, 1, undefined).edge).toHaveLength(1)
})

test('what can be referred to is what runs before', () => {
  expect(stepsBefore(chain, 'write')).toEqual(['search', 'think'])
  expect(stepsBefore(diamond, 'left')).toEqual(['read', 'left', 'right', 'merge'])
  expect(pathsIn({ results: [{ title: 'A' }], 'odd key': 1 }, 'steps.s').map(({ path }) => path)).toEqual([
    'steps.s.results',
    'steps.s.results[0]',
    'steps.s.results[0].title',
  ])
})

test('a step that never ran is completed by what its tool says it hands over', () => {
  const schema = {
    type: 'object',
    properties: {
      files: { type: 'array', items: { type: 'object', properties: { path: { type: 'string' } } } },
      total: { type: 'integer', description: 'How many there are.' },
      'odd key': { type: 'string' },
      constructor: 1,
    },
  }
  expect(pathsOfSchema(schema, 'steps.s')).toEqual([
    { path: 'steps.s.files', about: 'array' },
    { path: 'steps.s.files[0].path', about: 'string' },
    { path: 'steps.s.total', about: 'How many there are.' },
    { path: 'steps.s.constructor', about: '' },
  ])
  for (const wrong of [null, 'x', [], { properties: [] }, { properties: { a: null } }])
    expect(() => pathsOfSchema(wrong, 'steps.s')).not.toThrow()
})

test('ids are made of what a step does and are taken once', () => {
  expect(freshId(chain, 'Write')).toBe('write-2')
  expect(freshId(chain, '日本')).toBe('step')
})

test('twenty changes are undone to exactly what was there, and done again', () => {
  const first = JSON.stringify(diamond)
  let now = diamond
  let history: History<Definition> = emptyHistory()
  const change = (next: Definition, burst = ''): void => {
    history = remember(history, now, burst, 0)
    now = next
  }
  for (let round = 0; round < 5; round += 1) {
    change(insertStep(now, 'read', { id: freshId(now, 'new'), text: '' }))
    change(moveStep(now, 'merge', -1))
    change(changeStep(now, 'right', { title: `T${round}` }))
    change(removeStep(now, round === 4 ? 'left' : 'new'))
  }
  const last = JSON.stringify(now)
  for (let step = undo(history, now); step !== undefined; step = undo(history, now)) {
    now = step.value
    history = step.history
  }
  expect(JSON.stringify(now)).toBe(first)
  for (let step = redo(history, now); step !== undefined; step = redo(history, now)) {
    now = step.value
    history = step.history
  }
  expect(JSON.stringify(now)).toBe(last)
})

test('typing in one field is undone at once, after a pause it is another change', () => {
  let history = remember(emptyHistory<number>(), 1, 'title', 1_000)
  history = remember(history, 2, 'title', 1_100)
  expect(history.past).toEqual([1])
  expect(remember(history, 3, 'title', 9_000).past).toEqual([1, 3])
  expect(remember(history, 3, 'other', 1_200).past).toEqual([1, 3])
})

const layOut = (definition: Definition) =>
  layout(
    definition.step.map(({ id }) => id),
    waysOf(definition),
  )

test('the graph puts every step below what it waits for, also with a loop back', () => {
  const places = new Map(layOut(diamond).map(place => [place.id, place]))
  const y = (id: string): number => places.get(id)?.y ?? -1
  expect(y('read')).toBeLessThan(y('left'))
  expect(y('left')).toBe(y('right'))
  expect(y('merge')).toBeGreaterThan(y('right'))
  expect(places.get('left')?.x).not.toBe(places.get('right')?.x)
  const cyclic = layOut({
    ...diamond,
    edge: [
      { from: 'read', to: 'left' },
      { from: 'left', to: 'read' },
    ],
  })
  expect(cyclic).toHaveLength(4)
})

test('a pinned output is the data where another step needs it, else the text, and never a reference', () => {
  const done = { status: 'done' as const, attempts: 1, text: 'Found.', data: { results: ['a'] } }
  expect(pinOf(chain, 'search', done)).toEqual({ results: ['a'] })
  expect(pinOf(chain, 'think', done)).toBe('Found.')
  expect(pinOf(chain, 'think', { ...done, text: 'Use {{x}}' })).toBeUndefined()
  expect(pinOf(chain, 'think', { status: 'failed', attempts: 1 })).toBeUndefined()
})
