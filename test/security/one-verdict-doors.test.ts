import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../support/app.ts'
import { createSandboxed, type Sandboxed } from '../support/kogu.ts'
import { type Connected, connectToKogu } from '../support/mcp-client.ts'

// The same call gets the same verdict, in the same words, through every door: the library, the command line, HTTP, MCP.

const CONFIG = `
[[permissions.rules]]
id = "no-plans"
decision = "deny"
tool = "read_file"
path = ["plans/**"]

[[permissions.rules]]
id = "no-late"
decision = "deny"
tool = "grep_search"
`
const FILES = ['plain.txt', '.env', 'plans/q4.md', '.git/config']

let app: TestApp
let box: Sandboxed
let mcp: Connected
beforeAll(async () => {
  app = await openTestApp({ config: CONFIG })
  box = createSandboxed()
  box.write('../config/kogu/config.toml', CONFIG)
  for (const path of FILES) {
    app.machine.write(path, 'x = 1\n')
    box.write(path, 'x = 1\n')
  }
  mcp = await connectToKogu(box)
}, 30_000)
afterAll(async () => {
  await mcp.client.close()
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
  async mcp(tool, input) {
    const { isError, text } = await mcp.call(tool, input)
    return { ok: !isError, text: text.replaceAll(box.workspace, 'W') }
  },
}

test.each<[what: string, ok: boolean, tool: string, input: Record<string, unknown>]>([
  ['a plain file', true, 'read_file', { path: 'plain.txt' }],
  ['a plain file by a line', true, 'run_command', { command: 'cat plain.txt' }],
  ['a sensitive file', false, 'read_file', { path: '.env' }],
  ['a sensitive file by a line', false, 'run_command', { command: 'cat .env' }],
  ['a denied file', false, 'read_file', { path: 'plans/q4.md' }],
  ['a denied file by a line', false, 'run_command', { command: 'head -1 plans/q4.md' }],
  ['a denied tool', false, 'grep_search', { pattern: 'x' }],
  ['a protected file', false, 'write_file', { path: '.git/config', content: '' }],
  ['a system file', false, 'write_file', { path: '/etc/hosts', content: '' }],
  ['a forbidden line', false, 'run_command', { command: 'rm -rf /' }],
])('%s', async (_, ok, tool, input) => {
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
