import { randomUUID } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NO_USAGE } from '../../src/agents/model.ts'
import { makeToken, openTokens, SCOPES } from '../../src/server/auth/tokens.ts'
import { findAgentById, insertAgent } from '../../src/store/tables/agents.ts'
import { providerRow } from '../../src/store/tables/llm-providers.ts'
import { insertOrchestration } from '../../src/store/tables/orchestration-runs.ts'
import { enqueueRun } from '../../src/store/tables/run-queue.ts'
import { insertUsage } from '../../src/store/tables/usage.ts'
import { workflowOf } from '../../src/store/tables/workflows.ts'
import { openTestApp, type TestApp } from '../support/app.ts'
import { createSandboxed } from '../support/kogu.ts'

// One person has servers in several workspaces, and one database for all of them.

let app: TestApp
let theirs: { user: string; workspace: string }
let workflow: string
let agent: string
beforeAll(async () => {
  app = await openTestApp({ database: true })
  const { database, runs } = await app.services()
  theirs = { user: runs.place.user, workspace: mkdtempSync(join(tmpdir(), 'kogu-other-')) }
  workflow = await workflowOf(database, theirs.user, theirs.workspace)
  const provider = await providerRow(database, 'anthropic')
  agent = (await insertAgent(database, workflow, { name: 'theirs', provider })) ?? ''
}, 60_000)
afterAll(() => app.close())

test('no route shows, changes or runs an agent of another workspace', async () => {
  const { json: document }: { json: { paths: Record<string, Record<string, unknown>> } } =
    await app.send('GET /api/openapi.json')
  const answers: string[] = []
  for (const [path, methods] of Object.entries(document.paths)) {
    if (!/^\/api\/(agents|workflows|tools\/config)\/\{/.test(path)) continue
    for (const method of Object.keys(methods)) {
      const id = path.includes('workflows') ? workflow : agent
      const body = method === 'get' || method === 'delete' ? undefined : { description: 'ours now' }
      const { status } = await app.send(`${method.toUpperCase()} ${path.replace(/\{\w+\}/, id)}`, body)
      answers.push(`${status} ${method} ${path}`)
    }
  }
  const more: [string, unknown][] = [
    ['POST /api/tools/config', { agent_id: agent, tools: [{ tool_name: 'write_file', is_enabled: true }] }],
    ['POST /api/agents', { name: 'planted', workflow_id: workflow }],
    ['POST /api/runs', { task: 'Go.', agent_id: agent }],
    ['POST /api/execute', { agent_id: agent, input: 'Go.' }],
    ['POST /api/execute-with-tools', { agent_id: agent, input: 'Go.', enabled_tools: [] }],
    ['POST /api/orchestrate', { agent_id: agent, input: 'Go.', mode: 'automatic' }],
    [`GET /api/agents?workflow_id=${workflow}`, undefined],
  ]
  for (const [request, body] of more) answers.push(`${(await app.send(request, body)).status} ${request}`)
  expect(answers.length).toBeGreaterThan(9)
  expect(answers.filter(answer => !answer.startsWith('404 '))).toEqual([])
  const { json: listed } = await app.send('GET /api/workflows')
  expect(JSON.stringify(listed)).not.toContain(workflow)
  const { database } = await app.services()
  expect(await findAgentById(database, theirs, agent)).toMatchObject({ name: 'theirs', description: null })
})

test('a workflow is not made under the path of a workspace, which would find it there', async () => {
  expect((await app.send('POST /api/workflows', { name: '/somewhere/else' })).status).toBe(400)
})

test('a token works where it was made, unless it was made for all workspaces', () => {
  const box = createSandboxed()
  try {
    const one = box.json(['tokens', 'create', 'one'])
    const all = box.json(['tokens', 'create', 'all', '--all-workspaces'])
    expect([one.workspace, all.workspace]).toEqual([box.workspace, null])
    expect(box.run(['tokens', 'list']).stdout).toMatch(/one .*never +\S+[\s\S]*all .*never +all workspaces/)
    const stored = openTokens(join(box.workspace, '..', 'state', 'kogu')).list()
    expect(stored.map(({ name }) => name)).toEqual(['one', 'all'])
  } finally {
    box.remove()
  }
})

test('the server of another workspace does not know a token that is for one', async () => {
  const now = new Date()
  const scopes = ['read'] as const
  const made = (workspace: string | null) => makeToken('t', scopes, { now, workspace })
  const own = made(app.machine.runtime.workspace)
  const [foreign, all] = [made(theirs.workspace), made(null)]
  for (const { stored } of [own, foreign, all]) app.store(stored)
  const ask = async ({ token }: { token: string }) => {
    const headers = { host: '127.0.0.1:4000', authorization: `Bearer ${token}` }
    return (await app.api.request('http://127.0.0.1:4000/api/tools', { headers })).status
  }
  expect([await ask(own), await ask(all), await ask(foreign)]).toEqual([200, 200, 401])
})

describe('a token of one workspace that may do everything', () => {
  const bound = (): string => {
    const { workspace } = app.machine.runtime
    const { token, stored } = makeToken('bound', SCOPES, { now: new Date(), workspace })
    app.store(stored)
    return token
  }
  const ask = async (token: string, request: string, body?: unknown) => {
    const [method = '', path = ''] = request.split(' ')
    const headers = {
      ...{ host: '127.0.0.1:4000', authorization: `Bearer ${token}` },
      'content-type': 'application/json',
    }
    const sent = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    const response = await app.api.request(`http://127.0.0.1:4000${path}`, sent)
    return { status: response.status, text: await response.text() }
  }

  test('neither sees nor forgets what a person has answered in another', async () => {
    const { grants } = app.machine.runtime
    const given = {
      decision: 'deny',
      scope: 'permanent',
      user: 'person',
      createdAt: new Date().toISOString(),
      spec: { kind: 'host', host: 'example.com', port: 443, method: 'GET' },
      workspace: theirs.workspace,
    } as const
    await grants.add({ ...given, id: 'g-theirs' })
    await grants.add({ ...given, id: 'g-all', everywhere: true })
    const token = bound()
    const listed = JSON.parse((await ask(token, 'GET /api/grants')).text) as { id: string }[]
    expect(listed.map(({ id }) => id)).toEqual(['g-all'])
    expect((await ask(token, 'DELETE /api/grants/g-theirs')).status).toBe(404)
    expect((await ask(token, 'DELETE /api/grants/g-all')).status).toBe(403)
    expect((await app.send('DELETE /api/grants/g-theirs')).status).toBe(204)
    expect(grants.list().map(({ id }) => id)).toEqual(['g-all'])
  })

  test("does not write the person's own configuration", async () => {
    const saved = { text: 'mode = "ask"\n', base: null }
    expect((await ask(bound(), 'PUT /api/config/files/user', saved)).status).toBe(403)
    expect((await ask(bound(), 'PUT /api/config/files/local', saved)).status).toBe(200)
  })

  test('gives no answer that holds everywhere', async () => {
    const { runtime } = app.machine
    const { call } = await runtime.call({ tool: 'run_command', input: { command: 'make x' }, caller: 'a' })
    const [question] = await runtime.listQuestions()
    const { id = '' } = question?.offers.at(-1) ?? {}
    const answer = { kind: 'permanent', user: 'a', grant: id, scope: 'everywhere' } as const
    const by = { caller: 'a', mayApprove: true, isBound: true }
    await expect(runtime.answerQuestion(call, answer, by)).rejects.toMatchObject({ code: 'forbidden' })
  })
})

test('usage and orchestrations of another workspace are as if there were none', async () => {
  const { database } = await app.services()
  const spec = {
    task: 'Go.',
    startedBy: 'them',
    model: 'p/m',
    authority: {},
    limits: { maxTurns: 1 },
  } as const
  const place = { ...theirs, workspaceId: randomUUID() }
  const { id: run, execution } = await enqueueRun(database, { ...place, spec, workflow })
  const told = { id: randomUUID(), run, execution, provider: 'p', model: 'theirs', costUsd: 1, ms: 1 }
  await insertUsage(database, { ...told, usage: NO_USAGE })
  expect((await app.send('GET /api/usage')).json).toEqual([])
  const id = await insertOrchestration(database, { agent, run, execution, mode: 'approval' })
  const look = async (wanted: string) => {
    const { json }: { json: { detail: string } } = await app.send(`GET /api/orchestrate/${wanted}`)
    return json.detail
  }
  expect(await look(id)).toBe(await look(randomUUID()))
})
