import { expect, test } from 'vitest'
import { type RunAgent, shownRows } from './agent-tree.ts'

const agent = (id: string, parent: string | null, values: Partial<RunAgent> = {}): RunAgent => ({
  ...{ execution_id: id, parent_execution_id: parent, name: id, description: null, status: 'completed' },
  ...{ stop_reason: null, task: '', error: null, tokens: 10, cost_usd: 1, calls: 2, duration_ms: 5 },
  ...{ waiting: 0, stopping: false, completed_at: null, prompt: null, tools: [] },
  limits_left: { turns: 1, cost_usd: null, tokens: null, calls: null },
  ...values,
})

const all = [agent('root', null), agent('a', 'root'), agent('b', 'a', { waiting: 1 }), agent('c', 'root')]

test('agents stand below the one they work for, with the sums of all below them', () => {
  const rows = shownRows(all, new Set())
  expect(rows.map(({ agent: { name }, depth, below }) => [name, depth, below])).toEqual([
    ['root', 0, 3],
    ['a', 1, 1],
    ['b', 2, 0],
    ['c', 1, 0],
  ])
  expect(rows[0]?.total).toEqual({ tokens: 40, cost: 4, calls: 8, waiting: 1 })
})

test('a closed one hides those below it and still says that one of them waits', () => {
  const rows = shownRows(all, new Set(['a', 'c']))
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
    new Set(['root']),
  )
  expect([root?.total.cost, lost?.agent.name, lost?.depth]).toEqual([null, 'lost', 0])
})
