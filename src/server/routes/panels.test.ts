import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openTestApp, type TestApp } from '../../../test/support/app.ts'

let app: TestApp

beforeAll(async () => {
  app = await openTestApp({ database: true })
  app.machine.write('talks.toml', '[[answer]]\ntext = "Hello."\n')
}, 60_000)
afterAll(() => app.close())

interface Panel {
  hash: string
  state: string
  text: string
}

const file = (): string => join(app.machine.workspace, '.kogu/panels/greeter.toml')

test('a call can be judged under the settings that a panel would give a tool', async () => {
  const judge = async (path: string, settings?: object) => {
    const call = {
      tool: 'write_file',
      input: { path, content: 'x' },
      ...(settings === undefined ? {} : { settings }),
    }
    return app.send('POST /api/rules/test', call)
  }
  const settings = { allowed_dirs: ['reports'] }
  expect((await judge('reports/a.md', settings)).json).toMatchObject({ decision: 'ask' })
  expect((await judge('src/a.md', settings)).json).toMatchObject({ decision: 'deny' })
  expect((await judge('src/a.md')).json).toMatchObject({ decision: 'ask' })
  expect(await judge('src/a.md', { allowed_dirs: 'reports' })).toMatchObject({ status: 400 })
})

test('the verdicts of a panel are those that its own calls meet', async () => {
  const judge = async (settings: object) => {
    const { json }: { json: { tool: string; outcome: string }[] } = await app.send(
      'POST /api/tools/verdicts',
      { panel: 'greeter', ...settings },
    )
    return Object.fromEntries(json.map(({ tool, outcome }) => [tool, outcome]))
  }
  const tools = { file_write: {}, git_ops: {}, run_command: {}, read_file: { enabled: false } }
  expect(await judge({ tools })).toEqual({ write_file: 'ask', git_ops: 'allow', run_command: 'allow' })
  expect(await judge({ mode: 'read-only', tools })).toMatchObject({ write_file: 'deny' })
  const own = {
    write_file: { allowed_dirs: [] },
    git_ops: { git: 'Disabled' },
    run_command: { allowed_commands: [] },
    web_fetch: { allowed_hosts: [] },
  }
  expect(await judge({ tools: own })).toEqual({
    ...{ write_file: 'deny', git_ops: 'deny', run_command: 'deny', web_fetch: 'deny' },
  })
  const wrong = { panel: 'greeter', tools: { write_file: { allowed_dir: ['x'] } } }
  expect(await app.send('POST /api/tools/verdicts', wrong)).toMatchObject({ status: 400 })
})

test('a panel is saved as settings, runs at once, keeps its versions, and is deleted', async () => {
  const settings = {
    prompt: 'Greet {{name}}: {{input}}',
    model: `rehearsal:${join(app.machine.workspace, 'talks.toml')}`,
    tools: { read_file: { enabled: true } },
  }
  const saved: { status: number; json: Panel } = await app.send('PUT /api/panels/greeter', {
    settings,
    base: null,
  })
  expect(saved).toMatchObject({ status: 200, json: { state: 'trusted', variables: ['name', 'input'] } })
  expect(readFileSync(file(), 'utf8')).toBe(saved.json.text)
  const started: { json: { id: string; task: string } } = await app.send('POST /api/runs', {
    panel: 'greeter',
    task: 'kindly',
    variables: { name: 'Kim' },
  })
  expect(started.json.task).toBe('Greet Kim: kindly')
  const text = `${saved.json.text}\n# changed\n`
  expect(await app.send('PUT /api/panels/greeter', { text, base: null })).toMatchObject({ status: 409 })
  const again = await app.send('PUT /api/panels/greeter', { text, base: saved.json.hash })
  expect(again).toMatchObject({ status: 200 })
  expect((await app.send('GET /api/panels/greeter/versions')).json).toMatchObject([
    { version: 2 },
    { version: 1, hash: saved.json.hash },
  ])
  const first: { json: Panel } = await app.send('GET /api/panels/greeter/versions/1')
  expect(first.json.text).toBe(saved.json.text)
  expect((await app.send('GET /api/panels')).json).toMatchObject([
    { name: 'greeter', last_run: { id: started.json.id } },
  ])
  const { json }: { json: Panel } = await app.send('GET /api/panels/greeter')
  expect((await app.send(`DELETE /api/panels/greeter?base=${json.hash}`)).status).toBe(204)
  expect(existsSync(file())).toBe(false)
}, 60_000)

test('a token that may not approve saves a panel that does not run before somebody looked at it', async () => {
  const wanted = { settings: { prompt: 'Hi {{input}}' }, base: null }
  const saved: { json: Panel } = await app.send('PUT /api/panels/unseen', wanted, 'admin')
  expect(saved.json.state).toBe('new')
  const refused = await app.send('POST /api/runs', { panel: 'unseen', task: 'x' })
  expect(refused).toMatchObject({ status: 403 })
  expect(await app.send('POST /api/panels/unseen/trust', { hash: 'another' })).toMatchObject({ status: 409 })
  const trusted = await app.send('POST /api/panels/unseen/trust', { hash: saved.json.hash })
  expect(trusted).toMatchObject({ status: 200, json: { state: 'trusted' } })
}, 60_000)

test('a panel that cannot be read is refused with the reason, and shown as broken when it is there', async () => {
  const bad = 'prompt = "x"\nnonsense = 1\n'
  expect(await app.send('PUT /api/panels/bad', { text: bad, base: null })).toMatchObject({ status: 400 })
  expect((await app.send('POST /api/panels/bad/check', { text: bad })).json).toMatchObject({ ok: false })
  app.machine.write('.kogu/panels/bad.toml', bad)
  expect((await app.send('GET /api/panels/bad')).json).toMatchObject({
    state: 'broken',
    text: bad,
    error: expect.stringContaining('nonsense'),
  })
})

test('listeners are told of files that somebody changed beside the server, and of tools that came', async () => {
  const { hub, workspaceWatch } = await app.services()
  await workspaceWatch.look()
  const before = hub.newest
  app.machine.write('.kogu/panels/late.toml', 'prompt = "x"')
  app.machine.write('.kogu/config.toml', 'mode = "read-only"\n')
  const provider = { id: 'test:late', displayName: 'late', priority: 1, start: async () => undefined }
  const remove = await app.machine.runtime.registerProvider({ ...provider, close: async () => undefined })
  await workspaceWatch.look()
  await remove()
  // The hub may hear of what was told before only now.
  await vi.waitFor(async () => {
    const told = (await hub.read(before)).map(({ event }) => event)
    expect(told).toEqual(
      expect.arrayContaining([
        { type: 'panel.changed', name: 'late' },
        { type: 'tool.changed' },
        expect.objectContaining({ type: 'config.changed' }),
      ]),
    )
  }, 5_000)
})

test('a panel without a model is saved, looked at and versioned like any other, and cannot be run alone', async () => {
  const settings = { kind: 'table', text: 'item,sold\n{{input}}' }
  const saved: { json: Panel } = await app.send('PUT /api/panels/sales', { settings, base: null })
  expect(saved.json).toMatchObject({ kind: 'table', state: 'trusted', variables: ['input'], settings })
  expect((await app.send('GET /api/panels/sales/versions')).json).toMatchObject([{ version: 1 }])
  expect(await app.send('POST /api/runs', { panel: 'sales', task: 'x' })).toMatchObject({
    status: 400,
    json: { detail: expect.stringContaining('no model works in it') },
  })
  const { json: agents }: { json: { id: string; name: string }[] } = await app.send('GET /api/agents')
  const { id } = agents.find(({ name }) => name === 'sales') ?? { id: '' }
  expect(await app.send('POST /api/runs', { agent_id: id, task: 'x' })).toMatchObject({ status: 400 })
  const wrong = { settings: { kind: 'table', prompt: 'x' }, base: null }
  expect(await app.send('PUT /api/panels/wrong', wrong)).toMatchObject({ status: 400 })
}, 60_000)

test('a folder panel shows the files that the rules let be seen, inside of the workspace only', async () => {
  app.machine.write('doc/a.md', 'a')
  app.machine.write('doc/node_modules/x.js', 'x')
  const outside = join(app.machine.home, 'outside')
  mkdirSync(outside)
  writeFileSync(join(outside, 'secret.txt'), 'secret')
  symlinkSync(outside, join(app.machine.workspace, 'doc/link'))
  symlinkSync(outside, join(app.machine.workspace, 'way-out'))
  const panel = async (name: string, folder: string) => {
    await app.send(`PUT /api/panels/${name}`, { settings: { kind: 'folder', folder }, base: null })
    return app.send(`POST /api/panels/${name}/files`, {})
  }
  expect(await panel('docs', 'doc')).toMatchObject({ status: 200, json: { files: ['doc/a.md'] } })
  const through = await panel('through', 'way-out')
  expect(JSON.stringify(through)).not.toContain('secret.txt')
  expect(through.status).toBe(403)
  expect(await panel('gone', 'no-such-folder')).toMatchObject({ status: 404 })
  const refused = { settings: { kind: 'folder', folder: '../outside' }, base: null }
  expect(await app.send('PUT /api/panels/outside', refused)).toMatchObject({ status: 400 })
}, 60_000)
