import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { RunEvent } from '../src/agents/events.ts'
import { laterApprover } from '../src/core/approval.ts'
import { openRuns } from '../src/runs.ts'
import { openDatabase } from '../src/store/database/database.ts'
import { sumUsage } from '../src/store/tables/usage.ts'
import { createTestDatabase, type TestDatabase } from './support/database.ts'
import {
  type MockVendor,
  startMockVendor,
  type VendorAnswer,
  type VendorRequest,
} from './support/mock-vendor.ts'
import { openTestRuntime, type TestRuntime } from './support/runtime.ts'

// Reviewers of plans, outcomes and calls, each a model of a vendor on loopback that a test plays.

let server: TestDatabase
let vendor: MockVendor
const ends: (() => Promise<void>)[] = []

beforeAll(async () => {
  server = await createTestDatabase()
  vendor = await startMockVendor()
})
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})
afterAll(async () => {
  await vendor.close()
  await server.close()
})

const YES = { text: '{"verdict":"approve","reasoning":"good"}' }
const NO = { text: '{"verdict":"reject","reasoning":"look before you write"}' }
const WRITE: VendorAnswer = {
  text: 'I write it.',
  calls: [{ name: 'write_file', input: { path: 'made.txt', content: 'made\n' } }],
}

/** `agent` and `r1` … are asked by name; what each said and heard is kept. */
async function open(
  quorum: string,
  players: Record<string, (heard: string) => VendorAnswer>,
  count = 2,
  more = '',
) {
  // One at a time: the engine of turns is one of a process.
  for (const end of ends.splice(0).reverse()) await end()
  const heard: Record<string, string[]> = {}
  vendor.play(({ body }: VendorRequest) => {
    const text = JSON.stringify(body.messages)
    heard[body.model] = [...(heard[body.model] ?? []), text]
    return (players[body.model] ?? (() => YES))(text)
  })
  const reviewers = Array.from(
    { length: count },
    (_, index) => `[reviewers.r${index + 1}]\nmodel = "local/r${index + 1}"\n${more}`,
  )
  const prices = ['agent', 'r1', 'r2'].map(
    name =>
      `[providers.local.models.${name}]\nprice = { input = ${name === 'agent' ? 1 : 1_000}, output = 0 }\n`,
  )
  const box: TestRuntime = await openTestRuntime(
    `mode = "accept-edits"\n[quorum]\n${quorum}\n${reviewers.join('')}[providers.local]\nkind = "openai-compatible"\nbase_url = "${vendor.url}/v1"\n${prices.join('')}`,
    laterApprover,
  )
  const { loaded, environment, runtime, workspace } = box
  const database = await openDatabase({ folder: box.home, cache: box.home, url: server.url })
  const runs = await openRuns({ loaded, environment, runtime, database })
  ends.push(async () => {
    await runs.close()
    await box.close()
    await database.close()
  })
  const events: RunEvent[] = []
  const start = async (orchestration?: 'automatic' | 'approval', more: { maxCostUsd?: number } = {}) => {
    const limits = { maxTurns: 20, ...more }
    const spec = { task: 'Make it', model: 'local/agent', authority: {}, limits }
    const made = await runs.create({ ...spec, ...(orchestration && { orchestration }) })
    return runs.work(made, { onEvent: event => void events.push(event) })
  }
  const reviews = () => events.flatMap(event => (event.type === 'review.finished' ? [event] : []))
  const isMade = (): boolean => existsSync(join(workspace, 'made.txt'))
  return { box, database, runtime, runs, heard, start, reviews, isMade }
}

const agent = (heard: string): VendorAnswer =>
  heard.includes('"tool"') && !heard.includes('Plan rejected') ? { text: 'done' } : WRITE

test('a plan is revised with the reasons of those who reject it, and then done', async () => {
  const { start, heard, reviews, isMade } = await open('', {
    agent: text => {
      if (text.includes('Created made.txt')) return { text: 'done' }
      return text.includes('Plan rejected') ? { ...WRITE, text: 'I looked, and write.' } : WRITE
    },
    r1: text => (text.includes('proposed-plan') && !text.includes('I looked') ? NO : YES),
    r2: text => (text.includes('proposed-plan') && !text.includes('I looked') ? NO : YES),
  })
  const record = await start('automatic')
  expect(record).toMatchObject({ status: 'completed', output: 'done', calls: 1 })
  expect(isMade()).toBe(true)
  expect(reviews()).toMatchObject([
    { phase: 'plan', passed: false, display: '[○○]', feedback: expect.stringContaining('r1: look before') },
    { phase: 'plan', passed: true, display: '[●●]' },
  ])
  expect(heard.agent?.[1]).toContain('r2: look before you write')
})

test('after three revisions a person has to see the plan; with auto_reject the run has failed', async () => {
  const players = {
    agent: () => WRITE,
    r1: (text: string) => (text.includes('proposed-plan') ? NO : YES),
    r2: (text: string) => (text.includes('proposed-plan') ? NO : YES),
  }
  const asking = await open('', players)
  expect(await asking.start('automatic')).toMatchObject({ status: 'pending', stopReason: 'awaiting_plan' })
  expect(asking.reviews()).toHaveLength(4)
  expect(asking.isMade()).toBe(false)
  const refusing = await open('hil = "auto_reject"\nmax_plan_revisions = 0', players)
  expect(await refusing.start('automatic')).toMatchObject({
    ...{ status: 'failed', stopReason: 'denied', error: 'Plan rejected by quorum review [○○]' },
  })
  expect(refusing.isMade()).toBe(false)
})

test('a plan that passes still waits for the person whom the mode wants', async () => {
  const { start, reviews, isMade } = await open('', { agent })
  expect(await start('approval')).toMatchObject({ stopReason: 'awaiting_plan' })
  expect([reviews()[0]?.passed, isMade()]).toEqual([true, false])
})

test('with the scope plan-only a run ends with its plan; with fast nobody looks at it', async () => {
  const planning = await open('scope = "plan-only"', { agent })
  const record = await planning.start('automatic')
  expect(record).toMatchObject({ status: 'completed', output: expect.stringContaining('1. write_file') })
  expect(planning.isMade()).toBe(false)
  const fast = await open('scope = "fast"', {
    agent: text => (text.includes('Created made.txt') ? { text: 'done' } : WRITE),
  })
  expect(await fast.start('automatic')).toMatchObject({ status: 'completed' })
  expect([fast.reviews(), fast.isMade()]).toEqual([[], true])
  // The call itself was reviewed all the same.
  expect(fast.heard.r1?.[0]).toContain('proposed-call')
  // With what it is for.
  expect(fast.heard.r1?.[0]).toMatch(/The task of the run:[\s\S]*Make it/)
})

test('plan-only and an ensemble hold for every run, not only for orchestrators', async () => {
  const planning = await open('scope = "plan-only"', { agent })
  const record = await planning.start()
  expect(record).toMatchObject({ status: 'completed', output: expect.stringContaining('1. write_file') })
  expect([planning.isMade(), planning.reviews()[0]?.passed]).toEqual([false, true])
  const together = await open('level = "ensemble"', {
    agent: text => (text.includes('Created made.txt') ? { text: 'done' } : WRITE),
    r1: text => (text.includes('You plan how') ? { text: '1. The plan of r1' } : { text: '9/10' }),
    r2: text => (text.includes('You plan how') ? { text: '' } : { text: '9/10' }),
  })
  await together.start()
  expect(together.heard.agent?.[0]).toContain('The plan of r1')
})

test('with plan-only, a plan that a person approves is all that becomes of the run', async () => {
  const votes = { r1: () => NO, r2: () => NO }
  const { runs, start, isMade } = await open('scope = "plan-only"\nmax_plan_revisions = 0', {
    agent: () => WRITE,
    ...votes,
  })
  const waiting = await start()
  expect(waiting).toMatchObject({ status: 'pending', stopReason: 'awaiting_plan' })
  await runs.approvePlan(waiting.id)
  const ended = await runs.work(await runs.take(waiting.id))
  expect(ended).toMatchObject({ status: 'completed', output: expect.stringContaining('1. write_file') })
  expect(isMade()).toBe(false)
})

test('auto_approve stands in for votes that are missing, and for no rejection', async () => {
  const quorum = 'hil = "auto_approve"\nmax_plan_revisions = 0'
  const says = (r1: VendorAnswer, r2: VendorAnswer) => ({
    agent: (text: string) => (text.includes('Created made.txt') ? { text: 'done' } : WRITE),
    r1: (text: string) => (text.includes('proposed-plan') ? r1 : YES),
    r2: (text: string) => (text.includes('proposed-plan') ? r2 : YES),
  })
  const silent = { text: '' }
  for (const [r1, r2, status] of [
    [NO, NO, 'failed'],
    [NO, silent, 'failed'],
    [YES, silent, 'completed'],
    [silent, silent, 'completed'],
  ] as const) {
    const { start, isMade } = await open(quorum, says(r1, r2))
    expect((await start('automatic')).status).toBe(status)
    expect(isMade()).toBe(status === 'completed')
  }
})

test('a final review that rejects the outcome makes the run a failed one, and what it did stays', async () => {
  const { start, isMade, reviews } = await open('final_review = true', {
    agent: text => (text.includes('Created made.txt') ? { text: 'All done, trust me.' } : WRITE),
    r1: text => (text.includes('trust me') ? NO : YES),
    r2: text => (text.includes('trust me') ? NO : YES),
  })
  const record = await start()
  expect(record).toMatchObject({
    status: 'failed',
    error: expect.stringContaining('The final review rejects it [○○]'),
  })
  expect(isMade()).toBe(true)
  expect(reviews()).toMatchObject([{ phase: 'final', passed: false }])
})

test('a final review that nobody votes in confirms nothing', async () => {
  const { start } = await open('final_review = true', {
    agent: text => (text.includes('Created made.txt') ? { text: 'All done, trust me.' } : WRITE),
    r1: text => (text.includes('trust me') ? { text: '' } : YES),
    r2: text => (text.includes('trust me') ? { text: '' } : YES),
  })
  expect(await start()).toMatchObject({
    status: 'failed',
    error: expect.stringContaining('has too few votes, so look at it yourself [!!]'),
  })
})

test('an ensemble makes plans, the others score them, and the agent is told the best', async () => {
  const plans =
    (own: string, score: number) =>
    (text: string): VendorAnswer => {
      if (text.includes('You plan how')) return { text: `1. The plan of ${own}` }
      return text.includes('You score')
        ? { text: `{"score": ${text.includes('plan of r2') ? score : 3}}` }
        : YES
    }
  const { start, heard } = await open(
    'level = "ensemble"',
    {
      agent,
      r1: plans('r1', 9),
      r2: plans('r2', 9),
      r3: plans('r3', 8),
    },
    3,
  )
  await start('automatic')
  expect(heard.agent?.[0]).toContain('The plan of r2')
  expect(heard.agent?.[0]).not.toContain('The plan of r1')
  // Nobody scores a plan of their own.
  expect(heard.r2?.filter(text => text.includes('You score') && text.includes('plan of r2'))).toEqual([])
})

test('a reviewer may look at files, so often and no more, and change none', async () => {
  const read = (offset: number) => ({ name: 'read_file', input: { path: 'prices.txt', offset } })
  const looks = (heard: string): VendorAnswer => {
    const results = heard.split('"role":"tool"').length - 1
    if (results === 0)
      return { calls: [{ name: 'write_file', input: { path: 'prices.txt', content: 'free' } }] }
    if (results === 1) return { calls: [read(0)] }
    if (results === 2) return { calls: [read(0), read(1)] }
    const saw = heard.includes('tea 120') && heard.includes('used all lookups')
    return { text: `{"verdict":"approve","reasoning":"${saw ? 'seen enough' : heard.length}"}` }
  }
  const { runtime, box, heard } = await open('min_models = 1', { r1: looks }, 1, 'lookups = 3\n')
  box.write('prices.txt', 'tea 120\n')
  const result = await runtime.call({ tool: 'write_file', input: { path: 'made.txt', content: 'x' } })
  expect([result.error, result.ok, heard.r1?.length]).toEqual([null, true, 4])
  expect((await runtime.call({ tool: 'read_file', input: { path: 'prices.txt' } })).text).toContain('tea 120')
})

test('settings that do not go together are refused when Kogu starts', async () => {
  await expect(open('strategy = "debate"', {})).rejects.toThrow('A debate needs several planners')
  await expect(open('min_models = 3', {})).rejects.toThrow('no call could ever pass')
})

test('what reviewers cost is in the usage, in the cost of the run and in its limit', async () => {
  const { start, database, isMade } = await open('', { agent })
  const run = await start()
  const rows = await sumUsage(database, { by: 'run', since: new Date(0), zone: 'UTC' })
  const own = rows.find(({ key }) => key === run.id)
  // Two requests of the agent, one to each reviewer.
  expect(own).toMatchObject({ requests: 4, costUsd: expect.closeTo(0.3003) })
  expect(run.costUsd).toBeCloseTo(0.3003)
  expect(isMade()).toBe(true)
  const other = await open('', { agent: () => WRITE })
  const stopped = await other.start(undefined, { maxCostUsd: 0.15 })
  expect(stopped).toMatchObject({ stopReason: 'limit_reached', calls: 1 })
})

test('a reviewer whose share does not pay for the question is not asked, and has no vote', async () => {
  const { start, heard, isMade } = await open('max_cost = 0.0001\nhil = "auto_reject"', { agent })
  await start()
  expect([heard.r1, heard.r2, isMade()]).toEqual([undefined, undefined, false])
})
