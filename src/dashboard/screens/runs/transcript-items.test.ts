import { expect, test } from 'vitest'
import { findHits } from './find-in-run.tsx'
import type { ShownEvent } from './run-events.ts'
import { cutOffCalls, toItems } from './transcript-items.ts'

let seq = 0
// Only what the page reads of an event matters here.
const event = (fields: object): ShownEvent =>
  ({ seq: ++seq, at: '', execution: 'one', ...fields }) as ShownEvent

test('a call that waited and was made again is one line, with how it ended', () => {
  const items = toItems([
    event({ type: 'run.started', task: 'do it', resumed: false }),
    event({ type: 'call.proposed', call: 'a', tool: 'write_file', input: {} }),
    event({ type: 'call.waiting', call: 'a', tool: 'write_file', approval: 'q-1' }),
    event({ type: 'run.started', task: 'do it', resumed: true }),
    event({ type: 'call.proposed', call: 'a', tool: 'write_file', input: {} }),
    event({ type: 'call.finished', call: 'a', tool: 'write_file', ok: true, error: null, ms: 3, waitMs: 0 }),
  ])
  expect(items.map(({ kind }) => kind)).toEqual(['task', 'call'])
  expect(items[1]).toMatchObject({ state: 'ok', approval: 'q-1', ms: 3 })
})

test('two agents may use the same id for a call', () => {
  const items = toItems([
    event({ type: 'call.proposed', call: 'a', tool: 'read_file', input: {} }),
    event({ type: 'call.proposed', call: 'a', tool: 'grep', input: {}, execution: 'two' }),
    event({
      type: 'call.finished',
      call: 'a',
      ok: false,
      error: { code: 'denied', message: '' },
      execution: 'two',
    }),
  ])
  expect(items.map(item => item.kind === 'call' && [item.tool, item.state])).toEqual([
    ['read_file', 'running'],
    ['grep', 'denied'],
  ])
})

test('pieces of a text are one text, until the next step', () => {
  const items = toItems([
    event({ type: 'step.started', turn: 1 }),
    event({ type: 'text.delta', text: 'He' }),
    event({ type: 'text.delta', text: 'llo' }),
    event({ type: 'step.started', turn: 2 }),
    event({ type: 'text.delta', text: 'Bye' }),
  ])
  expect(items.map(item => item.kind === 'text' && item.text)).toEqual(['Hello', 'Bye'])
})

test('of the calls that were cut off, those that ran and can change something may have had an effect', () => {
  const call = (id: string, ...more: object[]): ShownEvent[] => [
    event({ type: 'call.proposed', call: id, tool: id, input: {} }),
    ...more.map(fields => event({ call: id, tool: id, ...fields })),
  ]
  const started = { type: 'call.started' }
  const cancelled = { type: 'call.finished', ok: false, error: { code: 'cancelled', message: '' }, waitMs: 0 }
  const { without, unclear } = cutOffCalls(
    toItems([
      ...call('done', started, { type: 'call.finished', ok: true, error: null }),
      ...call('read', started, { ...cancelled, risk: 'low' }),
      ...call('write', started, { ...cancelled, risk: 'high' }),
      ...call('asked', { ...cancelled, risk: 'high' }),
      ...call('killed', started, { type: 'call.ambiguous' }),
    ]),
  )
  expect([without, unclear].map(calls => calls.map(({ tool }) => tool))).toEqual([
    ['read', 'asked'],
    ['write', 'killed'],
  ])
})

test('find counts a text as often as it is there, in outputs too', () => {
  const items = toItems([
    event({ type: 'run.started', task: 'Solar, solar', resumed: false }),
    event({ type: 'call.proposed', call: 'a', tool: 'grep', input: { pattern: 'solar' } }),
    event({ type: 'call.finished', call: 'a', record: 'r', ok: true, error: null, ms: 1, waitMs: 0 }),
    event({ type: 'text.delta', text: 'wind' }),
  ])
  expect(findHits(items, 'solar', new Map([['r', 4]]))).toEqual({ hits: [0, 1], count: 7 })
  expect(findHits(items, '', new Map())).toEqual({ hits: [], count: 0 })
})
