import { afterAll, beforeAll, expect, test } from 'vitest'
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
  expect((await app.send('GET /api/pipelines/weekly/versions/1')).json).toMatchObject({ text })
})

test('a text that is no pipeline is not saved, and one that is there already is shown as broken', async () => {
  expect((await app.send('PUT /api/pipelines/bad', { text: 'step = 1', base: null })).status).toBe(400)
  app.machine.write('.kogu/pipelines/bad.toml', 'step = 1')
  expect((await app.send('GET /api/pipelines/bad')).json).toMatchObject({ state: 'broken', text: 'step = 1' })
})
