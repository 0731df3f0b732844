import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RunSpec } from '../src/agents/run-record.ts'
import { insertApprovals, listApprovals } from '../src/store/tables/approvals.ts'
import { insertOrchestration } from '../src/store/tables/orchestration-runs.ts'
import { insertEvents, insertWorkspaceEvents, listEvents, newEvent } from '../src/store/tables/run-events.ts'
import type { RunPlace } from '../src/store/tables/run-place.ts'
import { claimRun, enqueueRun } from '../src/store/tables/run-queue.ts'
import { insertUsage } from '../src/store/tables/usage.ts'
import { findRun } from '../src/store/tables/workflow-runs.ts'
import { openTestApp, type TestApp } from './support/app.ts'

// Two containers have other files at the same path and one database: what belongs to one is not there for the other.

let app: TestApp
let other: RunPlace
let run: { id: string; execution: string }
let orchestration: string

beforeAll(async () => {
  app = await openTestApp({ database: true })
  const { database, runs } = await app.services()
  other = { workspace: runs.place.workspace, workspaceId: randomUUID() }
  const spec: RunSpec = { task: 'Theirs.', model: 'rehearsal:r.toml', authority: {}, limits: { maxTurns: 2 } }
  run = await enqueueRun(database, { ...other, user: runs.place.user, spec: { ...spec, agent: 'ours' } })
  const of = { run: run.id, execution: run.execution }
  orchestration = await insertOrchestration(database, { ...of, agent: null, mode: 'approval' })
  await insertApprovals(database, { ...of, lifetimeMs: 60_000 }, [
    { question: 'q-00000001', made: 'call_1', call: 'call_1', tool: 'write_file', input: {} },
  ])
  const usage = { input: 1, cached: 0, cacheWrite: 0, output: 1, reasoning: 0 }
  const made = { id: randomUUID(), provider: 'rehearsal', model: 'x', costUsd: 1, ms: 1, usage }
  await insertUsage(database, { ...of, ...made })
  await database.query(
    `INSERT INTO tool_executions (execution_id, call_id, tool_name, input) VALUES ($1, 'call_1', 'read_file', '{}')`,
    [run.execution],
  )
  await insertEvents(database, run.id, run.execution, [newEvent({ type: 'text.delta', text: 'secret' })])
  const event = { type: 'run.created', run: run.id, task: 'Theirs.', agent: null } as const
  await insertWorkspaceEvents(database, other, [{ id: randomUUID(), at: new Date().toISOString(), event }])
}, 60_000)
afterAll(() => app.close())

test('no route shows or steers a run of another folder with the same path', async () => {
  const { json: document }: { json: { paths: Record<string, Record<string, unknown>> } } =
    await app.send('GET /api/openapi.json')
  const ids = { runs: run.id, executions: run.execution, orchestrate: orchestration }
  const answers: string[] = []
  for (const [path, methods] of Object.entries(document.paths)) {
    const [, kind] = /^\/api\/(runs|executions|orchestrate)\/\{id\}/.exec(path) ?? []
    if (kind === undefined) continue
    const url = path
      .replace('{id}', ids[kind as keyof typeof ids])
      .replace('{call}', 'call_1')
      .replace('{execution}', run.execution)
    for (const method of Object.keys(methods)) {
      const body = method === 'post' ? { text: 'Hello.' } : undefined
      // What some route needs; others take no notice of it.
      const { status } = await app.send(`${method.toUpperCase()} ${url}?text=hello`, body)
      answers.push(`${status} ${method} ${path}`)
    }
  }
  expect(answers.length).toBeGreaterThan(10)
  expect(answers.filter(answer => !answer.startsWith('404 '))).toEqual([])
  const { database } = await app.services()
  expect(await findRun(database, run.id)).toMatchObject({ stopReason: 'queued', requested: null })
})

test('lists, sums, metrics and events leave out what belongs to another folder with the same path', async () => {
  const lists = [
    ...['/api/runs', '/api/executions', '/api/usage/days', '/api/usage/tools'],
    ...['/api/usage/groups', '/api/usage/tools/days', '/api/models/health'],
  ]
  for (const path of lists) {
    const { status, json } = await app.send(`GET ${path}`)
    expect([path, status, JSON.stringify(json)]).toEqual([
      path,
      200,
      expect.stringMatching(/^\[\]$|"items":\[\]/),
    ])
  }
  const { json: sums } = await app.send('GET /api/usage/summary')
  expect(sums).toMatchObject({ requests: 0, runs: 0 })
  const { json: home } = await app.send('GET /api/home')
  expect(home).toMatchObject({ setup: { runs: 0 }, last_day: { runs: 0, calls: 0, cost_usd: 0 } })
  expect((await app.send('GET /api/metrics')).json).not.toContain('kogu_runs{')
  const { database, hub, runs } = await app.services()
  expect(await listApprovals(database, { place: runs.place })).toEqual([])
  expect(await listApprovals(database, { place: other })).toHaveLength(1)
  const seen = await listEvents(database, { place: other })
  expect(seen.map(({ event }) => event.type)).toEqual(['text.delta', 'run.created'])
  expect((await hub.read(0)).filter(event => JSON.stringify(event).includes(run.id))).toEqual([])
  expect(await hub.read(0, run.id)).toEqual([])
})

test('runs of another folder with the same path do not use up the places of an agent here', async () => {
  const { database, runs, worker } = await app.services()
  const busy = { executor: 'theirs', perAgent: 1 }
  expect(await claimRun(database, other, busy)).toBe(run.id)
  app.machine.write('r.toml', '[[answer]]\ntext = "Done."\n')
  await worker.close()
  const spec: RunSpec = {
    ...{ task: 'Ours.', agent: 'ours', authority: {}, limits: { maxTurns: 2 } },
    model: `rehearsal:${join(app.machine.workspace, 'r.toml')}`,
  }
  const { id } = await enqueueRun(database, { ...runs.place, spec })
  expect(await claimRun(database, runs.place, { executor: 'ours', perAgent: 1 })).toBe(id)
})
