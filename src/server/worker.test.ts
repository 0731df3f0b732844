import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { openTestRuntime, type TestRuntime } from '../../test/support/runtime.ts'
import type { RunSpec } from '../agents/run-record.ts'
import { laterApprover } from '../core/approval.ts'
import { openRunDatabase } from '../run-database.ts'
import { openRuns, type Runs } from '../runs.ts'
import { type Database, DatabaseUnavailable } from '../store/database/database.ts'
import { claimRun, enqueueRun, requeueRun } from '../store/tables/run-queue.ts'
import { findRun, obeyWish, releaseRun, requestRun } from '../store/tables/workflow-runs.ts'
import { startWorker, type Worker } from './worker.ts'

let machine: TestRuntime
let server: TestDatabase
let database: Database
let runs: Runs
let failures = 0
const outages: Error[] = []

beforeAll(async () => {
  machine = await openTestRuntime('', laterApprover)
  server = await createTestDatabase()
  const { environment, loaded, runtime } = machine
  const variables = { ...environment.variables, DATABASE_URL: server.url }
  database = await openRunDatabase({ ...environment, variables })
  // Wishes are asked for with this; a test can let it fail, and what is said to a run.
  const query: Database['query'] = async (text, values) => {
    const outage = text.includes('FROM run_messages') ? outages.shift() : undefined
    if (outage !== undefined) throw outage
    if (failures === 0 || !text.startsWith('SELECT requested')) return database.query(text, values)
    failures -= 1
    throw new Error('It is away.')
  }
  runs = await openRuns({ loaded, environment, runtime, database: { ...database, query } })
}, 60_000)
afterAll(async () => {
  await runs.close()
  await database.close()
  await machine.close()
  await server.close()
})
beforeEach(() => database.query("UPDATE workflow_runs SET status = 'cancelled', executor = NULL"))

function specOf(agent?: string): RunSpec {
  const model = `rehearsal:${join(machine.workspace, 'r.toml')}`
  const limits = { maxTurns: 5 }
  return { task: 'Talk.', model, authority: {}, limits, ...(agent === undefined ? {} : { agent }) }
}

async function enqueue(agent?: string): Promise<string> {
  return (await enqueueRun(database, { ...runs.place, spec: specOf(agent) })).id
}

function work(drainMs = 0): Promise<Worker> {
  const parts = { runs, database, runtime: machine.runtime, log: () => undefined }
  return startWorker({ ...parts, most: 4, mostPerAgent: 2, drainMs, rescueMs: 1 })
}

const statusOf = async (id: string) => {
  const run = await findRun(database, id)
  return `${run?.status} ${run?.stopReason}`
}

describe('a worker', () => {
  test('takes up a run again that its own process claimed and then did not work on', async () => {
    machine.write('r.toml', '[[answer]]\ntext = "Done."\n')
    const id = await enqueue()
    // As after a connection that broke between the claim and the work.
    expect(await claimRun(database, runs.place, { executor: runs.executor, perAgent: 2 })).toBe(id)
    const parts = { runs, database, runtime: machine.runtime, log: () => undefined }
    const worker = await startWorker({ ...parts, most: 4, mostPerAgent: 2, rescueMs: 1 })
    while ((await statusOf(id)) !== 'completed end_turn') await sleep(20)
    await worker.close()
  }, 20_000)

  test('obeys a person who stopped the run before it was taken up', async () => {
    machine.write('r.toml', '[[answer]]\ntext = "Done."\n')
    const id = await enqueue()
    await claimRun(database, runs.place, { executor: runs.executor, perAgent: 2 })
    await requestRun(database, id, 'stop')
    await runs.work(await runs.take(id))
    expect(await statusOf(id)).toBe('cancelled cancelled')
  })

  test('that is stopped leaves what it was doing to the next one', async () => {
    machine.write('r.toml', '[[answer]]\ntext = "late"\ndelay_ms = 60000\n')
    const id = await enqueue()
    const first = await work()
    await expect.poll(() => statusOf(id), { timeout: 20_000 }).toBe('running null')
    await first.close()
    expect(await statusOf(id)).toBe('pending queued')
    machine.write('r.toml', '[[answer]]\ntext = "soon"\n')
    const second = await work()
    await expect.poll(() => statusOf(id), { timeout: 20_000 }).toBe('completed end_turn')
    await second.close()
  }, 60_000)

  test('waits for what is nearly done before it stops', async () => {
    machine.write('r.toml', '[[answer]]\ntext = "done"\ndelay_ms = 300\n')
    const id = await enqueue()
    const worker = await work(20_000)
    await expect.poll(() => worker.running, { timeout: 20_000 }).toBe(1)
    await worker.close()
    expect(await statusOf(id)).toBe('completed end_turn')
  }, 60_000)

  test('takes over the runs of one that was killed', async () => {
    machine.write('r.toml', '[[answer]]\ntext = "done"\n')
    const id = await enqueue()
    // As a process leaves it that is gone: nobody holds the lock of this name.
    await database.query("UPDATE workflow_runs SET status = 'running', executor = $2 WHERE id = $1", [
      id,
      `kogu-${randomUUID()}`,
    ])
    const worker = await work()
    await expect.poll(() => statusOf(id), { timeout: 20_000 }).toBe('completed end_turn')
    await worker.close()
  }, 60_000)

  test('works on a run whose turn another one began and lost, whatever that one left', async () => {
    machine.write('r.toml', '[[answer]]\ntext = "Done."\ndelay_ms = 100\n')
    const run = await runs.take(await enqueue())
    const lost = runs.work(run)
    await database.query('UPDATE workflow_runs SET executor = $2 WHERE id = $1', [
      run.id,
      `kogu-${randomUUID()}`,
    ])
    await expect(lost).rejects.toThrow('Another process has taken over this run.')
    // As when the server was killed before the end of the turn before was on its disk.
    await database.query('UPDATE workflow_runs SET turn = turn - 1 WHERE id = $1', [run.id])
    const worker = await work()
    await expect.poll(() => statusOf(run.id), { timeout: 20_000 }).toBe('completed end_turn')
    await worker.close()
  }, 30_000)

  test.each([
    ['the database was away', new DatabaseUnavailable(new Error('connect ECONNREFUSED'))],
    ['the disk of the database was full', Object.assign(new Error('No space left'), { code: '53100' })],
    ['the disk was full', Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', syscall: 'write' })],
  ])(
    'goes on with a run by itself after %s',
    async (_, outage) => {
      machine.write('r.toml', '[[answer]]\ntext = "Done."\n')
      outages.push(outage)
      const id = await enqueue()
      const worker = await work()
      await expect.poll(() => statusOf(id), { timeout: 20_000 }).toBe('completed end_turn')
      expect(outages).toEqual([])
      await worker.close()
    },
    30_000,
  )

  test('waits with a run that is let go and claimed again until all of its work has ended', async () => {
    machine.write('r.toml', '[[answer]]\ntext = "Done."\n')
    const id = await enqueue()
    const seen: string[] = []
    const slow: Runs['work'] = async run => {
      const isFirst = seen.push('begins') === 1
      const done = await runs.work(run)
      // It is let go by now; what is left to do takes longer than for another claim of it.
      if (isFirst) {
        await requeueRun(database, id)
        while ((await statusOf(id)) === 'pending queued') await sleep(20)
      }
      seen.push('ends')
      return done
    }
    const parts = { runs: { ...runs, work: slow }, database, runtime: machine.runtime, log: () => undefined }
    const worker = await startWorker({ ...parts, most: 4, mostPerAgent: 2 })
    while (seen.length < 4) await sleep(20)
    expect(seen).toEqual(['begins', 'ends', 'begins', 'ends'])
    await worker.close()
  }, 20_000)

  test('hears a person who stops a run after the database could not be asked', async () => {
    machine.write('r.toml', '[[answer]]\ntext = "Done."\ndelay_ms = 60000\n')
    const id = await enqueue()
    const worker = await work()
    failures = 2
    while (failures > 0) await sleep(20)
    await requestRun(database, id, 'stop')
    while ((await statusOf(id)) !== 'cancelled cancelled') await sleep(20)
    await worker.close()
  }, 20_000)
})

describe('a run that this process works on', () => {
  test('is not taken a second time, whoever wants it', async () => {
    machine.write('r.toml', '[[answer]]\ntext = "Done."\n')
    const run = await runs.take(await enqueue())
    await expect(runs.take(run.id)).rejects.toMatchObject({ code: 'conflict' })
    expect(await runs.work(run)).toMatchObject({ status: 'completed' })
  })

  test('is left alone by a rescue that comes after its end', async () => {
    machine.write('r.toml', '[[answer]]\ntext = "Done."\n')
    const run = await runs.take(await enqueue())
    expect(await runs.work(run)).toMatchObject({ status: 'completed' })
    await expect(runs.rescue(run.id)).rejects.toMatchObject({ code: 'conflict' })
    expect(await statusOf(run.id)).toBe('completed end_turn')
  })
})

describe('the queue', () => {
  const claim = (place = runs.place) => claimRun(database, place, { executor: 'me', perAgent: 2 })

  test('loses a run that a person pauses, until it is resumed', async () => {
    const id = await enqueue()
    await requestRun(database, id, 'pause')
    expect([await claim(), await statusOf(id)]).toEqual([undefined, 'pending paused'])
    expect(await requeueRun(database, id)).toBe(true)
    expect(await claim()).toBe(id)
  })

  test('gets back what a worker paused to stop, and nothing that a person paused or that has ended', async () => {
    const id = await enqueue()
    await claim()
    await releaseRun(database, id, 'me', { status: 'pending', stopReason: 'paused' })
    expect(await requeueRun(database, id, 'paused')).toBe(true)
    await claim()
    await requestRun(database, id, 'pause')
    await releaseRun(database, id, 'me', { status: 'pending', stopReason: 'paused' })
    expect(await requeueRun(database, id, 'paused')).toBe(false)
    await requeueRun(database, id)
    await claim()
    await releaseRun(database, id, 'me', { status: 'cancelled', stopReason: 'cancelled' })
    // As a worker does that saw it waiting a moment ago.
    expect(await requeueRun(database, id, 'awaiting_approval')).toBe(false)
  })

  test('does not get back a run that a person stopped just before it began to wait, whatever was wished after', async () => {
    const id = await enqueue()
    await claim()
    await requestRun(database, id, 'stop')
    await requestRun(database, id, 'pause')
    await requestRun(database, id, 'stop_after_step')
    expect((await findRun(database, id))?.requested).toBe('stop')
    await releaseRun(database, id, 'me', { status: 'pending', stopReason: 'awaiting_approval' })
    expect(await requeueRun(database, id, 'awaiting_approval')).toBe(false)
    expect([await obeyWish(database, id), await statusOf(id)]).toEqual([true, 'cancelled cancelled'])
  })

  test('gives a run to one taker, the oldest first, and to nobody with another folder', async () => {
    const first = await enqueue()
    const second = await enqueue()
    expect(await claim({ ...runs.place, workspaceId: 'other' })).toBeUndefined()
    expect(await claim({ ...runs.place, workspace: '/elsewhere' })).toBeUndefined()
    const taken = await Promise.all([claim(), claim(), claim()])
    expect(new Set(taken)).toEqual(new Set([first, second, undefined]))
  })

  test('holds back an agent that has its share, and nobody else', async () => {
    const own = [await enqueue('a'), await enqueue('a'), await enqueue('a')]
    const other = await enqueue('b')
    const taken = await Promise.all([claim(), claim(), claim(), claim()])
    expect(new Set(taken)).toEqual(new Set([own[0], own[1], other, undefined]))
  })
})
