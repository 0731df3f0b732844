import { describe, expect, it } from 'vitest'
import { fetchedPackage } from './fetched-package.ts'

const fetched = (...command: string[]) => fetchedPackage({ command })

describe('a server that would be fetched with every start', () => {
  it('is known by its command, with the package and what follows it', () => {
    expect(fetched('npx', '-y', '@scope/server@1.2.3', '/workspace')).toEqual({
      from: 'npm',
      spec: '@scope/server@1.2.3',
      rest: ['/workspace'],
    })
    expect(fetched('/usr/bin/bunx', 'server')).toEqual({ from: 'npm', spec: 'server', rest: [] })
    expect(fetched('node', 'server.js')).toBeUndefined()
    expect(fetched('uv', 'run', 'server.py')).toBeUndefined()
  })

  it.each([
    [['uvx', 'mcp-server-git', '--repository', '.'], 'mcp-server-git', ['--repository', '.']],
    [['/usr/bin/uvx', '-q', 'mcp-server-git@2026.1.2'], 'mcp-server-git==2026.1.2', []],
    [['uvx', 'mcp-server-git@latest'], 'mcp-server-git', []],
    [['uv', 'tool', 'run', 'mcp-server-git', '-v'], 'mcp-server-git', ['-v']],
    [['pipx', 'run', '--spec', 'pkg[cli]>=1', 'mcp-server-git', 'x'], 'pkg[cli]>=1', ['x']],
    [['uvx', '--from', '/a b/pkg-1.whl', 'mcp-server-git'], '/a b/pkg-1.whl', []],
  ])('is one of Python: %j', (command, spec, rest) => {
    expect(fetched(...command)).toEqual({ from: 'python', spec, program: 'mcp-server-git', rest })
  })

  it.each([
    [['pnpm', 'dlx', 'x'], 'npx -y PACKAGE'],
    [['npm', 'exec', 'x'], 'npx -y PACKAGE'],
    [['npx', '--package', 'a', 'b'], 'npx [-y] PACKAGE'],
    [['uvx', '--with', 'a', 'b'], '[--from PACKAGE] PROGRAM'],
    [['uvx', '--from', '--index-url=x', 'b'], '[--from PACKAGE] PROGRAM'],
    [['uvx', '--from', 'git+https://a.example/b', 'b'], '[--from PACKAGE] PROGRAM'],
    [['uvx', '--from', './folder', 'b'], '[--from PACKAGE] PROGRAM'],
    [['uvx', '--from', 'a', '../b'], '[--from PACKAGE] PROGRAM'],
    [['uvx'], '[--from PACKAGE] PROGRAM'],
  ])('is refused with what to write instead: %j', (command, hint) => {
    expect(() => fetched(...command)).toThrow(
      expect.objectContaining({ hint: expect.stringContaining(hint) }),
    )
  })
})
