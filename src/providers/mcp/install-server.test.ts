import { describe, expect, it } from 'vitest'
import { fetchedPackage } from './install-server.ts'
import type { McpServerConfig } from './server-config.ts'

const server = (...command: string[]): McpServerConfig => ({
  name: 'x',
  enabled: true,
  command,
  env: {},
  headers: {},
  on: [],
  off: [],
  startMs: 1,
  timeoutMs: 1,
  era: 'auto',
  sandbox: true,
  hosts: [],
  write: [],
})

describe('a server that would be fetched with every start', () => {
  it('is known by its command, with the package and what follows it', () => {
    expect(fetchedPackage(server('npx', '-y', '@scope/server@1.2.3', '/workspace'))).toEqual({
      spec: '@scope/server@1.2.3',
      rest: ['/workspace'],
    })
    expect(fetchedPackage(server('/usr/bin/bunx', 'server'))).toEqual({ spec: 'server', rest: [] })
    expect(fetchedPackage(server('node', 'server.js'))).toBeUndefined()
    expect(fetchedPackage(server('uv', 'run', 'server.py'))).toBeUndefined()
  })

  it.each([
    [['uvx', 'mcp-server-git'], 'uv tool install'],
    [['/usr/bin/pipx', 'run', 'mcp-server-git'], 'uv tool install'],
    [['uv', 'tool', 'run', 'x'], 'uv tool install'],
    [['pnpm', 'dlx', 'x'], 'npx -y PACKAGE'],
    [['npm', 'exec', 'x'], 'npx -y PACKAGE'],
    [['npx', '--package', 'a', 'b'], 'npx [-y] PACKAGE'],
  ])('is refused with what to do instead: %j', (command, hint) => {
    expect(() => fetchedPackage(server(...command))).toThrow(
      expect.objectContaining({ hint: expect.stringContaining(hint) }),
    )
  })
})
