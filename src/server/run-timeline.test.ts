import { expect, test } from 'vitest'
import type { StoredEvent } from '../store/tables/run-events.ts'
import { toTimeline } from './run-timeline.ts'

test('calls of two agents with the same id are two calls', () => {
  const propose = (seq: number, execution: string, tool: string): StoredEvent => ({
    ...{ seq, run: 'r', execution, at: new Date(seq) },
    event: { type: 'call.proposed', call: 'c1', tool, input: {} },
  })
  const items = toTimeline([propose(1, 'root', 'create_sub_agent'), propose(2, 'reader', 'read_file')])
  expect(items.map(({ label, execution }) => [label, execution])).toEqual([
    ['create_sub_agent', 'root'],
    ['read_file', 'reader'],
  ])
})
