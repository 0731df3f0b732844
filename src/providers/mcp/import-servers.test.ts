import { describe, expect, test } from 'vitest'
import { createRedactor } from '../../core/redact.ts'
import { importServers } from './import-servers.ts'

const redactor = createRedactor({ values: ['sk-def'] })
const read = (text: string) => importServers(text, value => redactor.value(value))

describe('servers of another client', () => {
  test('come from Claude and Cursor, without their secrets', () => {
    const [server] = read(
      JSON.stringify({
        mcpServers: {
          'git hub': {
            command: 'npx',
            args: ['-y', '@x/github', '--api-key', 'sk-abc'],
            env: { GITHUB_TOKEN: 'ghp_1', LEVEL: 'info', OTHER: '$MINE', HIDDEN: 'sk-def' },
          },
        },
      }),
    )
    expect(server?.name).toBe('git-hub')
    expect(server?.toml).toBe(`[mcp.git-hub]
command = [ "npx", "-y", "@x/github", "--api-key", "‹secret:api_key›" ]

[mcp.git-hub.env]
LEVEL = "info"

[mcp.git-hub.env.GITHUB_TOKEN]
env = "GITHUB_TOKEN"

[mcp.git-hub.env.OTHER]
env = "MINE"

[mcp.git-hub.env.HIDDEN]
env = "HIDDEN"
`)
    expect(server?.leftOut).toEqual(['‹secret:api_key›', 'GITHUB_TOKEN → GITHUB_TOKEN', 'HIDDEN → HIDDEN'])
    expect(JSON.stringify(server)).not.toMatch(/ghp_1|sk-/)
  })

  test('come from VS Code with comments, from Codex as TOML, and from opencode', () => {
    const code = '{ // mine\n "servers": { "a": { "type": "http", "url": "https://a.test/mcp", }, } }'
    expect(read(code)).toMatchObject([{ name: 'a', about: 'https://a.test/mcp' }])
    const codex = '[mcp_servers.b]\ncommand = "uvx"\nargs = ["b"]\n'
    expect(read(codex)).toMatchObject([{ name: 'b', about: 'uvx b' }])
    const opencode = '{"mcp":{"c":{"type":"local","command":["bun","c"],"environment":{"X":"1"}}}}'
    expect(read(opencode)[0]?.toml).toContain('command = [ "bun", "c" ]')
  })

  test('get names that Kogu takes, whatever they are called', () => {
    const servers = {
      My_Server: { command: 'x' },
      '.- ü': { command: 'x' },
      [`${'A '.repeat(40)}`]: { url: 'https://a' },
    }
    expect(read(JSON.stringify(servers)).map(({ name }) => name)).toEqual([
      'my-server',
      'server',
      'a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a',
    ])
  })

  test('with a header that signs in name a variable for it', () => {
    const [server] = read('{"h":{"url":"https://h.test","headers":{"Authorization":"Bearer abc"}}}')
    expect(server?.toml).toContain('env = "H_AUTHORIZATION"')
    expect(JSON.stringify(server)).not.toContain('Bearer')
  })

  test('are none where nothing is one', () => {
    expect(read('{"a": 1, "b": {"command": "x", "url": "y"}, "c": {}}')).toEqual([])
    expect(() => read('][')).toThrow('neither JSON nor TOML')
    expect(() => read('[1]')).toThrow()
  })
})
