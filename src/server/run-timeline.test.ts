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

test('a wait for a worker, and pauses before another try, are parts of their own', () => {
  const at = (ms: number) => new Date(ms).toISOString()
  const stored = (ms: number, event: StoredEvent['event']): StoredEvent => ({
    ...{ seq: ms, run: 'r', execution: 'root', at: new Date(ms), event },
  })
  const [queued, step] = toTimeline(
    [
      stored(5_000, { type: 'run.started', model: 'm', task: 't', resumed: false }),
      stored(5_001, { type: 'step.started', turn: 1 }),
      stored(5_100, { type: 'step.retry', reason: 'busy', attempt: 1, waitMs: 800 }),
      stored(5_900, { type: 'step.retry', reason: 'busy', attempt: 2, waitMs: 1_600 }),
    ],
    new Date(1_000),
  )
  expect(queued).toMatchObject({ kind: 'pause', label: 'queued', started_at: at(1_000), ended_at: at(5_000) })
  expect(step?.backoffs).toEqual([
    { started_at: at(5_100), ms: 800 },
    { started_at: at(5_900), ms: 1_600 },
  ])
})

test('what an agent was doing when it was stopped has ended with it', () => {
  const stored = (ms: number, execution: string, event: StoredEvent['event']): StoredEvent => ({
    ...{ seq: ms, run: 'r', execution, at: new Date(ms), event },
  })
  const about = { agent: 'a', name: 'reader', execution: 'child' }
  const items = toTimeline([
    stored(1, 'root', { type: 'step.started', turn: 1 }),
    stored(2, 'root', { type: 'agent.started', ...about }),
    stored(3, 'child', { type: 'step.started', turn: 1 }),
    stored(9, 'root', { type: 'agent.finished', ...about, status: 'cancelled' }),
  ])
  const ends = items.map(({ kind, execution, ended_at }) => [kind, execution, ended_at !== null])
  expect(ends).toEqual([
    ['step', 'root', false],
    ['agent', 'root', true],
    ['step', 'child', true],
  ])
})
