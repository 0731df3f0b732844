import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSandboxed, PROGRAM, type Sandboxed } from './support/kogu.ts'
import { folderOutsideTmp } from './support/outside-tmp.ts'

let box: Sandboxed
beforeEach(() => {
  box = createSandboxed()
})
afterEach(() => box.remove())

const install = (client: string, ...more: string[]) => box.run(['mcp', 'install', client, ...more])

test.each([
  ['claude', 'work/.mcp.json', 'mcpServers'],
  ['gemini', 'work/.gemini/settings.json', 'mcpServers'],
  ['opencode', 'work/opencode.json', 'mcp'],
  ['cursor', 'work/.cursor/mcp.json', 'mcpServers'],
  ['vscode', 'work/.vscode/mcp.json', 'servers'],
])(
  '%s: what is written is shown first, keeps what was there, and starts this program',
  (client, file, key) => {
    const path = join(box.home, file)
    box.write(
      file.replace('work/', ''),
      JSON.stringify({ theme: 'dark', [key]: { other: { command: 'x' } } }),
    )
    const shown = install(client)
    expect(shown.stdout).toContain('"kogu"')
    expect(readFileSync(path, 'utf8')).not.toContain('kogu')
    expect(install(client, '--yes', '--names', 'claude').code).toBe(0)
    const written = JSON.parse(readFileSync(path, 'utf8'))
    expect(written).toMatchObject({ theme: 'dark', [key]: { other: { command: 'x' } } })
    const entry = written[key].kogu
    const command = [entry.command, ...(entry.args ?? [])].flat()
    expect(command).toEqual([process.execPath, PROGRAM, 'mcp', '--cwd', box.workspace, '--names', 'claude'])
  },
)

test('codex: the table is added to the file in the home folder, and comments stay', () => {
  const path = join(box.home, '.codex', 'config.toml')
  box.write('../.codex/config.toml', '# mine\nmodel = "x"\n')
  expect(install('codex', '--yes').code).toBe(0)
  expect(readFileSync(path, 'utf8')).toMatch(/^# mine\nmodel = "x"\n\n\[mcp_servers\.kogu\]\ncommand = /)
  expect(install('codex', '--yes')).toMatchObject({ code: 2 })
})

test('a file that cannot be read is not touched, and no command of an agent installs anything', () => {
  box.write('.mcp.json', '{ // mine\n}')
  expect(install('claude', '--yes')).toMatchObject({ code: 2 })
  expect(box.read('.mcp.json')).toBe('{ // mine\n}')
  expect(box.run(['mcp', 'install', 'cursor', '--yes'], { env: { KOGU_CALL: 'call_1' } }).code).toBe(2)
  expect(existsSync(join(box.workspace, '.cursor'))).toBe(false)
  expect(install('emacs').stderr).toContain('claude, codex, gemini, opencode, cursor, vscode')
})

test('a server is added, listed and removed in the configuration of the person', () => {
  const script = join(import.meta.dirname, 'support', 'hostile-mcp-server.ts')
  const added = box.run(['mcp', 'add', 'fine', '--env', 'A=1', '--', process.execPath, script, 'fine'])
  expect(added).toMatchObject({ code: 0, stdout: expect.stringContaining('fine answers: 1 tools') })
  expect(box.json(['mcp', 'list'])).toMatchObject([
    { name: 'fine', status: 'trusted', sandbox: true, tools: 1 },
  ])
  expect(box.json(['call', 'fine__good', '{}', '--yes-once'])).toMatchObject({ text: 'fine' })
  expect(box.run(['mcp', 'add', 'fine', '--', 'x']).code).toBe(2)
  expect(box.run(['mcp', 'remove', 'fine']).code).toBe(0)
  expect(box.json(['mcp', 'list'])).toEqual([])
  expect(box.run(['mcp', 'add', 'x', '--', 'y'], { env: { KOGU_CALL: 'call_1' } }).code).toBe(2)
})

test('a server that would be fetched with every start is fetched once, when it is trusted, and started from that copy', () => {
  // Not below /tmp: programs there could be an agent's, and the real npm would be asked.
  const bin = mkdtempSync(join(folderOutsideTmp(), 'npm-'))
  const server = readFileSync(join(import.meta.dirname, 'support', 'hostile-mcp-server.ts'), 'utf8')
  writeFileSync(
    join(bin, 'npm'),
    `#!${process.execPath}
const { mkdirSync, writeFileSync, appendFileSync } = require('node:fs')
appendFileSync(${JSON.stringify(join(bin, 'calls'))}, process.argv.slice(2).join(' ') + '\\n')
const folder = 'node_modules/@anthropic/mcp-server-filesystem'
mkdirSync(folder, { recursive: true })
writeFileSync('package.json', '{"dependencies":{"@anthropic/mcp-server-filesystem":"1.2.3"}}')
writeFileSync(folder + '/package.json', '{"version":"1.2.3","type":"module","bin":"index.js"}')
writeFileSync(folder + '/index.js', ${JSON.stringify(stripTypeScriptTypes(server))})
`,
    { mode: 0o755 },
  )
  const env = { PATH: `${bin}:${process.env.PATH}` }
  try {
    // As the founding documents have it.
    box.write(
      '../config/kogu/config.toml',
      `[tools.mcp]
enabled = true

[[tools.mcp.servers]]
name = "filesystem"
command = "npx"
args = ["-y", "@anthropic/mcp-server-filesystem", "/workspace"]
`,
    )
    expect(box.run(['mcp', 'trust', 'filesystem'], { env })).toMatchObject({ code: 2 })
    const trusted = box.run(['mcp', 'trust', 'filesystem', '--yes'], { env })
    expect(trusted, trusted.stdout + trusted.stderr).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('mcp-server-filesystem 1.2.3'),
    })
    for (let n = 0; n < 2; n += 1) {
      expect(box.json(['call', 'filesystem__good', '{}', '--yes-once'], { env }).text).toBe('fine')
    }
    expect(readFileSync(join(bin, 'calls'), 'utf8')).toBe(
      'install --ignore-scripts --save-exact --no-audit --no-fund -- @anthropic/mcp-server-filesystem\n',
    )
  } finally {
    rmSync(bin, { recursive: true, force: true })
  }
})
