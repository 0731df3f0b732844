import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createClient } from '../src/client.ts'
import { type Listening, listen } from '../src/server/listen.ts'
import { serveWebSocket } from '../src/server/web-socket.ts'
import { openTestApp, type TestApp } from './support/app.ts'
import { type MockVendor, startMockVendor } from './support/mock-vendor.ts'
import { PUBLIC, type RawServer, respond, startRawServer, testInternet } from './support/web.ts'

// The acceptance of the founding documents (T-83 to T-85) over real HTTP, with a vendor's wire format for the model.

let app: TestApp
let vendor: MockVendor
let pages: RawServer
let server: Listening
let sockets: { close(): void }
let token: string

beforeAll(async () => {
  vendor = await startMockVendor()
  pages = await startRawServer((socket, path) =>
    path.startsWith('/search')
      ? respond(
          socket,
          JSON.stringify({
            results: [{ title: 'Solar', url: 'https://solar.test/', content: 'Prices fell' }],
          }),
          {
            'content-type': 'application/json',
          },
        )
      : respond(socket, '<html><body><p>Prices fell by 4 %.</p></body></html>'),
  )
  const internet = testInternet(pages.port)
  internet.names.set('search.test', [PUBLIC])
  app = await openTestApp({
    database: true,
    web: { network: internet },
    config: [
      `[providers.mock]\nkind = "openai-compatible"\nbase_url = "${vendor.url}/v1"\n[providers.mock.models.m]\n`,
      '[tools.web_search]\nengine = "searxng"\nsearxng_url = "https://search.test"\n',
    ].join('\n'),
  })
  server = await listen(app.api, { host: '127.0.0.1', port: 0, remote: undefined })
  sockets = serveWebSocket(server.server, app.api, app.services)
  token = app.token()
  await app.services()
}, 60_000)
afterAll(async () => {
  sockets.close()
  await app.close()
  await server.close(100)
  await vendor.close()
  await pages.close()
})

interface Answer {
  readonly status: number
  // What a route answers is looked at field by field in tests.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly json: any
}

async function http(method: string, path: string, body?: unknown, bearer = token): Promise<Answer> {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, json: await response.json() }
}

async function makeAgent(name: string, tools: Record<string, object | null>): Promise<string> {
  const { json } = await http('POST', '/api/agents', { name, model: 'mock/m', system_prompt: 'You help.' })
  const settings = Object.entries(tools).map(([tool_name, config]) => ({
    tool_name,
    is_enabled: true,
    config,
  }))
  const saved = await http('POST', '/api/tools/config', { agent_id: json.id, tools: settings })
  expect(saved).toEqual({ status: 200, json: { status: 'ok' } })
  return json.id
}

/** Says yes to everything that is asked until the run has ended. */
async function approveUntilEnded(run: string) {
  const { hub } = await app.services()
  for (;;) {
    const { newest } = hub
    const { json } = await http('GET', `/api/runs/${run}`)
    if (!['pending', 'running'].includes(json.status)) return json
    for (const { id, digest, tool, answer } of (await http('GET', `/api/approvals?run=${run}`)).json) {
      if (answer !== null) continue
      await http('POST', `/api/approvals/${id}/answer`, { answer: 'once', digest, confirm: tool.name })
    }
    await hub.wait(newest, AbortSignal.timeout(200))
  }
}

describe('T-83', () => {
  test('the six tools are found by their names of the founding documents', async () => {
    const all = (await http('GET', '/api/tools')).json
    for (const name of ['web_fetch', 'web_search', 'file_write', 'shell_exec', 'git_ops', 'self_eval']) {
      const found = await http('GET', `/api/tools/${name}`)
      expect(found, name).toMatchObject({
        status: 200,
        json: { definition: { input_schema: { type: 'object' } } },
      })
      expect(all.map((tool: { name: string }) => tool.name)).toContain(found.json.name)
      expect(['ReadOnly', 'FileSystem', 'Execution', 'VersionControl', 'Composite']).toContain(
        found.json.category,
      )
    }
  })

  test('web_fetch is called in an orchestration, and its events arrive over WebSocket', async () => {
    const agent = await makeAgent('fetcher', { web_fetch: { allowed_hosts: ['solar.test'] } })
    const address = `${server.url.replace('http', 'ws')}/api/ws`
    const socket = new WebSocket(address, { headers: { authorization: `Bearer ${token}` } })
    const types: string[] = []
    socket.on('message', data => types.push(JSON.parse(String(data)).event.type))
    await new Promise(resolve => socket.once('open', resolve))
    vendor.play(
      { calls: [{ name: 'web_fetch', input: { url: 'https://solar.test/' } }] },
      { text: 'They fell.' },
    )
    const begun = await http('POST', '/api/orchestrate', {
      agent_id: agent,
      input: 'Prices?',
      mode: 'automatic',
    })
    expect(begun).toMatchObject({ status: 202, json: { status: 'running', mode: 'automatic' } })
    const run = await approveUntilEnded(begun.json.workflow_run_id)
    expect(run.calls_made).toMatchObject([{ tool: 'web_fetch', isError: false }])
    const done = await http('GET', `/api/orchestrate/${begun.json.id}`)
    expect(done.json).toMatchObject({ status: 'completed', final_output: 'They fell.' })
    await expect
      .poll(() => types, { timeout: 10_000 })
      .toEqual(
        expect.arrayContaining([
          'WorkflowRunStarted',
          'AgentExecutionStarted',
          'ToolExecutionStarted',
          'ToolExecutionCompleted',
          'AgentExecutionCompleted',
          'WorkflowRunCompleted',
          'OrchestratorCompleted',
        ]),
      )
    socket.close()
  }, 60_000)
})

describe('T-84', () => {
  test('a panel creates a file under doc/ with file_write, and nowhere else', async () => {
    const agent = await makeAgent('writer', { file_write: null })
    vendor.play(
      { calls: [{ name: 'write_file', input: { path: 'doc/a.md', content: 'hello' } }] },
      { calls: [{ name: 'write_file', input: { path: 'src/a.ts', content: 'hello' } }] },
      { text: 'Done.' },
    )
    const input = { agent_id: agent, input: 'Write.', enabled_tools: ['file_write'] }
    const begun = await http('POST', '/api/execute-with-tools', input)
    expect(begun).toMatchObject({ status: 202, json: { status: 'running' } })
    const run = await approveUntilEnded(begun.json.workflow_run_id)
    expect(run.calls_made).toMatchObject([{ isError: false }, { isError: true, errorCode: 'forbidden' }])
    expect(readFileSync(join(app.machine.workspace, 'doc/a.md'), 'utf8')).toBe('hello')
    expect(existsSync(join(app.machine.workspace, 'src/a.ts'))).toBe(false)
  }, 60_000)

  test('shell_exec runs a check and git_ops looks at the repository', async () => {
    app.machine.write('package.json', '{"name":"x"}')
    execFileSync('git', ['init', '-q'], { cwd: app.machine.workspace })
    const agent = await makeAgent('checker', { shell_exec: null, git_ops: null })
    vendor.play(
      { calls: [{ name: 'run_command', input: { command: 'ls package.json' } }] },
      { calls: [{ name: 'git_ops', input: { action: 'status' } }] },
      { text: 'Done.' },
    )
    const tools = ['shell_exec', 'git_ops']
    const begun = await http('POST', '/api/execute-with-tools', {
      agent_id: agent,
      input: 'Look.',
      enabled_tools: tools,
    })
    const run = await approveUntilEnded(begun.json.workflow_run_id)
    expect(run.calls_made).toMatchObject([
      { tool: 'run_command', isError: false, output: expect.stringContaining('package.json') },
      { tool: 'git_ops', isError: false, output: expect.stringContaining('package.json') },
    ])
  }, 60_000)
})

describe('T-85', () => {
  test('self_eval runs several checks in one call', async () => {
    app.machine.write('Makefile', 'build:\n\t@echo built\nlint:\n\t@echo clean\n')
    const agent = await makeAgent('evaluator', { self_eval: null, shell_exec: { profile: 'shell' } })
    vendor.play({ calls: [{ name: 'self_eval', input: { checks: ['build', 'lint'] } }] }, { text: 'Done.' })
    const tools = ['self_eval', 'shell_exec']
    const begun = await http('POST', '/api/execute-with-tools', {
      agent_id: agent,
      input: 'Check.',
      enabled_tools: tools,
    })
    const run = await approveUntilEnded(begun.json.workflow_run_id)
    expect(run.calls_made).toMatchObject([
      { tool: 'self_eval', isError: false, output: expect.stringContaining('build') },
    ])
    expect(run.status).toBe('completed')
  }, 60_000)

  test('web_search, then the analysis of the model, then file_write', async () => {
    const agent = await makeAgent('analyst', { web_search: null, file_write: { allowed_dirs: ['doc'] } })
    vendor.play(
      { calls: [{ name: 'web_search', input: { query: 'solar prices' } }] },
      request => {
        const found = JSON.stringify(request.body.messages).includes('Prices fell')
        const content = found ? 'They fell.' : 'Nothing was found.'
        return { calls: [{ name: 'write_file', input: { path: 'doc/report.md', content } }] }
      },
      { text: 'The report is written.' },
    )
    const begun = await http('POST', '/api/orchestrate', {
      agent_id: agent,
      input: 'Report.',
      mode: 'automatic',
    })
    const run = await approveUntilEnded(begun.json.workflow_run_id)
    expect(run).toMatchObject({ status: 'completed', text: 'The report is written.' })
    expect(readFileSync(join(app.machine.workspace, 'doc/report.md'), 'utf8')).toBe('They fell.')
  }, 60_000)
})

describe('events', () => {
  test('are resumed without a gap or a repetition', async () => {
    const all = await readEvents('?after=0', 20)
    const [first] = all
    const rest = await readEvents('', 19, { 'last-event-id': String(first) })
    expect(rest).toEqual(all.slice(1))
    expect(new Set(all).size).toBe(all.length)
  }, 60_000)

  test('of a number that does not exist yet, or that is none, begin with resync', async () => {
    const { hub } = await app.services()
    for (const [query, number] of [
      [`?after=${hub.newest + 1_000}`, undefined],
      ['', '-1'],
      ['?after=0', '1; DROP TABLE'],
      ['', '9007199254740993'],
    ]) {
      const response = await fetch(`${server.url}/api/events${query}`, {
        headers: {
          authorization: `Bearer ${token}`,
          ...(number === undefined ? {} : { 'last-event-id': number }),
        },
      })
      const reader = response.body?.getReader()
      expect(new TextDecoder().decode((await reader?.read())?.value), number).toContain('event: resync')
      await reader?.cancel()
    }
  })

  test('are not for those who may not read', async () => {
    const address = `${server.url.replace('http', 'ws')}/api/ws`
    const attempts: [string, Record<string, string>][] = [
      ['nobody', {}],
      ['a wrong token', { authorization: 'Bearer kogu_wrong' }],
      ['another scope', { authorization: `Bearer ${app.token('run')}` }],
      ['another site', { authorization: `Bearer ${token}`, origin: 'http://evil.test' }],
      ['another host', { authorization: `Bearer ${token}`, host: 'evil.test' }],
    ]
    for (const [who, headers] of attempts) {
      const socket = new WebSocket(address, { headers })
      const message = await new Promise<string>(resolve => {
        socket.once('open', () => resolve('open'))
        socket.once('error', error => resolve(error.message))
      })
      expect(message, who).toMatch(/40[13]/)
      socket.terminate()
    }
  })
})

describe('the client', () => {
  test('calls, approves, continues, runs and listens', async () => {
    const client = createClient({ url: server.url, token })
    const asked = await client.call('write_file', { path: 'doc/client.md', content: 'hello' })
    const question = (await client.approvals()).find(({ id }) => id === asked.question)
    await client.answer(question?.id ?? '', { answer: 'once', digest: question?.digest ?? '' })
    expect(await client.continueCall(question?.id ?? '')).toMatchObject({ ok: true })
    app.machine.write('r.toml', '[[answer]]\ntext = "Hello."\n')
    const run = await client.startRun({
      task: 'Hi.',
      model: `rehearsal:${join(app.machine.workspace, 'r.toml')}`,
    })
    const said: string[] = []
    for await (const event of client.events({ after: 0, run: run.id })) {
      if (event.type === 'text.delta') said.push(event.text)
      if (event.type === 'run.finished') break
    }
    expect(said.join('')).toBe('Hello.')
    expect((await client.listTools()).map(({ name }) => name)).toContain('read_file')
    const { id } = await client.request<{ id: string }>('POST', '/api/agents', { name: 'c', model: 'mock/m' })
    const git = { toolName: 'git', isEnabled: true, config: { git: 'ReadOnly' } }
    expect(await client.updateToolPermissions(id, [git])).toEqual({ status: 'ok' })
    expect(await client.request('GET', `/api/tools/permissions/${id}`)).toEqual([
      { tool_name: 'git_ops', is_enabled: true, config: { git: 'ReadOnly' } },
    ])
    await expect(client.run('00000000-0000-4000-8000-000000000000')).rejects.toMatchObject({
      problem: { status: 404, code: 'not_found' },
    })
  }, 60_000)
})

/** The numbers of the next events. */
async function readEvents(
  query: string,
  count: number,
  headers: Record<string, string> = {},
): Promise<number[]> {
  const response = await fetch(`${server.url}/api/events${query}`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
  })
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    // Leaving the loop ends the request.
    if ((text.match(/^id: /gm) ?? []).length >= count) break
  }
  return [...text.matchAll(/^id: (\d+)$/gm)].map(match => Number(match[1])).slice(0, count)
}
