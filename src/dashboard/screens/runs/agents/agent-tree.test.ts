import { expect, test } from 'vitest'
import { moveInTree, type RunAgent, shownRows } from './agent-tree.ts'

const agent = (id: string, parent: string | null, values: Partial<RunAgent> = {}): RunAgent => ({
  ...{ execution_id: id, parent_execution_id: parent, name: id, description: null, status: 'completed' },
  ...{ stop_reason: null, task: '', error: null, tokens: 10, cost_usd: 1, calls: 2, duration_ms: 5 },
  ...{ waiting: 0, stopping: false, completed_at: null, prompt: null, tools: [] },
  limits_left: { turns: 1, cost_usd: null, tokens: null, calls: null },
  ...values,
})

const closed = (...ids: string[]): Map<string, boolean> => new Map(ids.map(id => [id, true]))

const all = [agent('root', null), agent('a', 'root'), agent('b', 'a', { waiting: 1 }), agent('c', 'root')]

test('agents stand below the one they work for, with the sums of all below them', () => {
  const rows = shownRows(all, new Map())
  expect(rows.map(({ agent: { name }, depth, below }) => [name, depth, below])).toEqual([
    ['root', 0, 3],
    ['a', 1, 1],
    ['b', 2, 0],
    ['c', 1, 0],
  ])
  expect(rows[0]?.total).toEqual({ tokens: 40, cost: 4, calls: 8, waiting: 1 })
})

test('a closed one hides those below it and still says that one of them waits', () => {
  const rows = shownRows(all, closed('a', 'c'))
  expect(rows.map(({ agent: { name } }) => name)).toEqual(['root', 'a', 'c'])
  expect(rows.map(({ isClosed, total }) => [isClosed, total.waiting])).toEqual([
    [false, 1],
    [true, 1],
    [false, 0],
  ])
})

test('an unknown price makes the sum unknown, and one without its parent is not lost', () => {
  const [root, lost] = shownRows(
    [agent('root', null), agent('x', 'root', { cost_usd: null }), agent('lost', 'gone')],
    closed('root'),
  )
  expect([root?.total.cost, lost?.agent.name, lost?.depth]).toEqual([null, 'lost', 0])
})

test('equal siblings that are done share one closed row with the sums of all below them', () => {
  const many = [
    agent('root', null, { status: 'running' }),
    agent('s1', 'root', { name: 'summariser' }),
    agent('f', 'root', { name: 'summariser', status: 'failed' }),
    agent('s2', 'root', { name: 'summariser' }),
    agent('below', 's2'),
    agent('r', 'root', { name: 'summariser', status: 'running' }),
  ]
  const seen = (rows: ReturnType<typeof shownRows>) =>
    rows.map(({ agent: { execution_id }, same, depth }) => [execution_id, same, depth])
  const rows = shownRows(many, new Map())
  expect(seen(rows)).toEqual([
    ['root', undefined, 0],
    ['s1', 2, 1],
    ['f', undefined, 1],
    ['r', undefined, 1],
  ])
  expect([rows[1]?.total.tokens, rows[1]?.below, rows[0]?.total.tokens]).toEqual([30, 3, 60])

  const group = rows[1]?.id ?? ''
  expect(moveInTree('Enter', rows, group)).toEqual({ close: false })
  const open = shownRows(many, new Map([[group, false]]))
  expect(seen(open).slice(1, 5)).toEqual([
    ['s1', 2, 1],
    ['s1', undefined, 2],
    ['s2', undefined, 2],
    ['below', undefined, 3],
  ])
  expect(moveInTree('ArrowLeft', open, 's1')).toEqual({ to: group })
  // One that the address names is not hidden in its group.
  expect(shownRows(many, new Map(), 'below').some(({ id }) => id === 'below')).toBe(true)
})
