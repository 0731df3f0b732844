import { describe, expect, test } from 'vitest'
import type { Approver } from './approval.ts'
import { type AuthorityWish, fullAuthority, narrow } from './authority.ts'
import { callTool } from './call.ts'
import type { Clock } from './clock.ts'
import { createRun, type Run, spendMoney } from './run.ts'
import { createTestRuntime, testCall, toolNamed } from './testing.ts'

/** A clock that goes on when it is told to. */
function stoppedClock(): Clock & { pass(ms: number): void } {
  let time = 1000
  return {
    now: () => time,
    elapsed: () => time,
    pass(ms) {
      time += ms
    },
  }
}

const NOBODY: Approver = { ask: async () => ({ kind: 'unavailable', reason: 'a test' }) }

function openRun(wish: AuthorityWish, clock: Clock, parent?: Run, approver = NOBODY): Run {
  const authority = narrow(parent?.authority ?? fullAuthority('/workspace', 'ask'), wish)
  return createRun(`run_${wish.agent ?? 'root'}`, {
    authority,
    approver,
    clock,
    ...(parent === undefined ? {} : { parent }),
  })
}

async function setUp(options: Parameters<typeof createTestRuntime>[0] = {}) {
  const clock = stoppedClock()
  const { runtime, events } = await createTestRuntime({ ...options, clock })
  const call = (run: Run) => callTool(runtime, testCall('echo', { text: 'x' }, { run }))
  return { clock, runtime, events, call }
}

describe('the limits of a run', () => {
  test('end it after so many calls, also when they come at once', async () => {
    const { clock, call, events } = await setUp()
    const run = openRun({ limits: { calls: 3 } }, clock)
    const results = await Promise.all([call(run), call(run), call(run), call(run)])
    expect(results.map(({ ok }) => ok)).toEqual([true, true, true, false])
    expect(results[3]).toMatchObject({
      error: { code: 'forbidden', message: "The run 'run_root' has reached its limit of 3 calls." },
      decision: { outcome: 'deny', by: 'hard-stop', ref: { id: 'run-limits' } },
    })
    // Refused, but on record.
    expect(events).toHaveLength(8)
  })

  test('count what runs below it use up', async () => {
    const { clock, call } = await setUp()
    const run = openRun({ limits: { calls: 2 } }, clock)
    const child = openRun({ agent: 'a', limits: { calls: 99 } }, clock, run)
    expect((await call(child)).ok).toBe(true)
    expect((await call(run)).ok).toBe(true)
    expect((await call(child)).error?.message).toBe("The run 'run_root' has reached its limit of 2 calls.")
  })

  test('end it when its money is spent, wherever it was spent', async () => {
    const { clock, call } = await setUp()
    const run = openRun({ limits: { money: 1 } }, clock)
    const child = openRun({ agent: 'a' }, clock, run)
    spendMoney(child, 0.6)
    expect((await call(run)).ok).toBe(true)
    spendMoney(child, 0.4)
    expect((await call(run)).error?.code).toBe('forbidden')
    expect((await call(child)).error?.code).toBe('forbidden')
  })

  test('end it when its time is over', async () => {
    const { clock, call } = await setUp()
    const run = openRun({ limits: { timeMs: 500 } }, clock)
    const child = openRun({ agent: 'a' }, clock, run)
    clock.pass(499)
    expect((await call(child)).ok).toBe(true)
    clock.pass(1)
    expect((await call(child)).error).toMatchObject({
      code: 'timeout',
      message: "The run 'run_a' has reached its time limit of 500 ms.",
    })
  })

  test('cut off a call that would outlive it', async () => {
    const never = toolNamed('echo', { run: () => new Promise(() => undefined) })
    const { clock, call } = await setUp({ tools: [never] })
    const run = openRun({ limits: { timeMs: 500 } }, clock)
    clock.pass(499)
    expect((await call(run)).error).toMatchObject({
      code: 'timeout',
      message: expect.stringContaining('500 ms'),
    })
  })
})

test('an answer that comes when the run is over, or closed, lets nothing happen', async () => {
  const ran: string[] = []
  const tool = toolNamed('echo', {
    run: async () => {
      ran.push('ran')
      return { text: '' }
    },
  })
  const decide = () => ({ outcome: 'ask' as const, by: 'mode' as const, ref: null, reason: 'writes' })
  const { clock, call } = await setUp({ tools: [tool], decide })
  const answerAfter = (happens: (run: Run) => void): Run => {
    const approver: Approver = {
      ask: async () => {
        happens(run)
        return { kind: 'once', user: 'kim' }
      },
    }
    const run = openRun({ limits: { timeMs: 500 } }, clock, undefined, approver)
    return run
  }
  const late = await call(answerAfter(() => clock.pass(500)))
  const closed = await call(
    answerAfter(run => {
      run.closed = true
    }),
  )
  expect([late.error?.code, closed.error?.code]).toEqual(['timeout', 'cancelled'])
  expect(ran).toEqual([])
})

test('a tool states its own deadline, which no other one shares', async () => {
  const slow = toolNamed('echo', {
    risk: 'low',
    deadlineMs: ({ ms }: { ms: number }) => ms,
    run: () => new Promise(() => undefined),
  })
  const { runtime } = await createTestRuntime({ tools: [slow] })
  const result = await callTool(runtime, testCall('echo', { text: 'x', ms: 5 }))
  expect(result.error).toMatchObject({ code: 'timeout', message: 'The call took longer than 5 ms.' })
})
