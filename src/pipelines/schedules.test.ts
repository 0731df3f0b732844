import { expect, test } from 'vitest'
import { createSchedule, dueTimes, nextTime, type Schedule, withPause } from './schedules.ts'

const at = (text: string): Date => new Date(`2026-11-${text}Z`)
const made = (catchUp: Schedule['catchUp'], handled = '16T09:00:00'): Schedule => ({
  ...{ id: 'ps_1', pipeline: 'p', cron: '0 9 * * *', timezone: 'UTC', input: {}, catchUp },
  handled: at(handled).toISOString(),
})
const due = (schedule: Schedule, now: Date): string[] =>
  dueTimes(schedule, now).times.map(time => time.toISOString().slice(8, 16))

test('a time is due once, and not before it has come', () => {
  expect(due(made('once'), at('17T08:59:59'))).toEqual([])
  expect(due(made('once'), at('17T09:00:01'))).toEqual(['17T09:00'])
  const { handled } = dueTimes(made('once'), at('17T09:00:01'))
  expect(due({ ...made('once'), handled: handled.toISOString() }, at('17T09:00:30'))).toEqual([])
})

test('times that nobody was there for: one run for all, none, or each', () => {
  const now = at('20T12:00:00')
  expect(due(made('once'), now)).toEqual(['20T09:00'])
  expect(due(made('skip'), now)).toEqual([])
  expect(due(made('all'), now)).toEqual(['17T09:00', '18T09:00', '19T09:00', '20T09:00'])
  expect(due(made('skip'), at('20T09:00:30'))).toEqual(['20T09:00'])
  // Whatever is done about them, they are done with.
  for (const how of ['once', 'skip', 'all'] as const)
    expect(dueTimes(made(how), now).handled).toEqual(at('20T09:00:00'))
})

test('years without a server do not make hundreds of runs', () => {
  expect(due({ ...made('all'), handled: '2020-01-01T00:00:00.000Z' }, at('20T12:00:00'))).toHaveLength(24)
})

test('a month of minutes is looked through at once', () => {
  const minutely = { ...made('all'), cron: '* * * * *', timezone: 'Europe/Berlin' }
  const times = due({ ...minutely, handled: '2026-01-01T00:00:00.000Z' }, at('20T12:00:30'))
  expect(times).toHaveLength(24)
  expect([times[0], times[23]]).toEqual(['20T11:37', '20T12:00'])
})

test('a clock that was far ahead does not silence a schedule, and one set back a little repeats nothing', () => {
  const ahead = { ...made('once'), handled: '2030-01-01T09:00:00.000Z' }
  const now = at('16T10:00:00')
  expect(dueTimes(ahead, now)).toEqual({ times: [], handled: now })
  expect(due({ ...ahead, handled: now.toISOString() }, at('17T09:00:01'))).toEqual(['17T09:00'])
  expect(dueTimes(made('once', '16T09:00:00'), at('16T08:59:59')).handled).toEqual(at('16T09:00:00'))
})

test('a new schedule begins now, in its own time zone', () => {
  const schedule = createSchedule(
    { pipeline: 'p', cron: '0 9 * * 1', input: {}, catchUp: 'all', timezone: 'Asia/Tokyo' },
    at('16T09:00:00'),
  )
  expect(due(schedule, at('16T09:00:01'))).toEqual([])
  expect(nextTime(schedule, at('16T09:00:00'))?.toISOString()).toBe('2026-11-23T00:00:00.000Z')
})

test.each(['', 'every day', '* * * * * *', '61 * * * *', '0 0 31 2 *'])('%j is refused', cron => {
  const wanted = { pipeline: 'p', cron, input: {}, catchUp: 'once' } as const
  expect(() => createSchedule(wanted, at('16T09:00:00'))).toThrow()
})

test('a paused schedule is due for nothing, and what passed meanwhile is not made up for', () => {
  const paused = withPause(made('all'), true, at('16T10:00:00'))
  expect(due(paused, at('20T12:00:00'))).toEqual([])
  const again = withPause(paused, false, at('20T12:00:00'))
  expect(due(again, at('20T12:00:01'))).toEqual([])
  expect(due(again, at('21T09:00:01'))).toEqual(['21T09:00'])
})
