import { expect, test } from 'vitest'
import { describeServer, type McpServerConfig } from './server-config.ts'

const SERVER: McpServerConfig = {
  name: 'x',
  enabled: true,
  command: ['node', 'server.js'],
  env: {},
  headers: {},
  on: [],
  off: [],
  startMs: 1000,
  timeoutMs: 1000,
  era: 'auto',
  sandbox: true,
  workspace: 'read-only',
  hosts: [],
  write: [],
}

test('what is shown before a server is trusted says what its variables hold, but for secrets', () => {
  const env = {
    LEVEL: 'debug',
    NODE_OPTIONS: '--require ./x.js',
    GITHUB_TOKEN: 'plainly written',
    OTHER: `ghp_${'a1B2'.repeat(9)}`,
    API_KEY: { file: '~/key' },
  }
  const [, values = ''] = describeServer({ ...SERVER, env })
  expect(values).toBe(
    'with LEVEL="debug", NODE_OPTIONS="--require ./x.js" (CAN LOAD CODE), GITHUB_TOKEN=…, OTHER=…, API_KEY from {"file":"~/key"}',
  )
})

test('a token does not hide what a variable loads', () => {
  const NODE_OPTIONS = `--require ./x.js --title=ghp_${'a1B2'.repeat(9)}`
  expect(describeServer({ ...SERVER, env: { NODE_OPTIONS } })[1]).toContain('--require ./x.js')
})

test('headers are shown in the same way', () => {
  const { command: _, ...remote } = SERVER
  const headers = { Accept: 'text/plain', Authorization: 'Bearer x', 'X-Key': { env: 'KEY' } }
  expect(describeServer({ ...remote, url: 'https://mcp.example.com/', headers })).toEqual([
    'contacts https://mcp.example.com/',
    'sends Accept="text/plain", Authorization=…, X-Key from {"env":"KEY"}',
  ])
})
