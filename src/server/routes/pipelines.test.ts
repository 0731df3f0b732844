import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openTestApp, type TestApp } from '../../../test/support/app.ts'

let app: TestApp

beforeAll(async () => {
  app = await openTestApp({ database: true })
}, 60_000)
afterAll(() => app.close())

const definition = {
  name: 'weekly',
  input: { topic: { required: true } },
  step: [
    { id: 'say', text: 'About {{input.topic}}' },
    { id: 'look', tool: 'read_file', args: { path: 'notes.md' } },
  ],
}

test('a pipeline is checked, saved as a file, trusted by saving, and keeps its versions', async () => {
  const wrong = { ...definition, step: [{ id: 'say', tool: 'nothing' }] }
  expect((await app.send('POST /api/pipelines/weekly/check', { definition: wrong })).json).toMatchObject({
    problems: ["Step 'say': there is no tool 'nothing'."],
  })
  const saved: { status: number; json: { hash: string; text: string } } = await app.send(
    'PUT /api/pipelines/weekly',
    { definition, base: null },
  )
  expect(saved).toMatchObject({
    status: 200,
    json: { state: 'trusted', problems: [], edges: [{ from: 'say', to: 'look' }] },
  })
  const { hash, text } = saved.json
  const changed = await app.send('PUT /api/pipelines/weekly', { text: `${text}\n`, base: hash }, 'admin')
  expect(changed).toMatchObject({ status: 200, json: { state: 'untrusted' } })
  expect((await app.send('GET /api/pipelines/weekly/versions')).json).toHaveLength(2)
  expect((await app.send('GET /api/pipelines/weekly/versions/1')).json).toMatchObject({
    text,
    diff: expect.stringContaining('a/weekly.toml'),
  })
})

test('a text that is no pipeline is not saved, and one that is there already is shown as broken', async () => {
  expect((await app.send('PUT /api/pipelines/bad', { text: 'step = 1', base: null })).status).toBe(400)
  app.machine.write('.kogu/pipelines/bad.toml', 'step = 1')
  expect((await app.send('GET /api/pipelines/bad')).json).toMatchObject({ state: 'broken', text: 'step = 1' })
})

interface PipelineRun {
  id: string
  status: string
  steps: Record<string, { status: string; text?: string }>
}

async function settled(id: string): Promise<PipelineRun> {
  const { hub } = await app.services()
  for (;;) {
    const { json }: { json: PipelineRun & { is_working: boolean } } = await app.send(
      `GET /api/pipeline-runs/${id}`,
    )
    if (!json.is_working) return json
    await hub.wait(hub.newest, AbortSignal.timeout(100))
  }
}

test('a pipeline runs, waits for an answer, goes on by itself after it, and begins again in its middle', async () => {
  const made = {
    name: 'writes',
    input: { topic: { required: true } },
    step: [
      { id: 'say', text: 'About {{input.topic}}' },
      { id: 'keep', tool: 'write_file', args: { path: 'doc/out.md', content: '{{steps.say.text}}' } },
    ],
  }
  await app.send('PUT /api/pipelines/writes', { definition: made, base: null })
  expect((await app.send('POST /api/pipelines/writes/run', {})).status).toBe(400)
  const begun: { status: number; json: PipelineRun } = await app.send('POST /api/pipelines/writes/run', {
    input: { topic: 'tea' },
  })
  expect(begun.status).toBe(202)
  const { id } = begun.json
  expect(await settled(id)).toMatchObject({
    status: 'waiting',
    steps: { say: { status: 'done', text: 'About tea' } },
  })
  const { json }: { json: { id: string; digest: string }[] } = await app.send(`GET /api/approvals?run=${id}`)
  await app.send(`POST /api/approvals/${json[0]?.id}/answer`, { answer: 'once', digest: json[0]?.digest })
  const { hub } = await app.services()
  for (let run = await settled(id); run.status === 'waiting'; run = await settled(id))
    await hub.wait(hub.newest, AbortSignal.timeout(200))
  expect(await settled(id)).toMatchObject({ status: 'completed' })
  expect(readFileSync(join(app.machine.workspace, 'doc/out.md'), 'utf8')).toBe('About tea')
  const again = { of: id, step: 'keep' }
  const repeats: { json: { repeats: string[] } } = await app.send('POST /api/pipelines/writes/repeats', again)
  expect(repeats.json.repeats[0]).toContain('keep')
  expect((await app.send('GET /api/pipeline-runs?pipeline=writes')).json).toHaveLength(1)
  // Nothing is repeated that was not named.
  expect(await app.send('POST /api/pipelines/writes/run', { again })).toMatchObject({ status: 409 })
  const known = { ...again, repeats: repeats.json.repeats }
  expect(await app.send('POST /api/pipelines/writes/run', { again: known })).toMatchObject({ status: 202 })
}, 60_000)

test('a token that may only run opens no gate', async () => {
  const gated = {
    name: 'gated',
    step: [{ id: 'look', tool: 'read_file', args: { path: 'a.txt' }, gate: 'approval' }],
  }
  app.machine.write('a.txt', 'hello')
  await app.send('PUT /api/pipelines/gated', { definition: gated, base: null })
  const begun: { json: PipelineRun } = await app.send('POST /api/pipelines/gated/run', {})
  expect(await settled(begun.json.id)).toMatchObject({ status: 'waiting' })
  const path = `POST /api/pipeline-runs/${begun.json.id}/resume`
  expect((await app.send(path, { approve: ['look'] }, 'read', 'run')).status).toBe(403)
  expect((await app.send(path, { approve: ['look'] })).status).toBe(202)
  expect(await settled(begun.json.id)).toMatchObject({ status: 'completed' })
}, 60_000)

test('a template is written with its panels, and does not run before somebody looked at it', async () => {
  const { json }: { json: { name: string; description: string }[] } = await app.send(
    'GET /api/pipeline-templates',
  )
  expect(json.map(({ name }) => name)).toContain('code-review')
  for (const { description } of json) expect(description).not.toBe('')
  const made = await app.send('POST /api/pipelines', { name: 'review', template: 'code-review' })
  expect(made).toMatchObject({ status: 201, json: { state: 'untrusted', problems: [] } })
  expect((await app.send('POST /api/pipelines/review/run', {})).status).toBe(403)
})

test('a schedule is made, shows its next times, pauses, goes on and is taken away; each needs the scope admin', async () => {
  const wanted = { pipeline: 'timed', cron: '0 9 * * 1', timezone: 'UTC', input: { topic: 'tea' } }
  const step = [{ id: 'say', text: 'About {{input.topic}}' }]
  const timed = { name: 'timed', input: { topic: { required: true } }, step }
  await app.send('PUT /api/pipelines/timed', { definition: timed, base: null })
  expect((await app.send('POST /api/schedules', wanted, 'read', 'run', 'approve')).status).toBe(403)
  expect((await app.send('POST /api/schedules', { ...wanted, cron: 'soon' })).status).toBe(400)
  expect((await app.send('POST /api/schedules', { ...wanted, input: {} })).status).toBe(400)
  expect((await app.send('POST /api/schedules', { ...wanted, pipeline: 'nope' })).status).toBe(404)
  const made: { json: { id: string } } = await app.send('POST /api/schedules', wanted)
  expect(made).toMatchObject({
    status: 201,
    json: { paused: false, next: expect.stringMatching(/T09:00:00.000Z$/), last: null },
  })
  const { id } = made.json
  expect((await app.send(`POST /api/schedules/${id}/pause`, {})).json).toMatchObject({
    paused: true,
    next: null,
  })
  expect((await app.send('GET /api/schedules?pipeline=timed')).json).toMatchObject([{ id, paused: true }])
  expect((await app.send(`POST /api/schedules/${id}/resume`, {})).json).toMatchObject({ paused: false })
  const times = { cron: '@hourly', timezone: 'UTC', count: 3 }
  const next: { json: { times: string[] } } = await app.send('POST /api/schedules/next-times', times)
  expect(next.json.times).toHaveLength(3)
  const nowhere = await app.send('POST /api/schedules/next-times', { ...times, timezone: '../UTC' })
  expect(nowhere.status).toBe(400)
  expect((await app.send(`DELETE /api/schedules/${id}`, undefined, 'run')).status).toBe(403)
  expect((await app.send(`DELETE /api/schedules/${id}`)).status).toBe(204)
  expect((await app.send('GET /api/schedules')).json).toEqual([])
})

test('a gate is answered in the inbox, the server goes on by itself, and one undo takes the run back', async () => {
  const step = [
    { id: 'say', text: 'hello', gate: 'approval' },
    {
      id: 'write',
      tool: 'write_file',
      args: { path: 'g.txt', content: '{{steps.say.text}}' },
      gate: 'approval',
    },
  ]
  await app.send('PUT /api/pipelines/inbox', { definition: { name: 'inbox', step }, base: null })
  const { json: run }: { json: { id: string } } = await app.send('POST /api/pipelines/inbox/run', {
    input: {},
  })
  const answerNext = async (tool: string): Promise<void> => {
    const question = await vi.waitUntil(
      async () => {
        const { json }: { json: { id: string; digest: string; tool: { name: string } }[] } = await app.send(
          `GET /api/approvals?run=${run.id}`,
        )
        return json.find(each => each.tool.name === tool)
      },
      { timeout: 20_000 },
    )
    // A step of a pipeline is neither made apart from it nor changed.
    expect((await app.send(`POST /api/approvals/${question.id}/continue`, {})).status).toBe(409)
    const given = { answer: 'once', digest: question.digest }
    expect((await app.send(`POST /api/approvals/${question.id}/answer`, given, 'run')).status).toBe(403)
    expect((await app.send(`POST /api/approvals/${question.id}/answer`, given)).status).toBe(200)
  }
  await answerNext('pipeline')
  await answerNext('write_file')
  const stands = async (): Promise<unknown> => (await app.send(`GET /api/pipeline-runs/${run.id}`)).json
  await vi.waitFor(async () => expect(await stands()).toMatchObject({ status: 'completed' }), 20_000)
  const plan = await app.send('POST /api/changes/undo/plan', { run: run.id })
  expect(plan.json).toMatchObject({ steps: [{ path: expect.stringMatching(/g\.txt$/), action: 'delete' }] })
  expect((await app.send('POST /api/changes/undo', { selection: { run: run.id } })).status).toBe(200)
})
