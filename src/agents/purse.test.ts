import { expect, test } from 'vitest'
import { isTaken, roomForAnswer } from './limits.ts'
import { type LoopState, startState } from './loop-state.ts'
import { NO_USAGE } from './model.ts'
import { createPurse, setAside } from './purse.ts'

const spent = (tokens: number): LoopState => ({ ...startState('x'), usage: { ...NO_USAGE, input: tokens } })
const limits = { maxTurns: 9, maxTokens: 10_000 }
const model = { price: null }

test('what is set aside for requests under way is nobody else’s, and comes back once', () => {
  const purse = createPurse()
  expect(roomForAnswer(spent(2_000), { limits, model, purse })).toBe(8_000)
  const release = setAside(purse, 'tokens', 6_000)
  expect(roomForAnswer(spent(2_000), { limits, model, purse })).toBe(2_000)
  release()
  release()
  expect(roomForAnswer(spent(2_000), { limits, model, purse })).toBe(8_000)
  // Without a limit there is nothing to share.
  setAside(purse, 'tokens', Number.POSITIVE_INFINITY)
  expect(purse.aside.tokens).toBe(0)
})

test('an agent whose request may not fit beside those of others is not asked; alone it is', () => {
  const purse = createPurse()
  purse.largest.request = 3_000
  expect(isTaken(spent(6_000), { limits, model, purse })).toBe(false)
  const release = setAside(purse, 'tokens', 2_000)
  expect(isTaken(spent(2_000), { limits, model, purse })).toBe(false)
  expect(isTaken(spent(6_000), { limits, model, purse })).toBe(true)
  const price = { input: 1, cached: 1, cacheWrite: 1, output: 1 }
  const money = { maxTurns: 9, maxCostUsd: 0.004 }
  expect(isTaken(spent(0), { limits: money, model: { price }, purse })).toBe(true)
  release()
  expect(isTaken(spent(6_000), { limits, model, purse })).toBe(false)
  expect(isTaken(spent(9_900), { limits, model, purse })).toBe(false)
})

test('children of one turn have shares that fit together, with their requests', () => {
  const purse = createPurse()
  purse.largest.request = 1_000
  const shares = [1, 2, 3, 4].map(() => {
    const own = { limits, model, purse: { ...purse, share: 1 / 4 } }
    expect(isTaken(spent(0), own)).toBe(false)
    const room = roomForAnswer(spent(0), own)
    setAside(purse, 'tokens', room + purse.largest.request)
    return room
  })
  expect(shares).toEqual([1_500, 1_500, 1_500, 1_500])
  expect(purse.aside.tokens).toBe(10_000)
})

test('one at a time reads what is left and takes it, also after one that failed', async () => {
  const { inTurn } = createPurse()
  const order: string[] = []
  const step = (name: string, fails = false) =>
    inTurn(async () => {
      order.push(`${name} begins`)
      await Promise.resolve()
      order.push(`${name} ends`)
      if (fails) throw new Error(name)
      return name
    })
  const all = await Promise.allSettled([step('a'), step('b', true), step('c')])
  expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
})
