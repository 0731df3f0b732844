import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../../test/support/app.ts'

let app: TestApp

beforeAll(async () => {
  app = await openTestApp({
    config: `mode = "ask"
langage = "en"
[providers.local]
kind = "openai-compatible"
base_url = "http://kogu:hunter2hunter2@127.0.0.1:9/v1"
api_key = { env = "LOCAL_KEY" }
[providers.local.models.small]
price = "unknown"
[mcp.notes]
command = ["node", "notes.js"]
env.NOTES_TOKEN = "tea4two"
tools.off = ["delete_*"]
[mcp.leaky]
command = ["sh", "-c", "echo NOTES_API_KEY=$(printf tea4)two99 >&2; exit 3"]
[mcp.hidden]
command = ["node", "-e", "token='run(1)';eval(token)", "--api-key", "tea4two99"]
[tools.custom.hello]
description = 'Says token = "tea4two99'
command = "echo hello"
`,
  })
})
afterAll(() => app.close())

test('every tool is listed with what the engine says about a typical call', async () => {
  const { json }: { json: { tool: string; outcome: string; sample: object }[] } =
    await app.send('GET /api/tools/verdicts')
  const of = (tool: string) => json.find(each => each.tool === tool)
  expect(of('read_file')).toMatchObject({ outcome: 'allow', sample: { path: 'example.md' } })
  expect(of('write_file')).toMatchObject({ outcome: 'ask' })
  const explained = await app.send('POST /api/rules/test', {
    tool: 'write_file',
    input: of('write_file')?.sample,
  })
  expect(explained.json).toMatchObject({ decision: 'ask' })
})

test('models are listed with prices and the place of their key, never the key; an unknown price is null', async () => {
  const { json }: { json: { providers: { name: string; key_place: string; models: object[] }[] } } =
    await app.send('GET /api/models')
  const local = json.providers.find(({ name }) => name === 'local')
  expect(local).toMatchObject({
    has_key: false,
    models: [{ id: 'local/small', price: null, price_source: 'unknown' }],
  })
  expect(local?.key_place).toContain('LOCAL_KEY')
  expect(JSON.stringify(json)).not.toContain('hunter2')
  const tested = await app.send('POST /api/models/test', { model: 'anthropic/claude-haiku-4-5' })
  expect(tested).toMatchObject({ status: 200, json: { ok: false, error: { code: 'credentials' } } })
})

test('an MCP server is described before it is trusted, and trust is given to what was read', async () => {
  const { json }: { json: { describes: string[]; config_hash: string }[] } =
    await app.send('GET /api/mcp/servers')
  expect(json).toMatchObject([
    { name: 'notes', trust: 'not trusted', kind: 'stdio', sandbox: true },
    { name: 'leaky' },
    { name: 'hidden' },
  ])
  expect(json[0]?.describes[0]).toContain('notes.js')
  const stale = await app.send('POST /api/mcp/servers/notes/trust', { config_hash: 'another' })
  expect(stale.status).toBe(409)
  expect((await app.send('POST /api/mcp/servers/notes/trust', { config_hash: '' }, 'admin')).status).toBe(403)
  expect((await app.send('GET /api/mcp/servers/other')).status).toBe(404)
})

test('what an MCP server writes or is started with is told without its secrets, also by a test', async () => {
  const { json }: { json: { config_hash: string } } = await app.send('GET /api/mcp/servers/leaky')
  await app.send('POST /api/mcp/servers/leaky/trust', { config_hash: json.config_hash })
  const tested: { json: { problems: string[] } } = await app.send('POST /api/mcp/servers/leaky/test', {})
  expect(tested.json.problems.join()).toContain('NOTES_API_KEY=')
  const seen: { json: object } = await app.send('GET /api/mcp/servers/leaky')
  expect(JSON.stringify([json, tested.json, seen.json])).not.toContain('tea4two')
  await app.send('POST /api/mcp/servers/leaky/forget', {})
})

test('an MCP server of which a part is masked is not trusted where nobody can read that part', async () => {
  const { json }: { json: { config_hash: string; describes: string[] } } = await app.send(
    'GET /api/mcp/servers/hidden',
  )
  expect(json.describes.join()).not.toMatch(/run\(1\)|tea4two/)
  expect(json.describes.at(-1)).toContain('kogu mcp trust hidden shows all of it in a terminal')
  const { config_hash } = json
  expect(await app.send('POST /api/mcp/servers/hidden/trust', { config_hash })).toMatchObject({
    status: 409,
    json: { detail: 'A part of it looks like a secret and is not shown here.' },
  })
})

test('the configuration is shown with its origins, and the doctor reports without the path of the home', async () => {
  const { json }: { json: { settings: { key: string; origin: object }[]; warnings: object[] } } =
    await app.send('GET /api/config')
  const mode = json.settings.find(({ key }) => key === 'mode')
  expect(mode).toMatchObject({ value: 'ask', origin: { layer: 'user', line: 1 } })
  // Written out, and known as a secret only by what it is called.
  expect(json.settings.map(({ key }) => key)).toContain('mcp.notes.env.NOTES_TOKEN')
  expect(JSON.stringify(json)).not.toContain('tea4two')
  expect(json.warnings).toMatchObject([{ message: expect.stringContaining("'language'"), line: 2 }])
  const { json: report } = await app.send('GET /api/doctor')
  expect(report).toMatchObject({
    checks: expect.arrayContaining([
      expect.objectContaining({ id: 'runtime', status: 'ok' }),
      expect.objectContaining({ id: 'config', summary: expect.stringContaining('~/.config/kogu') }),
    ]),
  })
  expect(JSON.stringify(report)).not.toContain(app.machine.home)
  expect((await app.send('GET /api/trust')).json).toMatchObject({ status: 'not-needed', lines: [] })
})

test('dynamic tools are listed, and an unknown one is not found', async () => {
  expect((await app.send('GET /api/dynamic-tools')).json).toMatchObject({ enabled: true, items: [] })
  expect((await app.send('GET /api/dynamic-tools/nothing')).status).toBe(404)
  for (const verb of ['quarantine', 'promote'])
    expect((await app.send(`POST /api/dynamic-tools/nothing/${verb}`, { hash: '' })).status).toBe(404)
})

test('recorded calls are listed one row each, in pages, by what decided them', async () => {
  app.machine.write('a.txt', 'hello')
  for (const path of ['a.txt', 'a.txt', 'missing.txt'])
    await app.send('POST /api/calls', { tool: 'read_file', input: { path } })
  type Page = {
    json: { items: { call: string; input: { path: string }; ok: boolean }[]; next: string | null }
  }
  const first: Page = await app.send('GET /api/audit/calls?limit=2&tool=read_file')
  expect(first.json.items).toMatchObject([{ input: { path: 'missing.txt' }, ok: false }, { ok: true }])
  const second: Page = await app.send(`GET /api/audit/calls?limit=2&tool=read_file&cursor=${first.json.next}`)
  expect(second.json).toMatchObject({ items: [{ input: { path: 'a.txt' }, ok: true }], next: null })
  expect(first.json.items.map(({ call }) => call)).not.toContain(second.json.items[0]?.call)
  const failed: Page = await app.send('GET /api/audit/calls?ok=false&text=MISSING.TXT')
  expect(failed.json.items).toHaveLength(1)
  expect((await app.send('GET /api/audit/calls?outcome=deny')).json).toMatchObject({ items: [] })
  expect((await app.send('GET /api/audit/summary')).json).toMatchObject({ calls: 3, outcomes: { allow: 3 } })
})

test('a tool that is called by the name of what every object has is counted like any other', async () => {
  await app.send('POST /api/calls', { tool: '__proto__', input: {} })
  const { json }: { json: { tools: object } } = await app.send('GET /api/audit/summary')
  expect(Object.entries(json.tools)).toContainEqual(['__proto__', { deny: 1 }])
  expect({}).not.toHaveProperty('deny')
})

test('other rules are tried on recorded calls without being saved, and saved only when they can be used', async () => {
  const text = '[[permissions.rules]]\nid = "no"\ndecision = "deny"\ntool = "read_file"\npath = ["a.txt"]\n'
  const report: { json: { changed: object[] } } = await app.send('POST /api/rules/dry-run', { text })
  expect(report.json).toMatchObject({
    transitions: { 'allow->deny': 2 },
    changed: [{ by: 'no (draft:1)' }, {}],
  })
  const ofProject: { json: { changed: object[] } } = await app.send('POST /api/rules/dry-run', {
    ...{ text, layer: 'project' },
  })
  expect(ofProject.json).toMatchObject({ transitions: { 'allow->deny': 2 } })
  expect((await app.send('GET /api/rules')).json).toEqual([])
  const broken = await app.send('POST /api/rules/dry-run', { text: '[permissions]\nrules = 1\n' })
  expect(broken.status).toBe(400)
  const { json }: { json: { hash: string; text: string } } = await app.send('GET /api/config/files/user')
  const wanted = `${json.text}\n${text}`
  expect((await app.send('POST /api/config/files/user/check', { text: wanted })).json).toMatchObject({
    problems: [],
    diff: expect.stringContaining('+id = "no"'),
  })
  const put = (body: object, ...scopes: 'admin'[]) => app.send('PUT /api/config/files/user', body, ...scopes)
  expect((await put({ text: wanted, base: json.hash }, 'admin')).status).toBe(403)
  expect((await put({ text: wanted, base: null })).status).toBe(409)
  expect((await put({ text: 'mode = 3', base: json.hash })).status).toBe(400)
  expect((await put({ text: wanted, base: json.hash })).status).toBe(200)
})

test('a dynamic tool is promoted, released and edited only as it was looked at', async () => {
  const made: { json: { question: string } } = await app.send('POST /api/calls', {
    tool: 'create_tool',
    input: { name: 'one', description: 'One.', code: 'function execute() { return 1 }\n', parameters: {} },
  })
  const path = `/api/approvals/${made.json.question}`
  const { json: asked }: { json: { digest: string; isDangerous: boolean } } = await app.send(`GET ${path}`)
  const confirm = asked.isDangerous ? { confirm: 'create_tool' } : {}
  await app.send(`POST ${path}/answer`, { answer: 'once', digest: asked.digest, ...confirm })
  await app.send(`POST ${path}/continue`, {})
  const { json: seen }: { json: { hash: string } } = await app.send('GET /api/dynamic-tools/one')
  const edit = { code: 'function execute() { return 2 }\n', hash: seen.hash }
  expect((await app.send('POST /api/dynamic-tools/one/edit', edit)).status).toBe(200)
  for (const verb of ['promote', 'release', 'edit'])
    expect((await app.send(`POST /api/dynamic-tools/one/${verb}`, edit)).status).toBe(409)
  const { json: now }: { json: { hash: string } } = await app.send('GET /api/dynamic-tools/one')
  expect((await app.send('POST /api/dynamic-tools/one/promote', { hash: now.hash })).json).toMatchObject({
    ...{ version: 2, scope: 'user' },
  })
})
