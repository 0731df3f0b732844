import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Approver } from '../src/core/approval.ts'
import { pinOf } from '../src/providers/mcp/tool-definition.ts'
import type { WebClientOptions } from '../src/tools/web/web-client.ts'
import { openTestRuntime, reopenTestRuntime, type TestRuntime } from './support/runtime.ts'
import { PUBLIC, testInternet } from './support/web.ts'

const HOSTILE = join(import.meta.dirname, 'support', 'hostile-mcp-server.ts')
const yes: Approver = { ask: async () => ({ kind: 'once', user: 'kim' }) }
const boxes: TestRuntime[] = []
afterEach(async () => {
  for (const box of boxes.splice(0)) await box.close()
})

/** A runtime with one server, trusted unless told otherwise. */
async function open(config: string, options: OpenOptions = {}): Promise<TestRuntime> {
  const { trusted = true, approver = yes, web } = options
  const box = await openTestRuntime(config, approver, web)
  boxes.push(box)
  if (trusted) await trust(box)
  return box
}

interface OpenOptions {
  trusted?: boolean
  approver?: Approver
  web?: WebClientOptions
}

async function trust({ runtime }: TestRuntime): Promise<void> {
  const admin = await runtime.mcp()
  for (const server of admin.servers) {
    await admin.trust(server)
    await runtime.registry.refresh(`mcp:${server.name}`)
  }
}

const hostile = (mode: string, more = '', args: readonly string[] = []) => `
[mcp.bad]
command = ${JSON.stringify([process.execPath, HOSTILE, mode, ...args])}
start_timeout = "20s"
${more}
`
const listed = ({ runtime }: TestRuntime) =>
  runtime.registry
    .list()
    .map(entry => entry.tool.name)
    .filter(name => name.includes('__'))
const call = ({ runtime }: TestRuntime, tool: string, input: object = {}) => runtime.call({ tool, input })

describe('a hostile server', () => {
  // One for what is told with the call: a start takes most of the time of a test.
  let any: TestRuntime
  beforeAll(async () => {
    any = await open(hostile('fine', 'env = { GIVEN = "1" }'))
    boxes.pop()
  })
  afterAll(() => any.close())
  const does = (mode: string) => call(any, 'bad__good', { mode })

  test('with bad schemas keeps its good tools, and each bad one is named', async () => {
    const box = await open(hostile('schemas'))
    expect(listed(box)).toEqual(['bad__good', 'bad__odd_output', 'bad__root_anyof', 'bad__slow_pattern'])
    const problems = box.runtime.registry.problems().join('\n')
    for (const name of ['string_input', 'no_schema', 'schema_is_text', 'dead_reference', 'exploding']) {
      expect(problems).toContain(name)
    }
    expect((await call(box, 'bad__good')).text).toBe('fine')
    expect((await call(box, 'bad__slow_pattern', { a: `${'a'.repeat(50)}!` })).error?.code).toBe(
      'invalid_input',
    )
  })

  test('with a tool that is nested without end keeps the others', async () => {
    const box = await open(hostile('deep'))
    expect(listed(box)).toEqual(['bad__good'])
    expect(box.runtime.registry.problems().join()).toContain('"deep" is left out: it is nested too deeply')
  })

  test('with names that clash, are too long or odd cannot take a name, and each keeps one of its own', async () => {
    const box = await open(hostile('names'))
    const names = listed(box)
    expect(names).toHaveLength(5)
    expect(new Set(names).size).toBe(5)
    for (const name of names) expect(name).toMatch(/^bad__[A-Za-z0-9_-]{1,59}$/)
    expect(names.filter(name => name.endsWith('y') || /y_[0-9a-f]{8}$/.test(name))).toHaveLength(1)
    expect(box.runtime.registry.problems().join()).toContain('offered twice')
    expect((await call(box, 'bad__good')).text).toBe('fine')
  })

  test('hides nothing in descriptions, and says no more than a person reads', async () => {
    const box = await open(hostile('escapes'))
    const { tool } = await box.runtime.registry.resolve('bad__good')
    const shown = tool.description + JSON.stringify(tool.input.json)
    expect(shown).not.toMatch(/[\u001b\u202e\u{e0041}]/u)
    expect(shown).toContain('⟨U+202E⟩')
    expect(tool.description.length).toBeLessThanOrEqual(2048)
  })

  test('that prints noise is understood', async () => {
    expect((await call(await open(hostile('noise')), 'bad__good')).text).toBe('fine')
  })

  test('that crashes during a call fails it, is not asked again by itself, and is started anew', async () => {
    expect((await does('crash')).error).toMatchObject({
      code: 'failed',
      message: expect.stringMatching(/lost during the call: it exited with code 3, and wrote: out of cheese/),
      hint: expect.stringContaining('not repeated'),
    })
    expect((await does('crash')).error?.message).toContain('lost during the call')
    expect((await does('fine')).text).toBe('fine')
  })

  test('that asks somebody gets no answer where nobody can be asked', async () => {
    expect((await does('asks')).text).toBe('{"action":"cancel"}')
  })

  test('that hangs is given up, and cancelling works', async () => {
    const box = await open(hostile('hang', 'timeout = "1s"'))
    expect((await call(box, 'bad__good')).error?.message).toMatch(/timed out/i)
    const stop = new AbortController()
    const beforeRun = async (): Promise<void> => void setImmediate(() => stop.abort())
    const result = await box.runtime.call({ tool: 'bad__good', input: {}, signal: stop.signal, beforeRun })
    expect(result.error?.code).toBe('cancelled')
  })

  test.each([
    ['says nothing', 'silent', '"1s"', /did not|timed out/i],
    ['dies at once', 'dies', '"20s"', /exited with code 7/],
  ])('that %s is down, says why, and holds up nothing else', async (_, mode, patience, reason) => {
    const box = await open(hostile(mode).replace('"20s"', patience))
    expect(listed(box)).toEqual([])
    expect(box.runtime.registry.problems().join()).toMatch(reason)
    const admin = await box.runtime.mcp()
    expect(admin.servers.map(server => admin.record(server)?.last?.problem)).toEqual([
      expect.stringMatching(reason),
    ])
    box.write('a.txt', 'here\n')
    expect((await call(box, 'read_file', { path: 'a.txt' })).ok).toBe(true)
  })

  test('that answers too much is cut or ended', async () => {
    expect((await does('huge')).text.length).toBeLessThan(1_100_000)
    expect((await does('endless-line')).error?.message).toContain('10 MiB')
  })

  test('says nothing that is obeyed: results are labelled, redacted and escaped', async () => {
    const { text, label } = await does('inject')
    expect(text).not.toMatch(/[\u001b\u202e]|ghp_/)
    expect(label).toEqual({ origin: 'mcp', trusted: false, source: 'bad' })
    expect(await does('error')).toMatchObject({
      ok: false,
      error: { message: 'It went wrong.' },
      label: { origin: 'mcp' },
    })
  })

  test('that changes its tools after they were approved has them held, until a person has seen the difference', async () => {
    const place = join(import.meta.dirname, `.rug-${process.pid}`)
    const box = await open(hostile('rug', 'sandbox = false', [place]))
    try {
      expect((await call(box, 'bad__good')).ok).toBe(true)
      writeFileSync(place, '')
      // A grant or an answer for the old one must not cover it: it does not run at all.
      await box.runtime.registry.refresh('mcp:bad')
      expect((await call(box, 'bad__good')).error?.code).toBe('conflict')
      expect(listed(box)).toEqual([])
      expect(box.runtime.registry.problems().join('\n')).toMatch(
        /"good" has changed .*description[\s\S]*"new" is new/,
      )
      const admin = await box.runtime.mcp()
      const [server] = admin.servers
      if (server === undefined) throw new Error('no server')
      const good = admin.record(server)?.held.good
      if (good === undefined) throw new Error('it is not held')
      // Only what was looked at: a server may change its mind once more before somebody says yes.
      const other = pinOf({ ...good, description: 'Harmless.' })
      await expect(admin.approve(server, [other])).rejects.toThrow('have changed since you looked at them')
      expect(await admin.approve(server, [pinOf(good)])).toEqual(['good'])
      await box.runtime.registry.refresh('mcp:bad')
      expect((await call(box, 'bad__good')).ok).toBe(true)
      expect(listed(box)).toEqual(['bad__good'])
    } finally {
      rmSync(place, { force: true })
    }
  })

  test('that says its tools have changed is asked which, before anything else is called', async () => {
    const box = await open(hostile('fine'))
    const { runtime } = box
    expect(await call(box, 'bad__good', { mode: 'turn' })).toMatchObject({ ok: true, text: 'turned' })
    expect((await call(box, 'bad__good')).error).toMatchObject({
      code: 'conflict',
      message: "The MCP server 'bad' has changed this tool since it was approved.",
    })
    expect(runtime.registry.problems().join()).toContain('"good" has changed')
    // Nor does the next Kogu offer what is known to be held, although it has not started the server.
    const next = await reopenTestRuntime(box, yes)
    boxes.push(next)
    await next.runtime.registry.settled()
    expect(listed(next)).toEqual([])
    expect(next.runtime.registry.problems().join()).toContain('"good" has changed')
  })

  test('that says its tools have changed and does not say which is not called, however often one tries', async () => {
    const box = await open(hostile('fine'))
    expect((await call(box, 'bad__good', { mode: 'hide' })).ok).toBe(true)
    const both = await Promise.all([call(box, 'bad__good'), call(box, 'bad__good')])
    expect([...both, await call(box, 'bad__good')].map(({ ok }) => ok)).toEqual([false, false, false])
  })

  test('is not called any more when another process took the trust back', async () => {
    const box = await open(hostile('fine'))
    expect((await call(box, 'bad__good')).ok).toBe(true)
    const admin = await box.runtime.mcp()
    for (const server of admin.servers) await admin.forget(server)
    expect((await call(box, 'bad__good')).error?.message).toContain('it is not trusted yet')
  })

  test('without a sandbox is called so wherever its tools appear', async () => {
    const box = await open(hostile('fine', 'sandbox = false'))
    const { reasons, access } = await box.runtime.explain({ tool: 'bad__good', input: {} })
    expect(reasons).toEqual([
      'Calling a tool of an MCP server needs an approval: bad (WITHOUT A SANDBOX): good.',
    ])
    expect(access).toEqual([{ kind: 'custom', name: 'mcp', details: 'bad (WITHOUT A SANDBOX): good' }])
    expect(box.runtime.registry.statistics().at(-1)?.displayName).toBe('MCP server bad, without a sandbox')
  })

  test('sees and changes nothing beyond its walls', async () => {
    const variables = JSON.parse((await does('environment')).text)
    expect(variables).toMatchObject({ GIVEN: '1', KOGU_CALL: 'mcp:bad' })
    expect(Object.keys(variables).filter(name => /TOKEN|SECRET|KEY|NODE_/.test(name))).toEqual([])
    const target = join(any.workspace, 'planted.txt')
    const writer = await open(hostile('write', '', [target]))
    expect((await call(writer, 'bad__good')).text).toMatch(/EROFS|ENOENT|EACCES/)
    expect(existsSync(target)).toBe(false)
  })
})

describe('a server on a layer', () => {
  test.each([
    ['that dies during the call', 'write-and-crash', /lost during the call/],
    ['that plants what git runs', 'write-hook', /pre-commit/],
  ])('%s changes nothing', async (_, mode, reason) => {
    const box = await open(hostile(mode, 'workspace = "layer"'))
    mkdirSync(join(box.workspace, '.git', 'hooks'), { recursive: true })
    expect((await call(box, 'bad__good')).error?.message).toMatch(reason)
    expect(existsSync(join(box.workspace, 'left.txt'))).toBe(false)
    expect(existsSync(join(box.workspace, '.git/hooks/pre-commit'))).toBe(false)
  })

  test('that changes its tools between two calls is not called', async () => {
    const place = join(import.meta.dirname, `.rug-layer-${process.pid}`)
    const box = await open(hostile('rug', 'workspace = "layer"', [place]))
    try {
      expect((await call(box, 'bad__good')).ok).toBe(true)
      writeFileSync(place, '')
      expect((await call(box, 'bad__good')).error?.code).toBe('conflict')
    } finally {
      rmSync(place, { force: true })
    }
  })
})

describe('a server', () => {
  test.each([
    ['http://other.invalid/', 'the server does not declare this host'],
    ['http://denied.invalid/', 'rule'],
  ])('in the sandbox does not reach %s', async (url, reason) => {
    const rule = '[[permissions.rules]]\ndecision = "deny"\nhost = "denied.invalid"\n'
    const hosts = 'hosts = ["named.invalid", "denied.invalid"]'
    const box = await open(rule + hostile('contact', hosts, [url]))
    expect((await call(box, 'bad__good')).text).toContain(reason)
  })

  test('is not started before a person has trusted its configuration', async () => {
    const place = join(import.meta.dirname, `.started-${process.pid}`)
    const box = await open(hostile('write', 'sandbox = false', [place]), { trusted: false })
    await box.runtime.registry.settled()
    expect(listed(box)).toEqual([])
    expect(box.runtime.registry.problems()).toEqual([
      'mcp:bad is down: it is not trusted yet: kogu mcp trust bad',
    ])
    expect((await call(box, 'bad__good')).error?.code).toBe('unknown_tool')
  })

  test('with a secret is not started from a program that an agent has written', async () => {
    const box = await open(`
[mcp.bad]
command = ${JSON.stringify([process.execPath, 'server.js'])}
env = { TOKEN = { env = "PATH" } }
`)
    box.write('server.js', `require('fs').writeFileSync('started', process.env.TOKEN)`)
    await box.runtime.registry.refresh('mcp:bad')
    expect(box.runtime.registry.problems().join()).toMatch(
      /gets a secret, and .*server\.js lies where an agent/,
    )
    expect(existsSync(join(box.workspace, 'started'))).toBe(false)
  })

  test('that is configured otherwise than it was trusted is not started', async () => {
    const box = await open(hostile('fine'))
    const path = join(box.home, '.local', 'state', 'kogu', 'mcp', 'bad.json')
    const record = JSON.parse(readFileSync(path, 'utf8'))
    // Approved tools are known from it, so that the server is not started for a list.
    expect(record).toMatchObject({ pins: { good: { name: 'good' } }, era: 'legacy' })
    writeFileSync(path, JSON.stringify({ ...record, config: 'another' }))
    await box.runtime.registry.refresh('mcp:bad')
    expect(box.runtime.registry.problems().join()).toContain(
      'its configuration has changed since it was trusted',
    )
  })

  test('asks like every tool of high risk, whatever it claims, and its tools are switched off by its own names', async () => {
    const nobody: Approver = { ask: async () => ({ kind: 'unavailable', reason: 'nobody' }) }
    const box = await open(hostile('rug', 'tools.off = ["oth*", "nothing-like-it"]', ['/nowhere']), {
      approver: nobody,
    })
    expect(listed(box)).toEqual(['bad__good'])
    expect(box.runtime.registry.problems().join()).toContain('no tool matches "nothing-like-it"')
    expect((await call(box, 'bad__good')).error?.code).toBe('needs_approval')
  })
})

const PACKAGES = join(import.meta.dirname, '..', 'node_modules', '@modelcontextprotocol')
const real = (name: string, script: string, more = '') => `
[mcp.${name}]
command = ${JSON.stringify([process.execPath, join(PACKAGES, script)])}
${more}
`

describe('a real server from npm', () => {
  test('everything: text, structured data, images, progress, in the sandbox', async () => {
    const box = await open(real('every', 'server-everything/dist/index.js', 'args = ["stdio"]'))
    expect((await call(box, 'every__get-sum', { a: 2, b: 3 })).text).toContain('5')
    const weather = await call(box, 'every__get-structured-content', { location: 'New York' })
    expect(weather.data).toMatchObject({ temperature: expect.any(Number) })
    expect((await call(box, 'every__get-tiny-image')).images?.[0]?.mimeType).toBe('image/png')
    const progress: string[] = []
    const long = { tool: 'every__trigger-long-running-operation', input: { duration: 1, steps: 3 } }
    await box.runtime.call({ ...long, onProgress: text => progress.push(text) })
    expect(progress.length).toBeGreaterThan(0)
    expect((await call(box, 'every__get-sum', { a: 'two' })).error?.code).toBe('invalid_input')
  })

  test('filesystem: its tools stand beside ours, and it can read the workspace only', async () => {
    const box = await open(real('files', 'server-filesystem/dist/index.js', 'args = ["."]'))
    box.write('a.txt', 'read me\n')
    expect((await call(box, 'files__read_text_file', { path: join(box.workspace, 'a.txt') })).text).toContain(
      'read me',
    )
    const written = await call(box, 'files__write_file', { path: join(box.workspace, 'b.txt'), content: 'x' })
    expect(written.error?.message).toContain('EROFS')
    expect((await box.runtime.registry.resolve('read_file')).provider.id).toBe('builtin')
  })

  test('filesystem on a layer: what a call changes is kept by the rules, and undone', async () => {
    const rule = '[[permissions.rules]]\ndecision = "deny"\ntool = "write_file"\npath = "secret/**"\n'
    const layered = 'args = ["."]\nworkspace = "layer"'
    const box = await open(rule + real('files', 'server-filesystem/dist/index.js', layered))
    box.write('a.txt', 'old\n')
    const write = (path: string) =>
      call(box, 'files__write_file', { path: join(box.workspace, path), content: 'new\n' })
    const written = await write('a.txt')
    expect(written.effects).toMatchObject([{ change: 'changed', path: join(box.workspace, 'a.txt') }])
    const content = () => readFileSync(join(box.workspace, 'a.txt'), 'utf8')
    expect(content()).toBe('new\n')
    await box.runtime.applyUndo(await box.runtime.planUndo({ calls: [written.call] }))
    expect(content()).toBe('old\n')
    mkdirSync(join(box.workspace, 'secret'))
    expect((await write('secret/b.txt')).error?.message).toMatch(/secret\/b\.txt/)
    expect((await write('.kogu/config.toml')).ok).toBe(false)
    expect((await write('nowhere/c.txt')).ok).toBe(false)
    expect(existsSync(join(box.workspace, 'secret/b.txt'))).toBe(false)
    expect(existsSync(join(box.workspace, '.kogu/config.toml'))).toBe(false)
  })

  test('memory and sequential-thinking: side by side, one with a folder that it may change', async () => {
    const folder = join(import.meta.dirname, '..', 'node_modules', `.kogu-test-memory-${process.pid}`)
    mkdirSync(folder, { recursive: true })
    const more = `env = { MEMORY_FILE_PATH = "${folder}/memory.json" }\nwrite = ["${folder}"]`
    const box = await open(
      real('memory', 'server-memory/dist/index.js', more) +
        real('think', 'server-sequential-thinking/dist/index.js'),
    )
    const entities = [{ name: 'kogu', entityType: 'program', observations: ['guards'] }]
    expect((await call(box, 'memory__create_entities', { entities })).ok).toBe(true)
    expect((await call(box, 'memory__search_nodes', { query: 'kogu' })).text).toContain('guards')
    expect(listed(box).filter(name => name.startsWith('think__'))).toHaveLength(1)
    rmSync(folder, { recursive: true, force: true })
  })
})

describe('a server over HTTP', () => {
  let seen: (string | undefined)[]
  let server: Server
  let port: number
  beforeEach(async () => {
    seen = []
    server = createServer((request, response) => {
      seen.push(request.headers['x-token'] as string | undefined)
      const chunks: Buffer[] = []
      request.on('data', chunk => chunks.push(chunk))
      request.on('end', () => answerRequest(JSON.parse(Buffer.concat(chunks).toString() || '{}'), response))
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    port = (server.address() as { port: number }).port
  })
  afterEach(() => {
    server.closeAllConnections()
    server.close()
  })

  test('is called with its headers; rules about hosts hold, and a plain address elsewhere is refused', async () => {
    const box = await open(`
[[permissions.rules]]
decision = "deny"
host = "*.forbidden.example"
[mcp.denied]
url = "https://mcp.forbidden.example/mcp"
[mcp.remote]
url = "http://127.0.0.1:${port}/mcp"
headers = { X-Token = "t0ken" }
[mcp.plain]
url = "http://mcp.example.com/mcp"
`)
    expect((await call(box, 'remote__ping')).text).toBe('pong')
    expect(new Set(seen)).toEqual(new Set(['t0ken']))
    const problems = box.runtime.registry.problems().join('\n')
    expect(problems).toContain('its url must begin with https:')
    expect(problems).toMatch(/mcp:denied is down: .*forbidden/)
  })

  test('elsewhere is reached at a public address only, also when its name resolves to another one later', async () => {
    const network = testInternet(port)
    network.names.set('inside.test', ['10.0.0.7'])
    network.names.set('keys.test', ['169.254.169.254'])
    let addresses = [PUBLIC]
    network.names.set('rebinds.test', () => addresses)
    const servers = ['good', 'inside', 'keys', 'rebinds']
    const box = await open(
      servers.map(name => `[mcp.${name}]\nurl = "https://${name}.test/mcp"\n`).join(''),
      {
        web: { network },
      },
    )
    expect((await call(box, 'good__ping')).text).toBe('pong')
    expect((await call(box, 'rebinds__ping')).text).toBe('pong')
    const problems = box.runtime.registry.problems().join('\n')
    expect(problems).toMatch(/mcp:inside is down: .*10\.0\.0\.7, a private address/)
    expect(problems).toMatch(/mcp:keys is down: .*169\.254\.169\.254/)
    addresses = ['127.0.0.1']
    expect((await call(box, 'rebinds__ping')).error?.message).toMatch(/resolves to 127\.0\.0\.1/)
    expect(new Set(network.dialled)).toEqual(new Set([`${PUBLIC}:443`]))
  })
})

function answerRequest({ id, method }: { id?: number; method?: string }, response: ServerResponse): void {
  const answer = (result: object) => {
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...result }))
  }
  const serverInfo = { name: 'http', version: '1' }
  if (method === 'initialize')
    answer({ result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo } })
  else if (method === 'tools/list')
    answer({ result: { tools: [{ name: 'ping', inputSchema: { type: 'object' } }] } })
  else if (method === 'tools/call') answer({ result: { content: [{ type: 'text', text: 'pong' }] } })
  else if (id === undefined) response.writeHead(202, { connection: 'close' }).end()
  else answer({ error: { code: -32601, message: 'no' } })
}
