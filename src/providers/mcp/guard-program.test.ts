import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { guardProgram } from './guard-program.ts'
import type { McpServerConfig } from './server-config.ts'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'kogu-guard-')))
const workspace = join(root, 'work')
const safe = join(root, 'safe')
beforeAll(() => {
  mkdirSync(join(root, 'other/.kogu'), { recursive: true })
  for (const folder of [workspace, safe]) {
    mkdirSync(folder)
    writeFileSync(join(folder, 'server.js'), '')
  }
  symlinkSync(join(workspace, 'server.js'), join(safe, 'link.js'))
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

const PLAIN: McpServerConfig = {
  name: 'x',
  enabled: true,
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
const MORE_THAN_AN_AGENT: Record<string, Partial<McpServerConfig>> = {
  'runs without a sandbox': { sandbox: false },
  'gets a secret': { env: { TOKEN: { env: 'TOKEN' } } },
  'may contact a host': { hosts: ['api.example.com'] },
  'may change another folder': { write: ['~/notes'] },
  'may change another workspace': { write: [join(root, 'other')] },
}

function start(command: readonly string[], more: Partial<McpServerConfig>, cwd = workspace) {
  const [, ...args] = command
  const outside = { workspace, writable: [workspace], safePlace: safe, env: { HOME: root } }
  const file = command[0]?.includes('/') ? command[0] : `/usr/bin/${command[0]}`
  return guardProgram({ ...PLAIN, command, ...more }, { file, args, cwd }, outside)
}

describe.each(Object.entries(MORE_THAN_AN_AGENT))('a server that %s', (_, more) => {
  test.each([
    ['is its program', () => [join(workspace, 'server.js')]],
    ['is the script of an interpreter', () => ['node', 'server.js']],
    ['is named by an option', () => ['node', `--import=${workspace}/server.js`, join(safe, 'server.js')]],
    ['is behind a link', () => ['node', join(safe, 'link.js')]],
    ['is a folder that is run', () => ['uv', '--directory', workspace, 'run', 'server']],
    ['is run by a package', () => ['npx', '-y', 'tsx', 'server.js']],
  ])('is not started when what an agent can write %s', (_, command) => {
    expect(() => start(command(), more)).toThrow(/lies where an agent can write/)
  })

  test.each([
    ['NODE_OPTIONS', () => `--require ${workspace}/x.js`],
    ['NODE_OPTIONS', () => '--import=./x.js'],
    ['NODE_OPTIONS', () => '-r planted'],
    ['PYTHONPATH', () => `${safe}:lib`],
    ['LD_PRELOAD', () => join(workspace, 'x.so')],
    ['PATH', () => `${workspace}/bin:/usr/bin`],
  ])('is not started when %s loads what an agent can write', (name, value) => {
    const env = { ...more.env, [name]: value() }
    expect(() => start(['node', join(safe, 'server.js')], { ...more, env })).toThrow(/agent can write/)
    expect(() => start(['npx', '-y', 'server'], { ...more, env })).toThrow(/agent can write/)
  })

  test('keeps variables that load nothing of an agent', () => {
    const env = { ...more.env, NODE_OPTIONS: '--max-old-space-size=4096', PYTHONPATH: safe, DATA: workspace }
    expect(start(['node', join(safe, 'server.js')], { ...more, env })).toEqual({ cwd: '/' })
  })

  test('is not started in the workspace, which its modules could come from', () => {
    expect(start(['python3', '-m', 'server'], more)).toEqual({ cwd: '/' })
    expect(() => start(['python3', '-m', 'server'], { ...more, cwd: '.' })).toThrow(/agent can write/)
    expect(start(['python3', '-m', 'server'], { ...more, cwd: safe }, safe)).toEqual({ cwd: safe })
  })

  test('is started from elsewhere, and an installed package may work with the workspace', () => {
    expect(start(['node', join(safe, 'server.js')], more)).toEqual({ cwd: '/' })
    expect(start(['npx', '-y', 'server-filesystem', workspace, '.'], more)).toEqual({ cwd: workspace })
  })
})

test('a server that gets nothing that an agent has not may lie in the workspace', () => {
  for (const more of [{}, { env: { LEVEL: 'debug' } }, { write: ['notes'] }])
    expect(start(['node', 'server.js'], more)).toEqual({ cwd: workspace })
})
