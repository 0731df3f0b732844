import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createDeadlines } from './deadlines.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

function recorded() {
  const deadlines = createDeadlines()
  const expired: string[] = []
  const add = (name: string, ms: number) => {
    const deadline = { at: performance.now() + ms, expire: () => void expired.push(name) }
    deadlines.add(deadline)
    return deadline
  }
  return { deadlines, expired, add }
}

test('each deadline expires once, when its time has come, in whatever order they were added', () => {
  const { expired, add } = recorded()
  add('late', 300)
  add('early', 100)
  add('middle', 200)
  vi.advanceTimersByTime(150)
  expect(expired).toEqual(['early'])
  vi.advanceTimersByTime(1000)
  expect(expired).toEqual(['early', 'middle', 'late'])
})

test('one that was deleted does not expire, and those after it still do', () => {
  const { deadlines, expired, add } = recorded()
  const first = add('first', 100)
  add('second', 200)
  deadlines.delete(first)
  vi.advanceTimersByTime(1000)
  expect(expired).toEqual(['second'])
})

test('one that is added after all others are gone expires', () => {
  const { deadlines, expired, add } = recorded()
  deadlines.delete(add('gone', 100))
  add('next', 5000)
  vi.advanceTimersByTime(4999)
  expect(expired).toEqual([])
  vi.advanceTimersByTime(2)
  expect(expired).toEqual(['next'])
})

test('what an expiring one adds expires too', () => {
  const { deadlines, expired, add } = recorded()
  deadlines.add({ at: performance.now() + 10, expire: () => void add('second', 10) })
  vi.advanceTimersByTime(100)
  expect(expired).toEqual(['second'])
})

test('the process stays alive while there is a deadline, and no longer', () => {
  vi.useRealTimers()
  const timers = () => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length
  const before = timers()
  const { deadlines, add } = recorded()
  const first = add('first', 60_000)
  expect(timers()).toBe(before + 1)
  deadlines.delete(first)
  expect(timers()).toBe(before)
  const second = add('second', 60_000)
  expect(timers()).toBe(before + 1)
  deadlines.delete(second)
  expect(timers()).toBe(before)
})
