import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSandboxed, PROGRAM, type Sandboxed } from './support/kogu.ts'
import { type Connected, type ConnectOptions, connectToKogu, ERAS } from './support/mcp-client.ts'

let box: Sandboxed
let open: Connected[]
beforeEach(() => {
  box = createSandboxed()
  box.write('a.txt', 'hello\n')
  open = []
})
afterEach(async () => {
  for (const { client } of open) await client.close()
  box.remove()
})

async function connect(options?: ConnectOptions): Promise<Connected> {
  const connected = await connectToKogu(box, options)
  open.push(connected)
  return connected
}
const HOSTILE = join(import.meta.dirname, 'support', 'hostile-mcp-server.ts')
const write = { path: 'b.txt', content: 'made\n' }

describe.each(ERAS)('a client of the %s era', era => {
  test('sees every tool with all four hints, always in the same order, and calls it', async () => {
    const { client, call } = await connect({ era })
    const { tools } = await client.listTools()
    const names = tools.map(tool => tool.name)
    expect(names).toEqual([...names].sort())
    expect(names).toEqual(expect.arrayContaining(['read_file', 'write_file', 'run_command']))
    for (const { annotations, inputSchema, title } of tools) {
      expect(annotations).toMatchObject({
        readOnlyHint: expect.any(Boolean),
        destructiveHint: expect.any(Boolean),
        idempotentHint: expect.any(Boolean),
        openWorldHint: expect.any(Boolean),
      })
      expect(inputSchema.type).toBe('object')
      expect(title).toBeTruthy()
    }
    const hints = Object.fromEntries(tools.map(tool => [tool.name, tool.annotations]))
    expect(hints.read_file).toMatchObject({
      readOnlyHint: true,
      destructiveHint: false,
      openWorldHint: false,
    })
    expect(hints.write_file).toMatchObject({ readOnlyHint: false, destructiveHint: true })
    expect(hints.run_command).toMatchObject({ destructiveHint: true, openWorldHint: true })
    expect(await call('read_file', { path: 'a.txt' })).toMatchObject({
      isError: false,
      text: expect.stringContaining('hello'),
    })
    expect(await call('read_file', { pth: 'a.txt' })).toMatchObject({ isError: true })
    const found = await client.callTool({ name: 'glob_search', arguments: { pattern: '*.txt' } })
    expect(found.structuredContent).toMatchObject({ files: [expect.stringMatching(/a\.txt$/)], total: 1 })
    const ran = await client.callTool({ name: 'run_command', arguments: { command: 'echo hi' } })
    expect(ran.structuredContent).toMatchObject({ exit_code: 0, stdout: 'hi\n' })
    // Their content is their text; what strangers wrote stays inside its fence.
    const textOnly = tools.filter(tool => tool.outputSchema === undefined).map(tool => tool.name)
    expect(textOnly).toEqual(['read_file', 'web_fetch', 'web_search'])
    await expect(call('no_such_tool', {})).rejects.toMatchObject({ code: -32602 })
  })

  // The client checks every answer against the schema that was listed.
  test('gets structured results that keep to their schemas', async () => {
    const { client } = await connect({ era, args: ['--client-approves'] })
    await client.listTools()
    const structured = async (name: string, input: Record<string, unknown> = {}) => {
      const { isError, structuredContent, content } = await client.callTool({ name, arguments: input })
      expect(isError, JSON.stringify(content)).toBeFalsy()
      return structuredContent
    }
    const patch = '*** Begin Patch\n*** Add File: p.txt\n+x\n*** End Patch'
    expect(await structured('apply_patch', { input: patch })).toEqual({ files: 1, done: [expect.anything()] })
    expect(await structured('move_file', { from: 'p.txt', to: 'q.txt' })).toMatchObject({ entries: 2 })
    for (const output_mode of ['content', 'files_with_matches', 'count'])
      expect(await structured('grep_search', { pattern: 'h', path: '.', output_mode })).toMatchObject({
        total: 1,
      })
    expect(await structured('command_list')).toEqual({ commands: [] })
    expect(await structured('find_tools', { query: 'patch' })).toMatchObject({ tools: expect.any(Array) })
    const code = 'function execute({ n }) { console.log("hi"); return [n] }'
    const made = await structured('create_tool', { name: 'wrap', description: 'd', code })
    expect(made).toMatchObject({ name: 'wrap', verificationStatus: 'passed' })
    const run = { tool_name: 'wrap', parameters: { n: 1 } }
    expect(await structured('run_dynamic_tool', run)).toMatchObject({ value: [1], logs: ['hi'] })
    expect(await structured('wrap', { n: 2 })).toEqual({ value: [2], logs: ['hi'] })
    expect(await structured('list_dynamic_tools')).toMatchObject({ count: 1, tools: [{ name: 'wrap' }] })
    const task = { task_description: 'convert', last_tool_result: 'x' }
    expect(await structured('tool_reflection', task)).toMatchObject({ outcome: 'create' })
    const gone = await structured('delete_dynamic_tool', { tool_name: 'wrap', confirm: true })
    expect(gone).toMatchObject({ tool_name: 'wrap' })
  })

  test('hears of a tool that was just made, and can call it at once', async () => {
    const changed = Promise.withResolvers<void>()
    const { client, call } = await connect({
      era,
      answer: () => ({ action: 'accept', content: { decision: 'once' } }),
      onToolsChanged: changed.resolve,
    })
    const code = 'function execute(params) { return params.text.toUpperCase() }'
    expect(await call('create_tool', { name: 'shout', description: 'Shouts', code })).toMatchObject({
      isError: false,
    })
    expect(await call('shout', { text: 'tea' })).toMatchObject({ text: expect.stringContaining('TEA') })
    await changed.promise
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('shout')
  })

  test('fills in the form of a server under Kogu, after it has said that the call may run', async () => {
    const asked: string[] = []
    box.configure(
      `[mcp.asker]\ncommand = ${JSON.stringify([process.execPath, HOSTILE, 'asks'])}\ntimeout = "20s"\n`,
    )
    expect(box.run(['mcp', 'trust', 'asker', '--yes']).code).toBe(0)
    let city = 'Kyoto'
    const { call } = await connect({
      era,
      answer: message => {
        asked.push(message)
        if (!message.includes('Which city?')) return { action: 'accept', content: { decision: 'session' } }
        return city === '' ? { action: 'decline' } : { action: 'accept', content: { city } }
      },
    })
    expect(JSON.parse((await call('asker__good', {})).text)).toEqual({
      action: 'accept',
      content: { city: 'Kyoto' },
    })
    city = ''
    expect(JSON.parse((await call('asker__good', {})).text)).toEqual({ action: 'decline' })
    const form = asked.filter(message => message.includes('city'))
    expect(form).toHaveLength(2)
    expect(form[0]).toMatch(/^The MCP server 'asker' asks: Which city\?[^\u001b]*$/)
  })

  test('asks its person, and the answer holds for this call alone', async () => {
    const asked: string[] = []
    const { call } = await connect({
      era,
      answer: message => {
        asked.push(message)
        return { action: 'accept', content: { decision: 'once' } }
      },
    })
    expect(await call('write_file', write)).toMatchObject({ isError: false })
    expect(box.read('b.txt')).toBe('made\n')
    await call('write_file', { path: 'c.txt', content: 'x' })
    expect(asked).toHaveLength(2)
    expect(asked[0]).toContain('+made')
    expect(readdirSync(join(box.workspace, '.kogu', 'approvals'))).toEqual([])
    const events = box.json(['audit', 'list'])
    expect(events.filter((event: { type: string }) => event.type === 'approval-answered')).toHaveLength(2)
    expect(box.run(['audit', 'verify']).code).toBe(0)
  })

  test('asks its person about a file that holds secrets too, as one call', async () => {
    box.write('.env', 'KEY=1\n')
    const { call } = await connect({
      era,
      answer: () => ({ action: 'accept', content: { decision: 'once' } }),
    })
    expect(await call('read_file', { path: '.env' })).toMatchObject({
      isError: false,
      text: expect.stringContaining('KEY=1'),
    })
    const events: { type: string; tool?: string }[] = box.json(['audit', 'list'])
    expect(events.filter(({ tool, type }) => tool === 'read_file' && type !== 'approval-requested')).toEqual([
      expect.objectContaining({ ok: true }),
    ])
  })

  test.each([
    ['declines', { action: 'decline' }, 'denied'],
    ['answers no', { action: 'accept', content: { decision: 'deny' } }, 'denied'],
    ['answers something else', { action: 'accept', content: { decision: 'always' } }, 'denied'],
    ['closes the form', { action: 'cancel' }, 'needs_approval'],
  ] as const)('that %s runs nothing', async (_, answer, code) => {
    const { call } = await connect({ era, answer: () => ({ ...answer }) })
    expect(await call('write_file', write)).toMatchObject({
      isError: true,
      text: expect.stringContaining(code),
    })
    expect(existsSync(join(box.workspace, 'b.txt'))).toBe(false)
  })

  test('is asked about one check inside of self_eval after another, and repeats none', async () => {
    box.configure('[[permissions.rules]]\ndecision = "ask"\ncommand = ["make", "**"]\n')
    box.write('Makefile', 'build:\n\t@echo x >> log.txt\nlint:\n\t@echo y >> log.txt\n')
    const asked: string[] = []
    const answer = (message: string) => {
      asked.push(message)
      return { action: 'accept' as const, content: { decision: 'once' } }
    }
    const evaluate = { checks: ['build', 'lint'] }
    const { call } = await connect({ era, answer })
    expect((await call('self_eval', evaluate)).text).toMatch(/^build: passed.*\nlint: passed/)
    expect(asked).toEqual([expect.stringContaining('make build'), expect.stringContaining('make lint')])
    expect(asked[0]).toContain('It is a part of self_eval.')
    expect(box.read('log.txt')).toBe('x\ny\n')
    // A client that cannot ask repeats the call.
    const other = await connect({ era })
    for (const _ of evaluate.checks) {
      const { text } = await other.call('self_eval', evaluate)
      const [, id = ''] = /kogu approvals approve (q-[0-9a-f]+)/.exec(text) ?? []
      expect(box.run(['approvals', 'approve', id]).code, text).toBe(0)
    }
    expect((await other.call('self_eval', evaluate)).text).toMatch(/^build: passed.*\nlint: passed/)
    expect(box.read('log.txt')).toBe('x\ny\nx\ny\n')
  })

  test('that cannot ask is told how to get an answer, and repeats the call', async () => {
    const { call } = await connect({ era })
    const refused = await call('write_file', write)
    const [, id = ''] = /kogu approvals approve (q-[0-9a-f]+)/.exec(refused.text) ?? []
    expect(await call('write_file', write)).toMatchObject({ text: expect.stringContaining(id) })
    expect(box.run(['approvals', 'approve', id]).code).toBe(0)
    expect(await call('write_file', write)).toMatchObject({ isError: false })
    expect(await call('write_file', { ...write, content: 'again\n' })).toMatchObject({ isError: true })
    expect(box.read('b.txt')).toBe('made\n')
  })
})

test('an answer for the session is not asked for again, and ends with the connection', async () => {
  let asked = 0
  const answer = () => {
    asked += 1
    return { action: 'accept', content: { decision: 'session' } } as const
  }
  const first = await connect({ answer })
  for (const path of ['b.txt', 'c.txt']) await first.call('write_file', { path, content: 'x' })
  expect(asked).toBe(1)
  const second = await connect({ answer })
  await second.call('write_file', { path: 'd.txt', content: 'x' })
  expect(asked).toBe(2)
})

test('a client that approves by itself is not asked again, except for what is dangerous', async () => {
  const { call } = await connect({ args: ['--client-approves'] })
  expect(await call('write_file', write)).toMatchObject({ isError: false })
  expect(await call('run_command', { command: 'git push --force' })).toMatchObject({ isError: true })
  expect(await call('write_file', { path: '/etc/x', content: '' })).toMatchObject({
    text: expect.stringContaining('forbidden'),
  })
})

test('a change that is too long for a form is not approved in one', async () => {
  const { call } = await connect({ answer: () => ({ action: 'accept', content: { decision: 'once' } }) })
  const refused = await call('write_file', { path: 'long.txt', content: 'line\n'.repeat(400) })
  expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('kogu approvals approve q-') })
  expect(existsSync(join(box.workspace, 'long.txt'))).toBe(false)
})

test('what is dangerous needs its phrase typed, as on the terminal', async () => {
  let phrase: string | undefined
  const { call } = await connect({
    answer: message => {
      expect(message).toContain('DANGEROUS')
      return { action: 'accept', content: { decision: 'once', ...(phrase === undefined ? {} : { phrase }) } }
    },
  })
  const push = () => call('run_command', { command: 'git push --force' })
  expect(await push()).toMatchObject({ isError: true, text: expect.stringContaining('denied') })
  phrase = 'yes'
  expect(await push()).toMatchObject({ isError: true, text: expect.stringContaining('denied') })
  phrase = 'approve run_command'
  expect((await push()).text).toContain('not a git repository')
})

test('names are those that were asked for', async () => {
  const { client, call } = await connect({ args: ['--names', 'claude'] })
  const names = (await client.listTools()).tools.map(tool => tool.name)
  expect(names).toEqual(expect.arrayContaining(['Read', 'Edit', 'Write', 'Bash', 'Grep', 'Glob']))
  expect(names).not.toContain('read_file')
  expect(await call('Read', { file_path: 'a.txt' })).toMatchObject({ isError: false })
})

test('a call reports progress, and cancelling it ends everything it started', async () => {
  const { client } = await connect()
  const lines: string[] = []
  const stop = new AbortController()
  const command = 'for i in 1 2 3 4 5 6 7 8 9; do echo line $i; sleep 1; done'
  const running = client.callTool(
    { name: 'run_command', arguments: { command } },
    {
      signal: stop.signal,
      onprogress: ({ message = '' }) => {
        lines.push(message)
        stop.abort()
      },
    },
  )
  await expect(running).rejects.toThrow()
  expect(lines[0]).toBe('line 1')
  await expect.poll(() => box.json(['audit', 'list'])[0]?.error?.code, { timeout: 10_000 }).toBe('cancelled')
})

test('a request that comes in pieces has the same answer as one that comes whole', async () => {
  const server = spawn(process.execPath, [PROGRAM, 'mcp'], {
    cwd: box.workspace,
    env: box.env,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]()
  const next = async () => {
    for (;;) {
      const message = JSON.parse((await lines.next()).value ?? '')
      // Not that the list of tools has changed.
      if ('id' in message) return message
    }
  }
  const clientInfo = { name: 'raw', version: '1' }
  const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
  server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: hello })}\n`)
  await next()
  server.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
  const ask = async (request: object, isWhole: boolean) => {
    const line = `${JSON.stringify({ jsonrpc: '2.0', id: 2, ...request })}\n`
    if (!isWhole) {
      server.stdin.write(line.slice(0, 20))
      await setImmediate()
    }
    server.stdin.write(isWhole ? line : line.slice(20))
    const answer = await next()
    delete answer.result?._meta?.['kogu/call']
    return answer
  }
  const inputs = [{ path: 'a.txt' }, { path: 'none.txt' }, { pth: 'a.txt' }, { path: '.git' }]
  const calls = inputs.map(input => ({
    method: 'tools/call',
    params: { name: 'read_file', arguments: input },
  }))
  // What comes whole first is answered before the SDK is there.
  for (const request of [{ method: 'tools/list' }, { method: 'tools/list', params: {} }, ...calls])
    expect(await ask(request, true)).toEqual(await ask(request, false))
  server.stdin.end()
  await once(server, 'exit')
})

// A number that no other process of this machine sleeps for.
const SECONDS = `9.${process.pid}`

function findSleepers(): string[] {
  return readdirSync('/proc').filter(pid => {
    try {
      return /^[^\0]*sleep\0([\d.]+)/.exec(readFileSync(`/proc/${pid}/cmdline`, 'utf8'))?.[1] === SECONDS
    } catch {
      return false
    }
  })
}

test('the server ends with its input and leaves nothing behind', async () => {
  const server = spawn(process.execPath, [PROGRAM, 'mcp'], {
    cwd: box.workspace,
    env: box.env,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const hello = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
  }
  const call = {
    jsonrpc: '2.0',
    id: 2,
    method: 'tools/call',
    params: { name: 'run_command', arguments: { command: `sleep ${SECONDS}` } },
  }
  server.stdin.write(`${JSON.stringify(hello)}\n`)
  await once(server.stdout, 'data')
  server.stdin.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}\n${JSON.stringify(call)}\n`)
  await expect.poll(() => findSleepers(), { timeout: 20_000 }).not.toEqual([])
  server.stdin.end()
  const [code] = await once(server, 'exit')
  expect(code).toBe(0)
  expect(findSleepers()).toEqual([])
  expect(box.json(['audit', 'list'])).toMatchObject([{ tool: 'run_command', error: { code: 'cancelled' } }])
})

test('a line of 11 MB is answered, the next one is read, and the program ends with its input', async () => {
  const server = spawn(process.execPath, [PROGRAM, 'mcp'], {
    cwd: box.workspace,
    env: box.env,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(server, 'exit')
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]()
  const say = (message: object): void =>
    void server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const heard = async () => JSON.parse((await lines.next()).value ?? 'null')
  say({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
  })
  expect(await heard()).toMatchObject({ id: 1, result: {} })
  say({ method: 'notifications/initialized' })
  say({
    id: 2,
    method: 'tools/call',
    params: { name: 'write_file', arguments: { path: 'b', content: 'x'.repeat(11_000_000) } },
  })
  expect(await heard()).toMatchObject({ id: 2, error: { code: -32_600 } })
  say({ id: 3, method: 'ping' })
  expect(await heard()).toMatchObject({ id: 3, result: {} })
  server.stdin.end()
  expect((await ended)[0]).toBe(0)
})
