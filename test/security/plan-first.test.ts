import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openTestApp, type TestApp } from '../support/app.ts'
import { type MockVendor, startMockVendor } from '../support/mock-vendor.ts'

// With `[defaults] orchestration = "approval"` a person sees the plan of every run first, whichever way it is started.

let app: TestApp
let agent: string
let vendor: MockVendor
beforeAll(async () => {
  vendor = await startMockVendor()
  const local = `[providers.local]\nkind = "openai-compatible"\nbase_url = "${vendor.url}/v1"\n`
  app = await openTestApp({ database: true, config: `${local}[defaults]\norchestration = "approval"\n` })
  app.machine.write(
    'looks.toml',
    '[[answer]]\n[[answer.call]]\ntool = "read_file"\ninput = { path = "looks.toml" }\n[[answer]]\ntext = "Seen."\n',
  )
  const model = `rehearsal:${join(app.machine.workspace, 'looks.toml')}`
  app.machine.write('.kogu/panels/looker.toml', `model = "${model}"\nprompt = "Look."\n[tools.read_file]\n`)
  app.machine.write('.kogu/pipelines/looks.toml', 'name = "looks"\n[[step]]\nid = "look"\npanel = "looker"\n')
  const made: { json: { id: string } } = await app.send('POST /api/agents', { name: 'looking', model })
  agent = made.json.id
  const tools = [{ tool_name: 'read_file', is_enabled: true }]
  await app.send('POST /api/tools/config', { agent_id: agent, tools })
}, 60_000)
afterAll(async () => {
  await app.close()
  await vendor.close()
})

const wish = () => ({ agent_id: agent, input: 'Look.' })

test('a token that may only run leaves out no plan over HTTP', async () => {
  const automatic = await app.send('POST /api/orchestrate', { ...wish(), mode: 'automatic' }, 'run')
  const tools = { ...wish(), enabled_tools: ['read_file'] }
  const executed = await app.send('POST /api/execute-with-tools', tools, 'run')
  expect([automatic.status, executed.status]).toEqual([403, 403])
  // Without tools there is nothing to plan.
  expect((await app.send('POST /api/execute', wish(), 'run')).status).toBe(200)
})

test('what is said while the first answer comes does not let the next one go past the plan', async () => {
  const run: { id?: string } = {}
  vendor.play(
    async () => {
      await vi.waitFor(() => expect(run.id).toBeDefined())
      await app.send(`POST /api/runs/${run.id}/say`, { text: 'Go on.' }, 'run')
      return { text: 'I have thought.' }
    },
    { calls: [{ name: 'read_file', input: { path: 'looks.toml' } }] },
    { text: 'Done.' },
  )
  const begun: { json: { id: string } } = await app.send(
    'POST /api/runs',
    { task: 'x', model: 'local/m' },
    'run',
  )
  run.id = begun.json.id
  const { hub } = await app.services()
  const look = async (): Promise<{ stop_reason: string; calls_made: unknown[] }> =>
    (await app.send(`GET /api/runs/${begun.json.id}`)).json
  const isOver = async () => ['awaiting_plan', 'end_turn'].includes((await look()).stop_reason)
  while (!(await isOver())) await hub.wait(hub.newest, AbortSignal.timeout(200))
  expect(await look()).toMatchObject({ stop_reason: 'awaiting_plan', calls_made: [] })
})

interface PipelineRun {
  id: string
  status: string
  steps: Record<string, { status: string; run?: string }>
  is_working: boolean
}

test('a step of a pipeline waits for its plan, and the pipeline goes on with the answer', async () => {
  const { json: seen }: { json: { whole: { hash: string; panels: string[] } } } =
    await app.send('GET /api/pipelines/looks')
  expect(seen.whole.panels).toEqual(['looker'])
  await app.send('POST /api/pipelines/looks/trust', { hash: seen.whole.hash })
  const begun: { json: PipelineRun } = await app.send('POST /api/pipelines/looks/run', {})
  const { hub, database } = await app.services()
  const until = async (status: string): Promise<PipelineRun> => {
    for (;;) {
      const { json }: { json: PipelineRun } = await app.send(`GET /api/pipeline-runs/${begun.json.id}`)
      if (json.status === status && !json.is_working) return json
      await hub.wait(hub.newest, AbortSignal.timeout(200))
    }
  }
  const { run = '' } = (await until('waiting')).steps.look ?? {}
  const [plan] = await database.query<{ id: string; status: string }>(
    'SELECT id, status FROM orchestration_runs WHERE workflow_run_id = $1',
    [run],
  )
  expect(plan?.status).toBe('awaiting_approval')
  expect((await app.send(`POST /api/orchestrate/${plan?.id}/approve`, {})).status).toBe(200)
  expect((await until('completed')).steps.look?.status).toBe('done')
})
