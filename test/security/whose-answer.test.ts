import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { makeToken } from '../../src/server/auth/tokens.ts'
import { findRun } from '../../src/store/tables/workflow-runs.ts'
import { openTestApp, type TestApp } from '../support/app.ts'

// Who may answer a question, and for whom an answer counts. Every caller here has a token that may `run`, and tries to be
// more than that.

let app: TestApp
beforeAll(async () => {
  app = await openTestApp({ database: true })
  app.machine.write(
    'writes.toml',
    `[[answer]]
[[answer.call]]
tool = "write_file"
input = { path = "doc/agent.md", content = "hello" }
[[answer]]
text = "Done."
`,
  )
}, 60_000)
afterAll(() => app.close())

interface Question {
  id: string
  digest: string
  runId: string
  answer: { kind: string } | null
}

function post(token: string, path: string, body: unknown): Promise<Response> {
  return Promise.resolve(
    app.api.request(`http://127.0.0.1:4000${path}`, {
      method: 'POST',
      headers: {
        host: '127.0.0.1:4000',
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    }),
  )
}

/** A client that says yes to everything it is asked. */
async function connect(era: 'legacy' | 'auto', token: string): Promise<{ client: Client; asked: unknown[] }> {
  const asked: unknown[] = []
  const client = new Client(
    { name: 'eager', version: '1' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: era } },
  )
  client.setRequestHandler('elicitation/create', async request => {
    asked.push(request)
    return { action: 'accept', content: { decision: 'once' } }
  })
  const headers = { authorization: `Bearer ${token}`, host: '127.0.0.1:4000' }
  const transport = new StreamableHTTPClientTransport(new URL('http://127.0.0.1:4000/mcp'), {
    requestInit: { headers },
    fetch: async (url, init) => app.api.request(url.toString(), init),
  })
  await client.connect(transport)
  return { client, asked }
}

/** What it began. */
async function started(answer: Promise<Response>): Promise<{ id: string }> {
  return (await answer).json() as Promise<{ id: string }>
}

const isThere = (path: string): boolean => existsSync(join(app.machine.workspace, path))

async function questionAbout(path: string): Promise<Question> {
  const all = await app.machine.runtime.listQuestions()
  const found = all.find(each => each.input.path === path)
  if (found === undefined) throw new Error(`Nobody asked about ${path}.`)
  return found
}

async function approve({ id, digest }: Question): Promise<void> {
  expect((await app.send(`POST /api/approvals/${id}/answer`, { answer: 'once', digest })).status).toBe(200)
}

describe.each(['legacy', 'auto'] as const)('an MCP client of the %s era that can ask its person', era => {
  test('is not asked when its token may only run: the question waits for somebody who may answer', async () => {
    const { client, asked } = await connect(era, app.token('read', 'run', 'admin'))
    const path = `${era}-run.txt`
    const called = await client.callTool({ name: 'write_file', arguments: { path, content: 'x' } })
    expect([called.isError, asked.length, isThere(path)]).toEqual([true, 0, false])
    expect((await questionAbout(path)).answer).toBe(null)
    await client.close()
  })

  test('answers when its token may approve', async () => {
    const { client, asked } = await connect(era, app.token('run', 'approve'))
    const path = `${era}-approve.txt`
    await client.callTool({ name: 'write_file', arguments: { path, content: 'x' } })
    expect([asked.length, isThere(path)]).toEqual([1, true])
    await client.close()
    // A client may call itself anything, so the record has the token too.
    const { json: found }: { json: { items: { type: string; caller?: string; user?: string }[] } } =
      await app.send('GET /api/audit?limit=20')
    const [answered] = found.items.filter(({ type }) => type === 'approval-answered')
    const started = found.items.find(({ caller = '' }) => caller.startsWith('mcp:'))
    expect([answered?.user, started?.caller]).toEqual([
      expect.stringMatching(/^eager#tok_\w+ \(MCP client\)$/),
      expect.stringMatching(/^mcp:eager#tok_\w+$/),
    ])
  })
})

test('an MCP session that was opened with approve does not answer when its token has lost it', async () => {
  const { token, stored } = makeToken('test', ['run', 'approve'], { now: new Date() })
  app.store(stored)
  const { client, asked } = await connect('legacy', token)
  app.store({ ...stored, scopes: ['run'] })
  const call = { name: 'write_file', arguments: { path: 'narrowed.txt', content: 'x' } }
  await expect(client.callTool(call)).rejects.toThrow('Session not found')
  expect([asked.length, isThere('narrowed.txt')]).toEqual([0, false])
  await client.close()
})

test('an answer of somebody who may not approve is refused where answers enter, a changed call too', async () => {
  const { runtime } = app.machine
  const { call = '' } = await runtime.call({
    tool: 'write_file',
    input: { path: 'entered.txt', content: 'x' },
    caller: 'a',
  })
  const { digest } = await questionAbout('entered.txt')
  const by = { caller: 'a', mayApprove: false }
  for (const kind of ['once', 'deny'] as const)
    await expect(runtime.answerQuestion(call, { kind, user: 'a' }, by)).rejects.toMatchObject({
      code: 'forbidden',
    })
  const changed = { values: { content: 'y' }, digest, user: 'a', by }
  await expect(runtime.callInstead(call, changed)).rejects.toMatchObject({ code: 'forbidden' })
  expect([(await questionAbout('entered.txt')).answer, isThere('entered.txt')]).toEqual([null, false])
})

describe('the id of a run', () => {
  test('lets another caller use none of the answers that were given to it', async () => {
    const [owner, thief] = [app.token('run'), app.token('read', 'run')]
    const request = { tool: 'write_file', input: { path: 'named.txt', content: 'x' }, run: 'named' }
    expect((await post(owner, '/api/calls', request)).status).toBe(202)
    const question = await questionAbout('named.txt')
    await approve(question)
    for (const run of ['named', question.runId])
      expect((await post(thief, '/api/calls', { ...request, run })).status).toBe(202)
    expect((await post(thief, `/api/approvals/${question.id}/continue`, {})).status).toBe(403)
    expect(isThere('named.txt')).toBe(false)
    // The owner names it either way.
    expect((await post(owner, '/api/calls', { ...request, run: question.runId })).status).toBe(200)
  })

  test('of an MCP connection is of no use over HTTP, to the same token either', async () => {
    const token = app.token('read', 'run')
    const { client } = await connect('auto', token)
    const input = { path: 'connected.txt', content: 'x' }
    await client.callTool({ name: 'write_file', arguments: input })
    const question = await questionAbout('connected.txt')
    await approve(question)
    const made = await post(token, '/api/calls', { tool: 'write_file', input, run: question.runId })
    expect([made.status, isThere('connected.txt')]).toEqual([202, false])
    await client.close()
  })

  test('of an agent that waits, or has not begun, can be used by no call: the agent goes on and ends', async () => {
    const thief = app.token('read', 'run')
    const { worker, hub } = await app.services()
    const model = `rehearsal:${join(app.machine.workspace, 'writes.toml')}`
    const started: { json: { id: string } } = await app.send('POST /api/runs', { task: 'Write.', model })
    const { id: run } = started.json
    const input = { path: 'doc/agent.md', content: 'hello' }
    const steal = () => post(thief, '/api/calls', { tool: 'write_file', input, run })
    expect((await steal()).status).toBe(202)
    const look = async () => (await app.send(`GET /api/runs/${run}`)).json as { status: string }
    const until = async (status: string) => {
      for (;;) {
        if ((await look()).status === status && (status !== 'pending' || (await asked()) !== undefined))
          return
        await hub.wait(hub.newest, AbortSignal.timeout(200))
      }
    }
    const asked = async () =>
      (await app.machine.runtime.listQuestions()).find(({ runPath }) => runPath[0] === run)
    await until('pending')
    expect((await steal()).status).toBe(202)
    const question = await asked()
    if (question === undefined) throw new Error('It has asked.')
    await approve(question)
    await until('completed')
    expect(isThere('doc/agent.md')).toBe(true)
    expect(worker).toBeDefined()
  })

  test('lets no other caller make a run go on that a person has stopped', async () => {
    const [owner, other] = [app.token('read', 'run'), app.token('read', 'run')]
    const model = `rehearsal:${join(app.machine.workspace, 'writes.toml')}`
    const { id } = await started(post(owner, '/api/runs', { task: 'Write.', model }))
    await post(other, `/api/runs/${id}/stop`, {})
    const { database } = await app.services()
    const stopped = async () => (await findRun(database, id))?.status === 'cancelled'
    await vi.waitFor(async () => expect(await stopped()).toBe(true), { timeout: 30_000 })
    expect((await post(other, `/api/runs/${id}/resume`, {})).status).toBe(403)
    expect((await post(owner, `/api/runs/${id}/resume`, {})).status).toBe(202)
    await post(owner, `/api/runs/${id}/stop`, {})
  })

  test('of a pipeline lets no other caller make it go on, or take its steps as done', async () => {
    const [owner, other] = [app.token('read', 'run'), app.token('read', 'run')]
    app.machine.write(
      '.kogu/pipelines/waits.toml',
      'name = "waits"\n[[step]]\nid = "a"\ngate = "approval"\ntext = "x"\n',
    )
    const seen: { json: { whole: { hash: string } } } = await app.send('GET /api/pipelines/waits')
    await app.send('POST /api/pipelines/waits/trust', { hash: seen.json.whole.hash })
    const { id } = await started(post(owner, '/api/pipelines/waits/run', {}))
    const resume = async (token: string) =>
      (await post(token, `/api/pipeline-runs/${id}/resume`, { skip: ['a'] })).status
    expect([await resume(other), await resume(owner)]).toEqual([403, 202])
  })
})

test('a pipeline does not begin behind a gate for somebody who may not open it', async () => {
  const own = app.token('read', 'run')
  const [build, check] = ['[[step]]\nid = "build"\ntext = "{{input.v}}"\n', '[[step]]\nid = "check"\n']
  const ship = '[[step]]\nid = "ship"\ntext = "shipped {{input.v}}"\n'
  const edges = [
    ['build', 'check'],
    ['build', 'ship'],
    ['check', 'ship'],
  ].map(([from, to]) => `[[edge]]\nfrom = "${from}"\nto = "${to}"\n`)
  const checks = { gated: `${check}gate = "approval"\ntext = "ok"\n`, inside: `${check}pipeline = "gate"\n` }
  app.machine.write('.kogu/pipelines/gate.toml', `name = "gate"\n${checks.gated}`)
  for (const [name, step] of Object.entries(checks)) {
    const text = `name = "${name}"\n[input.v]\ntype = "string"\ndefault = "1"\n${build}${step}${ship}${edges.join('')}`
    app.machine.write(`.kogu/pipelines/${name}.toml`, text)
    const seen: { json: { whole: { hash: string } } } = await app.send(`GET /api/pipelines/${name}`)
    await app.send(`POST /api/pipelines/${name}/trust`, { hash: seen.json.whole.hash })
    const again = (step: string, extent: string, of?: string) =>
      post(own, `/api/pipelines/${name}/run`, { input: { v: '2' }, again: { step, extent, of } })
    // A run of the first step alone leaves the gate out, which is no way past it.
    const { id } = await started(again('build', 'only'))
    const until = async () => {
      const { json }: { json: { status: string } } = await app.send(`GET /api/pipeline-runs/${id}`)
      expect(json.status).toBe('completed')
    }
    await vi.waitFor(until, { timeout: 30_000 })
    for (const extent of ['from', 'only']) expect((await again('ship', extent, id)).status).toBe(403)
    const allowed = await app.send(`POST /api/pipelines/${name}/run`, { again: { step: 'ship', of: id } })
    expect(allowed.status).toBe(202)
  }
})

describe('what a command printed beyond what was shown', () => {
  const read = (id: string) => ({ tool: 'command_output', input: { id, from: 99_999, count: 1 } })

  test('is read by the token that made the call, and by no other that knows its id', async () => {
    const [owner, other] = [app.token('run'), app.token('read', 'run')]
    const long = { tool: 'run_command', input: { command: 'seq 1 100000' } }
    for (const run of [undefined, 'named']) {
      const made = (await (await post(owner, '/api/calls', { ...long, run })).json()) as { call: string }
      const ask = async (token: string, wanted = run) =>
        (await post(token, '/api/calls', { ...read(made.call), run: wanted })).status
      expect([await ask(owner), await ask(other), await ask(other, 'named')]).toEqual([200, 404, 404])
    }
  })

  test('of a command that goes on is read by the token that started it, and by no other', async () => {
    const [owner, other] = [app.token('run'), app.token('read', 'run')]
    const request = { tool: 'run_command', input: { command: 'echo mine; sleep 60', background: true } }
    const asked = (await (await post(owner, '/api/calls', request)).json()) as { call: string }
    const all = await app.machine.runtime.listQuestions()
    const question = all.find(({ callId }) => callId === asked.call)
    if (question === undefined) throw new Error('It has asked.')
    await approve({ ...question, answer: null })
    const begun = await post(owner, `/api/approvals/${question.id}/continue`, {})
    const { id } = ((await begun.json()) as { data: { id: string } }).data
    const input = { id, wait_ms: 10_000 }
    const ask = (token: string, tool: string, input: object, run?: string) =>
      post(token, '/api/calls', { tool, input, run })
    expect(await (await ask(owner, 'command_output', input)).text()).toContain('mine')
    for (const run of [undefined, question.runId])
      expect((await ask(other, 'command_output', input, run)).status).toBe(403)
    expect((await ask(owner, 'command_stop', { id })).status).toBe(200)
  })

  test('is read by the agent whose call it was, and by no other agent', async () => {
    const call = (tool: string, input: string) =>
      `[[answer]]\n[[answer.call]]\ntool = "${tool}"\ninput = ${input}\n`
    const long = call('run_command', '{ command = "seq 1 100000" }')
    const end = '[[answer]]\ntext = "{{last.text}}"\n'
    const play = async (script: string): Promise<string> => {
      app.machine.write('plays.toml', script)
      const model = `rehearsal:${join(app.machine.workspace, 'plays.toml')}`
      const { id: run } = await started(post(app.token('run'), '/api/runs', { task: 'Play.', model }))
      const { database } = await app.services()
      const ended = async () => expect((await findRun(database, run))?.status).toBe('completed')
      await vi.waitFor(ended, { timeout: 30_000 })
      return JSON.stringify((await app.send(`GET /api/runs/${run}`)).json)
    }
    const first = await play(`${long}${end}`)
    const [, id = ''] = /command_output with id \\+"(call_[\w.-]+)/.exec(first) ?? []
    expect(id).toMatch(/\.1\.1$/)
    const other = await play(`${call('command_output', `{ id = "${id}" }`)}${end}`)
    expect(other).toContain('another run made the call')
    // Its own id follows from that of its run, which nobody knows before.
    const { runtime } = app.machine
    const run = id.slice('call_'.length, -'.1.1'.length)
    const own = await runtime.call({ ...read(id), run, caller: 'agent' })
    expect(own.text).toContain('99999')
  })
})
