import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { limitTime } from './limit-time.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

function limited(ms: number) {
  const outer = new AbortController()
  const limit = limitTime(outer.signal, { ms, message: `longer than ${ms} ms` })
  return { ...limit, outer, reason: () => limit.signal.reason as unknown }
}

test('a limit ends the work when its time has come, not before', async () => {
  const { reason, expired } = limited(100)
  vi.advanceTimersByTime(99)
  expect(reason()).toBeUndefined()
  vi.advanceTimersByTime(1)
  expect(reason()).toMatchObject({ code: 'timeout', message: 'longer than 100 ms' })
  await expect(expired).rejects.toThrow('longer than 100 ms')
})

test('the clock stands still while a person is waited for, and goes on with what is left', async () => {
  const { reason, pausedFor } = limited(100)
  vi.advanceTimersByTime(60)
  const answer = pausedFor(async () => {
    vi.advanceTimersByTime(10_000)
    return 'yes'
  })
  expect(await answer).toBe('yes')
  vi.advanceTimersByTime(39)
  expect(reason()).toBeUndefined()
  vi.advanceTimersByTime(1)
  expect(reason()).toMatchObject({ code: 'timeout' })
})

test('the caller can cancel at any time', async () => {
  const { outer, reason, expired } = limited(100)
  outer.abort()
  expect(reason()).toMatchObject({ code: 'cancelled' })
  await expect(expired).rejects.toThrow('The call was cancelled.')
})

test('the process stays alive while there is a limit, and no longer', () => {
  vi.useRealTimers()
  const timers = () => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length
  const before = timers()
  const { clear, outer, reason } = limited(60_000)
  expect(timers()).toBe(before + 1)
  clear()
  expect(timers()).toBe(before)
  outer.abort()
  expect(reason()).toBeUndefined()
})
