import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeToken, openTokens } from '../../src/server/auth/tokens.ts'
import { findAgentById, insertAgent } from '../../src/store/tables/agents.ts'
import { providerRow } from '../../src/store/tables/llm-providers.ts'
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
