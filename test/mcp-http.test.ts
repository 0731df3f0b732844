import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSandboxed, PROGRAM, type Sandboxed } from './support/kogu.ts'

let box: Sandboxed
let server: ChildProcess
let url: string
let token: string
let tokenFile: string
beforeAll(async () => {
  box = createSandboxed()
  box.write('a.txt', 'hello\n')
  server = spawn(process.execPath, [PROGRAM, 'mcp', '--http', '--json'], {
    cwd: box.workspace,
    env: box.env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once((server.stdout ?? process.stdin).setEncoding('utf8'), 'data')
  const started = JSON.parse(line)
  url = started.url
  tokenFile = started.token_file
  token = readFileSync(tokenFile, 'utf8').trim()
})
afterAll(async () => {
  server.kill('SIGTERM')
  await once(server, 'exit')
  box.remove()
})

const ask = (headers: Record<string, string>, method = 'POST'): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const { port } = new URL(url)
    const options = { host: '127.0.0.1', port, path: '/mcp', method }
    const sent = httpRequest(
      { ...options, headers: { 'content-type': 'application/json', ...headers } },
      response => {
        response.resume()
        resolve(response.statusCode)
      },
    )
    sent.on('error', reject)
    sent.end('{"jsonrpc":"2.0","id":1,"method":"ping"}')
  })

test('a port that somebody else uses is an error that says what to do', () => {
  const { port } = new URL(url)
  const { code, stderr } = box.run(['mcp', '--http', '--port', port])
  expect(code).toBe(10)
  expect(stderr).toContain(`Another program uses this port: ${port}.`)
  expect(stderr).toContain('--port')
})

describe('a request', () => {
  test('without the token, or with another one, is refused', async () => {
    expect(await ask({})).toBe(401)
    expect(await ask({ authorization: `Bearer ${token.slice(0, -1)}x` })).toBe(401)
    expect(statSync(tokenFile).mode & 0o777).toBe(0o600)
  })

  test('that no client sends is refused as one, and is no error of the server', async () => {
    const authorization = `Bearer ${token}`
    for (const host of ['a b', '[::1', '127.0.0.1:99999'])
      expect(await ask({ authorization, host })).toBe(400)
    expect(await ask({ authorization }, 'TRACE')).toBe(400)
  })

  test('that a page of another site sends is refused, whatever it carries', async () => {
    const authorization = `Bearer ${token}`
    expect(await ask({ authorization, host: 'evil.example.com' })).toBe(403)
    expect(await ask({ authorization, origin: 'https://evil.example.com' })).toBe(403)
  })
})

test.each(['legacy', 'auto'] as const)(
  'a client of the %s era lists, calls and answers questions',
  async era => {
    const client = new Client(
      { name: 'http-client', version: '1' },
      { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: era } },
    )
    client.setRequestHandler('elicitation/create', async () => ({
      action: 'accept',
      content: { decision: 'once' },
    }))
    const headers = { authorization: `Bearer ${token}` }
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
    expect((await client.listTools()).tools.map(tool => tool.name)).toContain('read_file')
    const read = await client.callTool({ name: 'read_file', arguments: { path: 'a.txt' } })
    expect(JSON.stringify(read.content)).toContain('hello')
    const made = { path: `${era}.txt`, content: 'made\n' }
    expect((await client.callTool({ name: 'write_file', arguments: made })).isError).not.toBe(true)
    expect(box.read(`${era}.txt`)).toBe('made\n')
    await client.close()
  },
)
