import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openTestApp, type TestApp } from '../../../test/support/app.ts'
import { parseRehearsal } from '../../agents/rehearsal.ts'
import { listApprovals } from '../../store/tables/approvals.ts'
import { usagePerDay } from '../../store/tables/usage.ts'

let app: TestApp
let model: string

beforeAll(async () => {
  const local = `[providers.local]
base_url = "http://127.0.0.1:9/v1"
[providers.local.models.small]
price = "unknown"
`
  app = await openTestApp({ database: true, config: local })
  app.machine.write(
    'writes.toml',
    `[[answer]]
text = "I write."
[[answer.call]]
tool = "write_file"
input = { path = "doc/a.md", content = "hello" }
[[answer]]
text = "Done."
`,
  )
  app.machine.write('talks.toml', '[[answer]]\ntext = "Hello."\n')
  app.machine.write('fails.toml', '[[answer]]\nfail = "rejected"\n')
  model = `rehearsal:${join(app.machine.workspace, 'writes.toml')}`
}, 60_000)
afterAll(() => app.close())

interface Shown {
  id: string
  status: string
  stop_reason: string | null
  text: string | null
  execution_id: string
}

async function settled(id: string): Promise<Shown> {
  const { hub } = await app.services()
  for (;;) {
    const { newest } = hub
    const { json }: { json: Shown } = await app.send(`GET /api/runs/${id}`)
    if (json.status !== 'running' && json.stop_reason !== 'queued') return json
    await hub.wait(newest, AbortSignal.timeout(100))
  }
}

async function approveOf(run: string): Promise<void> {
  const { json }: { json: { id: string; digest: string }[] } = await app.send(`GET /api/approvals?run=${run}`)
  for (const { id, digest } of json) {
    const answered = await app.send(`POST /api/approvals/${id}/answer`, { answer: 'once', digest })
    expect(answered.status).toBe(200)
  }
}

/** Until a run that waited for an answer goes on. */
async function ended(id: string): Promise<Shown> {
  for (;;) {
    const run = await settled(id)
    if (run.status !== 'pending') return run
    const { hub } = await app.services()
    await hub.wait(hub.newest, AbortSignal.timeout(200))
  }
}

const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
  const response = await app.api.request(path, {
    method: 'POST',
    headers: {
      ...{ host: '127.0.0.1:4000', 'content-type': 'application/json' },
      ...{ authorization: `Bearer ${app.token('run', 'read')}` },
      ...headers,
    },
    body: JSON.stringify(body),
  })
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever the answer is
  return { status: response.status, json: (await response.json()) as any }
}

describe('a run that was created', () => {
  const talk = () => ({ task: 'Talk.', model: `rehearsal:${join(app.machine.workspace, 'talks.toml')}` })

  test('is given again to whoever repeats the request with the same key, and to nobody for another task', async () => {
    const key = { 'idempotency-key': 'order 7', authorization: `Bearer ${app.token('run', 'read')}` }
    const first = await post('/api/runs', talk(), key)
    const again = await post('/api/runs', talk(), key)
    expect([first.status, again.status, again.json.id]).toEqual([202, 202, first.json.id])
    expect(again.json.execution_id).toBe(first.json.execution_id)
    const other = await post('/api/runs', { ...talk(), task: 'Sing.' }, key)
    expect([other.status, other.json.code]).toEqual([409, 'conflict'])
    const stranger = await post('/api/runs', talk(), { 'idempotency-key': 'order 7' })
    expect(stranger.json.id).not.toBe(first.json.id)
    expect(await settled(first.json.id)).toMatchObject({ status: 'completed', text: 'Hello.' })
  })

  test('is answered with 202 though the database has no room for more', async () => {
    const { database } = await app.services()
    const { query: ask } = database
    const full = Object.assign(new Error('could not extend file'), { code: '53100' })
    const query = vi.spyOn(database, 'query').mockImplementation(async (text, values) => {
      if (/run_events|SELECT r.id/.test(text)) throw full
      return ask(text, values)
    })
    const { status, json } = await post('/api/runs', talk())
    query.mockRestore()
    expect([status, json.status, json.stop_reason]).toEqual([202, 'pending', 'queued'])
    expect(await settled(json.id)).toMatchObject({ status: 'completed', execution_id: json.execution_id })
  })
})

async function makeAgent(name: string, file: string, tools: string[] = []): Promise<string> {
  const rehearsal = `rehearsal:${join(app.machine.workspace, file)}`
  const { json, status }: { json: { id: string }; status: number } = await app.send('POST /api/agents', {
    name,
    model: rehearsal,
  })
  expect(status).toBe(201)
  if (tools.length > 0)
    await app.send('POST /api/tools/config', {
      agent_id: json.id,
      tools: tools.map(tool_name => ({ tool_name, is_enabled: true })),
    })
  return json.id
}

describe('a run over HTTP', () => {
  test('starts, waits for an approval, goes on after it, and its events come in order', async () => {
    const { hub, watch } = await app.services()
    const before = hub.newest
    const started: { status: number; json: Shown } = await app.send('POST /api/runs', {
      task: 'Write.',
      model,
    })
    expect(started.status).toBe(202)
    const { id } = started.json
    expect(await settled(id)).toMatchObject({ status: 'pending', stop_reason: 'awaiting_approval' })
    expect(existsSync(join(app.machine.workspace, 'doc/a.md'))).toBe(false)
    // Answered in the same moment, a question would be over before anybody was told of it.
    await watch.look()
    await approveOf(id)
    expect(await ended(id)).toMatchObject({ status: 'completed', text: 'Done.' })
    expect(existsSync(join(app.machine.workspace, 'doc/a.md'))).toBe(true)
    await watch.look()
    await hub.wait(before, AbortSignal.timeout(5_000))
    const events = await hub.read(before, id)
    const names = events.map(({ event }) => event.type)
    expect(names).toEqual(
      expect.arrayContaining([
        'run.created',
        'run.started',
        'call.waiting',
        'approval.created',
        'run.finished',
      ]),
    )
    const numbers = events.map(({ seq }) => seq)
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b))
  }, 60_000)

  test('shows its calls, agents, timeline and events', async () => {
    const { json }: { json: { items: Shown[] } } = await app.send('GET /api/runs?status=completed&text=WRITE')
    const [{ id } = { id: '' }] = json.items
    expect(json.items).toMatchObject([{ asked: 1, denied: 0, failed_calls: 0, agents: 1 }])
    expect((await app.send(`GET /api/runs/${id}/calls`)).json).toMatchObject({
      items: [{ tool: 'write_file', state: 'ok', output: { truncated: false } }],
      next: null,
    })
    const made: { json: { text: string } } = await app.send(
      `GET /api/runs/${id}/rehearsal?call=${encodeURIComponent(`call_${id}.1.1`)}`,
    )
    expect(parseRehearsal(made.json.text, 'made.toml').answer).toMatchObject([
      { call: [{ tool: 'write_file', input: { path: 'doc/a.md', content: 'hello' } }] },
    ])
    expect((await app.send(`GET /api/runs/${id}/rehearsal?call=nothing`)).status).toBe(404)
    expect((await app.send(`GET /api/runs/${id}/agents`)).json).toMatchObject([
      { parent_execution_id: null, status: 'completed', waiting: 0 },
    ])
    const timeline: { json: { items: { kind: string; wait_ms: number; ended_at: string }[] } } =
      await app.send(`GET /api/runs/${id}/timeline`)
    const call = timeline.json.items.find(({ kind }) => kind === 'call')
    expect(call).toMatchObject({ label: 'write_file', state: 'ok', ended_at: expect.any(String) })
    expect(timeline.json.items.filter(({ kind }) => kind === 'step').length).toBeGreaterThanOrEqual(2)
    const page: { json: { items: { seq: number }[]; next: number } } = await app.send(
      `GET /api/runs/${id}/events?limit=2`,
    )
    const rest: { json: { items: { seq: number }[] } } = await app.send(
      `GET /api/runs/${id}/events?after=${page.json.next}`,
    )
    expect(rest.json.items[0]?.seq).toBeGreaterThan(page.json.items[1]?.seq ?? Number.POSITIVE_INFINITY)
    expect((await app.send('GET /api/runs?has=denials')).json).toMatchObject({ items: [] })
  }, 60_000)

  test('is stopped while it waits, and listed in pages', async () => {
    const started: { json: Shown } = await app.send('POST /api/runs', { task: 'Write again.', model })
    await settled(started.json.id)
    await app.send(`POST /api/runs/${started.json.id}/stop`, {})
    expect(await settled(started.json.id)).toMatchObject({ status: 'cancelled' })
    // Nobody waits for its answer any more.
    expect((await app.send(`GET /api/approvals?run=${started.json.id}`)).json).toEqual([])
    const { database, runs } = await app.services()
    const asked = await listApprovals(database, { place: runs.place, run: started.json.id })
    expect(asked).toMatchObject([{ status: 'cancelled', decidedBy: null }])
    const first: { json: { items: Shown[]; next: string } } = await app.send('GET /api/runs?limit=1')
    const second: { json: { items: Shown[] } } = await app.send(
      `GET /api/runs?limit=1&cursor=${first.json.next}`,
    )
    expect(first.json.items[0]?.id).not.toBe(second.json.items[0]?.id)
  }, 60_000)

  test('of a model that fails says so', async () => {
    const agent = await makeAgent('broken', 'fails.toml')
    const failed = await app.send('POST /api/execute', { agent_id: agent, input: 'Hi.' })
    expect(failed).toMatchObject({ status: 502, json: { error_code: 'llm_error' } })
  }, 60_000)
})

describe('an agent', () => {
  test('answers without tools, whatever it may use', async () => {
    const agent = await makeAgent('talker', 'talks.toml')
    const done = await app.send('POST /api/execute', { agent_id: agent, input: 'Hi.' })
    expect(done).toMatchObject({ status: 200, json: { status: 'completed', output_text: 'Hello.' } })
    const { json }: { json: { id: string } } = done
    const messages = await app.send(`GET /api/executions/${json.id}/messages`)
    expect(messages.json).toMatchObject([{ role: 'user' }, { role: 'assistant' }])
    const long = await app.send('POST /api/execute', { agent_id: agent, input: 'x'.repeat(200_001) })
    expect(long).toMatchObject({
      status: 400,
      json: { error: 'Input text too long (200001 bytes). Maximum is 200000 bytes.' },
    })
  }, 60_000)

  test('gets no tool and no wider setting from a request than its owner gave it', async () => {
    const agent = await makeAgent('narrow', 'writes.toml', ['read_file'])
    const done = await app.send('POST /api/execute-with-tools', {
      agent_id: agent,
      input: 'Write.',
      enabled_tools: ['write_file', 'read_file'],
    })
    expect(done).toMatchObject({ status: 200 })
    const { json }: { json: { workflow_run_id: string } } = done
    const run: { json: { calls_made: { errorCode: string }[] } } = await app.send(
      `GET /api/runs/${json.workflow_run_id}`,
    )
    expect(run.json.calls_made).toMatchObject([{ errorCode: 'not_enabled' }])
    const wider = await app.send('POST /api/execute-with-tools', {
      agent_id: agent,
      input: 'Write.',
      enabled_tools: ['read_file'],
      tool_config: { read_file: { allowed_dirs: ['/'] } },
    })
    expect(wider.status).toBe(403)
  }, 60_000)

  test('takes narrower settings from a request, and none for a tool that does not exist', async () => {
    const agent = await makeAgent('narrower', 'talks.toml', ['git_ops', 'write_file'])
    const ask = (tool_config: unknown) =>
      app.send('POST /api/execute-with-tools', {
        ...{ agent_id: agent, input: 'Hi.', enabled_tools: ['git_ops'], tool_config },
      })
    const narrower = await ask({ git: { git: 'Disabled' }, write_file: { allowed_dirs: ['doc/sub'] } })
    expect(narrower).toMatchObject({ status: 200, json: { started_at: expect.any(String) } })
    expect(await ask({ no_such_tool: { git: 'Disabled' } })).toMatchObject({
      status: 400,
      json: { error: "There is no tool 'no_such_tool'." },
    })
  }, 60_000)
})

describe('an orchestration', () => {
  test('of another mode is refused in the words of the requirements', async () => {
    const agent = await makeAgent('planner', 'writes.toml', ['file_write'])
    const refused = await app.send('POST /api/orchestrate', { agent_id: agent, input: 'Go.', mode: 'auto' })
    expect(refused).toMatchObject({
      status: 400,
      json: { error: "Invalid orchestration mode 'auto'. Must be 'automatic' or 'approval'." },
    })
  })

  test('in the mode approval shows its plan, does none of it before a yes, and ends after it', async () => {
    const agent = await makeAgent('approved', 'writes.toml', ['file_write'])
    const begun: { json: { id: string; workflow_run_id: string } } = await app.send('POST /api/orchestrate', {
      agent_id: agent,
      input: 'Go.',
      mode: 'approval',
    })
    const { id, workflow_run_id: run } = begun.json
    expect(await settled(run)).toMatchObject({ stop_reason: 'awaiting_plan' })
    const planned: { json: { status: string; plan_json: { steps: { name: string }[] } } } = await app.send(
      `GET /api/orchestrate/${id}`,
    )
    expect(planned.json).toMatchObject({
      status: 'awaiting_approval',
      plan_json: { steps: [{ name: 'write_file' }], text: 'I write.' },
    })
    expect((await app.send(`POST /api/orchestrate/${id}/approve`, {}, 'read', 'run')).status).toBe(403)
    expect((await app.send(`POST /api/orchestrate/${id}/approve`, {})).status).toBe(200)
    expect(await app.send(`POST /api/orchestrate/${id}/approve`, {})).toMatchObject({
      status: 400,
      json: { error: expect.stringContaining('Orchestration run is not awaiting approval (status: ') },
    })
    // The plan was approved, not each of its calls.
    expect(await settled(run)).toMatchObject({ stop_reason: 'awaiting_approval' })
    await approveOf(run)
    expect(await ended(run)).toMatchObject({ status: 'completed' })
    expect((await app.send(`GET /api/orchestrate/${id}`)).json).toMatchObject({
      status: 'completed',
      final_output: 'Done.',
    })
  }, 60_000)

  test('whose run was stopped cannot be approved from a page that still shows its plan', async () => {
    const agent = await makeAgent('stopped', 'writes.toml', ['file_write'])
    const begun: { json: { id: string; workflow_run_id: string } } = await app.send('POST /api/orchestrate', {
      ...{ agent_id: agent, input: 'Go.', mode: 'approval' },
    })
    const { id, workflow_run_id: run } = begun.json
    await settled(run)
    await app.send(`POST /api/runs/${run}/stop`, {})
    expect(await app.send(`POST /api/orchestrate/${id}/approve`, {})).toMatchObject({
      status: 400,
      json: { error: 'Orchestration run is not awaiting approval (status: cancelled)' },
    })
    expect(await settled(run)).toMatchObject({ status: 'cancelled' })
    // Resumed, it asks again.
    await app.send(`POST /api/runs/${run}/resume`, {})
    expect(await settled(run)).toMatchObject({ status: 'pending', stop_reason: 'awaiting_plan' })
  }, 60_000)

  test('that is rejected has failed, and does nothing', async () => {
    const agent = await makeAgent('rejected', 'writes.toml', ['file_write'])
    const begun: { json: { id: string; workflow_run_id: string; execution_id: string } } = await app.send(
      'POST /api/orchestrate',
      { agent_id: agent, input: 'Go.', mode: 'approval' },
    )
    await settled(begun.json.workflow_run_id)
    const rejected = await app.send(`POST /api/orchestrate/${begun.json.id}/reject`, {})
    expect(rejected.json).toMatchObject({ status: 'rejected' })
    expect((await app.send(`GET /api/executions/${begun.json.execution_id}`)).json).toMatchObject({
      status: 'failed',
      error_message: 'Plan rejected by user',
    })
  }, 60_000)
})

test('an agent is made with a configured provider by its id, and with no other', async () => {
  const { json: all }: { json: { id: string; name: string; models: string[] }[] } =
    await app.send('GET /api/llm-providers')
  expect(all.map(({ name }) => name)).toEqual(['anthropic', 'google', 'local', 'openai', 'rehearsal'])
  const idOf = (name: string) => all.find(each => each.name === name)?.id
  const make = (name: string, given: object) => app.send('POST /api/agents', { name, ...given })
  const llm_provider_id = idOf('local')
  expect((await make('by-id', { llm_provider_id })).json).toMatchObject({
    ...{ provider: 'local', llm_provider_id, model: 'small' },
  })
  expect((await make('named', { llm_provider_id: idOf('openai'), model: 'gpt-x' })).json).toMatchObject({
    ...{ provider: 'openai', llm_provider_id: idOf('openai'), model: 'gpt-x' },
  })
  for (const [given, why] of [
    [{ llm_provider_id: '00000000-0000-4000-8000-000000000000' }, 'No configured provider has the id'],
    [{ llm_provider_id: idOf('rehearsal') }, "Say which model of 'rehearsal' it uses"],
    [{ llm_provider_id: idOf('rehearsal'), model: 'small' }, "is not a model of 'rehearsal'"],
    [{ llm_provider_id, model: 'openai/gpt-x' }, "'openai/gpt-x' is not a model of 'local'"],
  ] as const)
    expect(await make('wrong', given)).toMatchObject({
      status: 400,
      json: { error: expect.stringContaining(why) },
    })
})

test('the rest of the workspace is there: workflows, vendors, usage, the person, figures', async () => {
  expect((await app.send('GET /api/workflows')).json).toMatchObject([{ name: app.machine.workspace }])
  const { database } = await app.services()
  await database.query(`UPDATE llm_providers SET api_base_url = 'https://u:pass-word-1@127.0.0.1/'`)
  const vendors = await app.send('GET /api/llm-providers')
  expect(vendors.json).toEqual(expect.arrayContaining([expect.objectContaining({ name: 'anthropic' })]))
  expect(JSON.stringify(vendors.json)).not.toContain('pass-word-1')
  expect((await app.send('GET /api/usage?by=agent')).status).toBe(200)
  expect((await app.send('GET /api/usage/summary')).json).toMatchObject({
    budget: { day: { limit_usd: null } },
  })
  expect((await app.send('GET /api/usage/days?by=agent')).status).toBe(200)
  expect((await app.send('GET /api/usage/tools')).json).toEqual(
    expect.arrayContaining([expect.objectContaining({ tool: 'write_file', asked: 2 })]),
  )
  for (const by of ['model', 'panel', 'pipeline', 'agent'])
    expect((await app.send(`GET /api/usage/groups?by=${by}`)).json[0]).toMatchObject({
      ...{ requests: expect.any(Number), p50Ms: expect.any(Number) },
    })
  expect((await app.send('GET /api/usage/tools/days')).json).toEqual(
    expect.arrayContaining([expect.objectContaining({ tool: 'write_file', failed: expect.any(Number) })]),
  )
  // As a server that is gone has left it.
  const earlier = {
    ok: true,
    model: 'local/small',
    ms: 1,
    tokens: 2,
    cost_usd: null,
    error: null,
    at: 'then',
  }
  const { providerTests } = app.machine.runtime.places
  writeFileSync(providerTests, JSON.stringify({ tests: [{ id: 'local', ...earlier }, { id: 'broken' }] }))
  await app.send('POST /api/models/test', { model: 'anthropic/claude-haiku-4-5' })
  expect((await app.send('GET /api/models/health')).json).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ provider: 'local', failures: 0, last_test: earlier }),
      expect.objectContaining({
        ...{ provider: 'anthropic', failures: 0, limited_until: null, last_error: null },
        last_test: expect.objectContaining({ ok: false, at: expect.any(String) }),
      }),
      expect.objectContaining({ provider: 'rehearsal', failures: 1, rate_limited: 0, last_test: null }),
    ]),
  )
  expect((await app.send('GET /api/home')).json).toMatchObject({
    setup: { trust: 'not-needed', runs: 1 },
    last_day: { asked: 2, failed_runs: 2 },
  })
  expect((await app.send('GET /api/users')).json).toHaveLength(1)
  expect((await app.send('GET /api/auth/session', undefined, 'read')).json).toMatchObject({
    scopes: ['read'],
  })
  const { json: figures } = await app.send('GET /api/metrics')
  expect(figures).toContain('kogu_runs{state="completed"}')
  expect(figures).toContain('kogu_http_requests_total{method="GET",route="/api/users",status="200"}')
})

test('a run at a limit goes on with twice its limits when a person says so, unless its panel says stop', async () => {
  app.machine.write(
    'reads.toml',
    '[[answer]]\n[[answer.call]]\ntool = "read_file"\ninput = { path = "talks.toml" }\n[[answer]]\ntext = "Read."\n',
  )
  const settings = {
    model: `rehearsal:${join(app.machine.workspace, 'reads.toml')}`,
    limits: { max_turns: 1 },
    tools: { read_file: {} },
  }
  const begin = async (panel: string, limits: object): Promise<string> => {
    const wanted = { settings: { ...settings, limits: { ...settings.limits, ...limits } }, base: null }
    await app.send(`PUT /api/panels/${panel}`, wanted)
    const { json }: { json: Shown } = await app.send('POST /api/runs', { panel, task: 'Read.' })
    return json.id
  }
  const asking = await begin('asking', { on_limit: 'ask' })
  expect(await settled(asking)).toMatchObject({
    ...{ status: 'failed', stop_reason: 'limit_reached', can_extend: true },
  })
  expect((await app.send(`POST /api/runs/${asking}/extend`, {}, 'run')).status).toBe(403)
  expect((await app.send(`POST /api/runs/${asking}/extend`, {})).status).toBe(202)
  expect(await settled(asking)).toMatchObject({ status: 'completed', text: 'Read.', can_extend: false })
  expect((await app.send(`POST /api/runs/${asking}/extend`, {})).status).toBe(409)
  const final = await begin('final', { on_limit: 'stop' })
  expect(await settled(final)).toMatchObject({ stop_reason: 'limit_reached', can_extend: false })
  expect((await app.send(`POST /api/runs/${final}/extend`, {})).status).toBe(409)
}, 60_000)

test('the mode and the limits of a panel hold when its agent is named by its id', async () => {
  const script = '[[answer]]\n[[answer.call]]\ntool = "read_file"\ninput = { path = "careful.toml" }\n'
  app.machine.write('careful.toml', script)
  const settings = {
    model: `rehearsal:${join(app.machine.workspace, 'careful.toml')}`,
    mode: 'read-only',
    limits: { max_turns: 1, on_limit: 'stop' },
    tools: { read_file: {} },
  }
  const { json }: { json: { agent_id: string; hash: string } } = await app.send('PUT /api/panels/careful', {
    settings,
    base: null,
  })
  const { json: begun }: { json: Shown } = await app.send('POST /api/runs', {
    ...{ agent_id: json.agent_id, task: 'Read.' },
  })
  expect(begun).toMatchObject({ mode: 'read-only' })
  expect(await settled(begun.id)).toMatchObject({ stop_reason: 'limit_reached', can_extend: false })
  // Started again, it has no more than the panel has by then, and nothing of one that nobody has looked at.
  const { json: now }: { json: { hash: string } } = await app.send('PUT /api/panels/careful', {
    settings: { ...settings, tools: {} },
    base: json.hash,
  })
  const again: { json: Shown } = await app.send(`POST /api/runs/${begun.id}/again`, {})
  const toolsOf = async ({ id }: Shown): Promise<string[]> => {
    const { json: agents }: { json: { tools: string[] }[] } = await app.send(`GET /api/runs/${id}/agents`)
    return agents[0]?.tools ?? []
  }
  expect([await toolsOf(begun), await toolsOf(again.json)]).toEqual([['read_file', 'read_result'], []])
  const { json: unseen }: { json: { hash: string } } = await app.send(
    'PUT /api/panels/careful',
    { settings, base: now.hash },
    'admin',
  )
  expect((await app.send(`POST /api/runs/${begun.id}/again`, {})).status).toBe(403)
  await app.send('POST /api/panels/careful/trust', { hash: unseen.hash })
  const orchestrated: { json: { workflow_run_id: string } } = await app.send('POST /api/orchestrate', {
    ...{ agent_id: json.agent_id, input: 'Read.', mode: 'automatic' },
  })
  expect(await settled(orchestrated.json.workflow_run_id)).toMatchObject({ stop_reason: 'limit_reached' })
}, 60_000)

test('usage of late in the evening belongs to the day of that evening, where Kogu runs', async () => {
  const { database, runs } = await app.services()
  const { json }: { json: Shown } = await app.send('POST /api/runs', { task: 'Go.', model })
  await settled(json.id)
  const at = new Date('2020-02-29T20:00:00Z')
  await database.query('UPDATE usage SET at = $2 WHERE workflow_run_id = $1', [json.id, at])
  const days = (zone: string) => {
    const until = new Date('2020-03-02T00:00:00Z')
    return usagePerDay(database, 'model', { place: runs.place, since: new Date(0), until, zone })
  }
  expect(await days('Asia/Tokyo')).toMatchObject([{ day: '2020-03-01' }])
  expect(await days('UTC')).toMatchObject([{ day: '2020-02-29' }])
  // The day of this machine, with both of its ends.
  const here = `${at.getFullYear()}-${String(at.getMonth() + 1).padStart(2, '0')}-${String(at.getDate()).padStart(2, '0')}`
  const { json: own } = await app.send(`GET /api/usage/days?since=${here}&until=${here}`)
  expect(own).toMatchObject([{ day: here }])
}, 60_000)

test('a token that may not approve lowers limits and raises none, also not by starting a raised run again', async () => {
  const wish = { task: 'Hello?', model: `rehearsal:${join(app.machine.workspace, 'talks.toml')}` }
  const above = { ...wish, max_turns: 1_000 }
  expect((await app.send('POST /api/runs', { ...wish, max_turns: 1 }, 'run')).status).toBe(202)
  expect(await app.send('POST /api/runs', above, 'run')).toMatchObject({
    status: 403,
    json: {
      detail: expect.stringContaining('max_turns 1000 is above'),
      hint: expect.stringContaining('at most'),
    },
  })
  const raised: { json: Shown } = await app.send('POST /api/runs', above)
  await settled(raised.json.id)
  expect((await app.send(`POST /api/runs/${raised.json.id}/again`, {}, 'run')).status).toBe(403)
  expect((await app.send(`POST /api/runs/${raised.json.id}/again`, {})).status).toBe(202)
}, 60_000)
