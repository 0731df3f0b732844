import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../support/app.ts'
import { createSandboxed, PROGRAM, type Sandboxed } from '../support/kogu.ts'
import { type Connected, callText, connectToKogu } from '../support/mcp-client.ts'

// The same call gets the same verdict, in the same words, through every door. The rules name tools by their name, by
// another tool's name for them, in another spelling, and before there is such a tool.

const SERVER = join(import.meta.dirname, '..', 'support', 'hostile-mcp-server.ts')

const CONFIG = `
[[permissions.rules]]
id = "no-plans"
decision = "deny"
tool = "read_file"
path = ["plans/**"]

[[permissions.rules]]
id = "no-search"
decision = "deny"
tool = "Grep"

[[permissions.rules]]
id = "no-deploys"
decision = "deny"
tool = "DEPLOY"

[tools.custom.deploy]
description = "Deploy"
command = "true"

[[permissions.rules]]
id = "not-of-the-server"
decision = "deny"
tool = "LATE__good"

[mcp.late]
command = ${JSON.stringify([process.execPath, SERVER, 'fine'])}
start_timeout = "20s"
`
const FILES = ['plain.txt', '.env', 'plans/q4.md', '.git/config']

let app: TestApp
let box: Sandboxed
let mcp: Connected
let http: ChildProcess
let overHttp: Client
let batched: string[] | undefined
beforeAll(async () => {
  app = await openTestApp({ config: CONFIG })
  box = createSandboxed()
  box.write('../config/kogu/config.toml', CONFIG)
  for (const path of FILES) {
    app.machine.write(path, 'x = 1\n')
    box.write(path, 'x = 1\n')
  }
  const admin = await app.machine.runtime.mcp()
  for (const server of admin.servers) await admin.trust(server)
  await app.machine.runtime.registry.refresh('mcp:late')
  expect(box.run(['mcp', 'trust', 'late', '--yes']).code).toBe(0)
  mcp = await connectToKogu(box)
  http = spawn(process.execPath, [PROGRAM, 'mcp', '--http', '--json'], {
    cwd: box.workspace,
    env: box.env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once((http.stdout ?? process.stdin).setEncoding('utf8'), 'data')
  const { url, token_file } = JSON.parse(line)
  const headers = { authorization: `Bearer ${readFileSync(token_file, 'utf8').trim()}` }
  overHttp = new Client({ name: 'doors', version: '1' })
  await overHttp.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
})
afterAll(async () => {
  await mcp.client.close()
  await overHttp.close()
  http.kill('SIGTERM')
  await once(http, 'exit')
  box.remove()
  await app.close()
})

interface Said {
  ok: boolean
  text: string
}

interface HttpAnswer {
  status: number
  json: { ok?: boolean; error?: { message: string } | null; detail?: string }
}

const CALLS: readonly (readonly [what: string, ok: boolean, tool: string, input: Record<string, unknown>])[] =
  [
    ['a plain file', true, 'read_file', { path: 'plain.txt' }],
    ['a plain file by a line', true, 'run_command', { command: 'cat plain.txt' }],
    ['a sensitive file', false, 'read_file', { path: '.env' }],
    ['a sensitive file by a line', false, 'run_command', { command: 'cat .env' }],
    ['a denied file', false, 'read_file', { path: 'plans/q4.md' }],
    ['a denied file by a line', false, 'run_command', { command: 'head -1 plans/q4.md' }],
    ['a plain file by the name of another tool', true, 'Read', { file_path: 'plain.txt' }],
    ['a denied file by the name of another tool', false, 'Read', { file_path: 'plans/q4.md' }],
    ['a tool that a rule names as others do', false, 'grep_search', { pattern: 'x' }],
    ['a tool of the configuration, in another spelling', false, 'deploy', {}],
    ['a tool of a server, which connects after the rules were read', false, 'late__good', {}],
    ['a protected file', false, 'write_file', { path: '.git/config', content: '' }],
    ['a system file', false, 'write_file', { path: '/etc/hosts', content: '' }],
    ['a forbidden line', false, 'run_command', { command: 'rm -rf /' }],
  ]

const DOORS: Record<string, (tool: string, input: Record<string, unknown>) => Promise<Said>> = {
  async library(tool, input) {
    const { ok, error } = await app.machine.runtime.call({ tool, input })
    return { ok, text: (error?.message ?? '').replaceAll(app.machine.workspace, 'W') }
  },
  async http(tool, input) {
    const { json }: HttpAnswer = await app.send('POST /api/calls', { tool, input })
    return { ok: json.ok === true, text: JSON.stringify(json).replaceAll(app.machine.workspace, 'W') }
  },
  async cli(tool, input) {
    const { ok, error } = box.json(['call', tool, JSON.stringify(input)])
    return { ok, text: String(error?.message ?? '').replaceAll(box.workspace, 'W') }
  },
  async batch(tool, input) {
    // All of them in one process, as a batch is.
    const lines = CALLS.map(([, , name, given]) => JSON.stringify({ tool: name, input: given }))
    batched ??= box.run(['call', '--batch'], { input: lines.join('\n') }).stdout.split('\n')
    const { ok, error } = JSON.parse(batched[lines.indexOf(JSON.stringify({ tool, input }))] ?? '')
    return { ok, text: String(error?.message ?? '').replaceAll(box.workspace, 'W') }
  },
  async 'mcp on stdio'(tool, input) {
    const { isError, text } = await mcp.call(tool, input)
    return { ok: !isError, text: text.replaceAll(box.workspace, 'W') }
  },
  async 'mcp over http'(tool, input) {
    const { isError, text } = await callText(overHttp, tool, input)
    return { ok: !isError, text: text.replaceAll(box.workspace, 'W') }
  },
}

test.each(CALLS)('%s', async (_, ok, tool, input) => {
  const expected = await DOORS.library?.(tool, input)
  expect(expected?.ok).toBe(ok)
  // Up to the first stop: how to go on is worded by the door.
  const sentence = /^[^.]*(?:\.[^ .][^.]*)*/.exec(expected?.text ?? '')?.[0] ?? ''
  for (const [door, call] of Object.entries(DOORS)) {
    const said = await call(tool, input)
    expect([door, said.ok, said.text]).toEqual([
      door,
      ok,
      ok ? expect.anything() : expect.stringContaining(JSON.stringify(sentence).slice(1, -1)),
    ])
  }
})
