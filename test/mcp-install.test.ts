import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'
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
    expect(shown.stderr).toContain(`kogu mcp install ${client} --yes`)
    expect(readFileSync(path, 'utf8')).not.toContain('kogu')
    expect(install(client, '--yes', '--names', 'claude').code).toBe(0)
    const written = JSON.parse(readFileSync(path, 'utf8'))
    expect(written).toMatchObject({ theme: 'dark', [key]: { other: { command: 'x' } } })
    const entry = written[key].kogu
    const command = [entry.command, ...(entry.args ?? [])].flat()
    expect(command).toEqual([process.execPath, PROGRAM, 'mcp', '--cwd', box.workspace, '--names', 'claude'])
  },
)

test('codex: the table is added to the file in the home folder, and comments and its mode stay', () => {
  const path = join(box.home, '.codex', 'config.toml')
  box.write('../.codex/config.toml', '# mine\nmodel = "x"\n')
  chmodSync(path, 0o600)
  expect(install('codex', '--yes').code).toBe(0)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readFileSync(path, 'utf8')).toMatch(/^# mine\nmodel = "x"\n\n\[mcp_servers\.kogu\]\ncommand = /)
  expect(install('codex', '--yes')).toMatchObject({ code: 2 })
  // What is to be typed next keeps what was asked for, and a link to the file stays one.
  const real = box.write('../dotfiles/codex.toml', '')
  rmSync(path)
  symlinkSync(real, path)
  expect(install('codex', '--names', 'claude', '--client-approves').stderr).toContain(
    'kogu mcp install codex --names claude --client-approves --yes',
  )
  expect(install('codex', '--yes').code).toBe(0)
  expect(readFileSync(real, 'utf8')).toContain('[mcp_servers.kogu]')
})

test('what is shown of a client is without its keys', () => {
  const key = `sk-${'a1B2'.repeat(10)}`
  // Written anew, each line of such a file is another one.
  box.write('opencode.json', JSON.stringify({ provider: { x: { apiKey: key } } }, null, 8))
  for (const more of [[], ['--json']]) {
    const { stdout } = install('opencode', ...more)
    expect(stdout).toContain('kogu')
    expect(stdout).not.toContain(key)
  }
  expect(install('opencode', '--yes').code).toBe(0)
  expect(box.read('opencode.json')).toContain(key)
})

test('a file that cannot be read is not touched, and no command of an agent installs anything', () => {
  box.write('.mcp.json', '{ // mine\n}')
  expect(install('claude', '--yes')).toMatchObject({ code: 2 })
  expect(box.read('.mcp.json')).toBe('{ // mine\n}')
  expect(box.run(['mcp', 'install', 'cursor', '--yes'], { env: { KOGU_CALL: 'call_1' } }).code).toBe(2)
  expect(existsSync(join(box.workspace, '.cursor'))).toBe(false)
  // A table behind servers in one line would make a file that the client cannot read.
  const inline = 'mcp_servers = { other = { command = "x" } }\n'
  box.write('../.codex/config.toml', inline)
  expect(install('codex', '--yes')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('nothing was changed'),
  })
  expect(box.read('../.codex/config.toml')).toBe(inline)
  expect(install('emacs').stderr).toContain('claude, codex, gemini, opencode, cursor, vscode')
})

test('a server is added, listed and removed in the configuration of the person', () => {
  const script = join(import.meta.dirname, 'support', 'hostile-mcp-server.ts')
  const added = box.run(['mcp', 'add', 'fine', '--env', 'A=1', '--', process.execPath, script, 'fine'])
  expect(added).toMatchObject({ code: 0, stdout: expect.stringContaining('fine answers: 1 tool,') })
  expect(box.json(['mcp', 'list'])).toMatchObject([
    { name: 'fine', status: 'trusted', sandbox: true, tools: 1 },
  ])
  expect(box.json(['call', 'fine__good', '{}', '--yes-once'])).toMatchObject({ text: 'fine' })
  expect(box.run(['mcp', 'trust', 'fine'])).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('already trusted'),
  })
  expect(box.run(['mcp', 'add', 'fine', '--', 'x']).code).toBe(2)
  expect(box.run(['mcp', 'remove', 'fine']).code).toBe(0)
  expect(box.json(['mcp', 'list'])).toEqual([])
  // The trust went with it: the same lines, written by whomever, start nothing.
  box.configure(
    `[mcp.fine]\ncommand = ${JSON.stringify([process.execPath, script, 'fine'])}\nenv = { A = "1" }\n`,
  )
  expect(box.json(['mcp', 'list'])).toMatchObject([{ status: 'not trusted', tokens: 0 }])
  expect(box.run(['tools', 'list']).stderr).toContain('mcp:fine is down: it is not trusted yet')
  box.configure('')
  expect(box.run(['mcp', 'add', 'x', '--', 'y'], { env: { KOGU_CALL: 'call_1' } }).code).toBe(2)
})

test('a server is removed with all of its tables, and the trust in it is taken back in every project', () => {
  const path = join(box.home, 'config/kogu/config.toml')
  // People keep their settings in a repository and link to them.
  const real = box.write('../dotfiles/kogu.toml', '')
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(real, path)
  const script = join(import.meta.dirname, 'support', 'hostile-mcp-server.ts')
  const command = `[mcp.fine]\ncommand = ${JSON.stringify([process.execPath, script, 'fine'])}\n`
  const apart = `# mine\n${command}[tools]\nbudget = 5000\n[mcp.fine.env]\nA = "1"\n`
  writeFileSync(real, apart)
  box.write('kogu.toml', '[mcp.fine]\nenabled = true\nhosts = ["hub.example"]\n')
  box.run(['config', 'trust', '--yes'])
  box.run(['mcp', 'trust', 'fine', '--yes'])
  expect(box.json(['mcp', 'list'])).toMatchObject([{ status: 'trusted' }])
  expect(box.run(['mcp', 'remove', 'fine']).code).toBe(0)
  expect(readFileSync(path, 'utf8')).toBe('# mine\n[tools]\nbudget = 5000\n')
  expect(lstatSync(path).isSymbolicLink()).toBe(true)
  writeFileSync(real, apart)
  expect(box.json(['mcp', 'list'])).toMatchObject([{ status: 'not trusted' }])
  // What the project says about it was not typed by whoever adds it.
  writeFileSync(real, '')
  expect(box.run(['mcp', 'add', 'fine', '--', process.execPath, script, 'fine'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("A file of this project also has settings for 'fine'"),
  })
  expect(box.json(['mcp', 'list'])).toMatchObject([{ status: 'not trusted' }])
})

test.each([
  [['--header', 'A=1', '--', 'cat'], '--header is for a server that runs elsewhere'],
  [['--url', 'https://a.invalid', '--host', 'b.invalid'], '--host is for a server that Kogu starts'],
  [['--url', 'https://a.invalid', '--env', 'A=1'], '--env is for a server that Kogu starts'],
  [['--url', 'https://a.invalid', '--no-sandbox'], '--no-sandbox is for a server that Kogu starts'],
])('an option without effect is an error: mcp add x %j', (words, message) => {
  expect(box.run(['mcp', 'add', 'x', ...words])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(message),
  })
})

test('a server elsewhere is added with a header that names where its secret is', () => {
  box.run(['mcp', 'add', 'docs', '--url', 'http://127.0.0.1:4010/mcp', '--header', 'Authorization=$DOCS'])
  expect(readFileSync(join(box.home, 'config/kogu/config.toml'), 'utf8')).toBe(
    '[mcp.docs]\nurl = "http://127.0.0.1:4010/mcp"\n\n[mcp.docs.headers.Authorization]\nenv = "DOCS"\n',
  )
  expect(box.json(['mcp', 'test', 'docs']).problems).toEqual([
    'mcp:docs is down: the value of Authorization is not set: {"env":"DOCS"}',
  ])
})

test('tools that changed are approved as they were shown, and no others', () => {
  const script = join(import.meta.dirname, 'support', 'hostile-mcp-server.ts')
  const place = box.write('turn', '')
  rmSync(place)
  box.run(['mcp', 'add', 'rug', '--', process.execPath, script, 'rug', place])
  box.write('turn', '')
  expect(box.json(['mcp', 'test', 'rug']).problems).toHaveLength(2)
  const shown = box.run(['mcp', 'approve', 'rug', 'good'])
  expect(shown).toMatchObject({ code: 7, stderr: expect.stringContaining('+  "description": "Works. First') })
  const [, pin = ''] = /kogu mcp approve rug good --pin (\w+)/.exec(shown.stderr) ?? []
  // Of a shorter one, a server finds a second definition.
  expect(pin).toMatch(/^[0-9a-f]{32}$/)
  expect(box.run(['mcp', 'approve', 'rug', '--pin', pin])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('The tools have changed since you looked at them.'),
  })
  expect(box.run(['mcp', 'approve', 'rug', 'good', '--pin', pin]).stderr).toContain('Approved: good')
  expect(box.json(['mcp', 'tools', 'rug']).held).toMatchObject([{ name: 'new' }])
})

test('a server that cannot be configured so is not added, and one that is wrong can be removed', () => {
  const path = join(box.home, 'config/kogu/config.toml')
  box.configure('[tools]\nbudget = 5000\n')
  expect(box.run(['mcp', 'add', 'odd', '--url', 'no address'])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('mcp.odd.url: Invalid URL'),
  })
  expect(readFileSync(path, 'utf8')).toBe('[tools]\nbudget = 5000\n')
  box.configure('[mcp.odd]\nurl = "no address"\n')
  expect(box.run(['mcp', 'remove', '(']).code).toBe(2)
  expect(box.run(['mcp', 'remove', 'odd']).code).toBe(0)
  expect(box.json(['mcp', 'list'])).toEqual([])
})

test('all of a long command is shown before it is trusted', () => {
  box.configure(`[mcp.long]\ncommand = ["node", "-e", "${'padding '.repeat(200)}the end"]\n`)
  expect(box.run(['mcp', 'trust', 'long']).stderr).toContain('padding the end"')
  box.configure('')
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
    expect(box.run(['mcp', 'trust', 'filesystem'], { env })).toMatchObject({ code: 7 })
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

const PYTHON_SERVER = `
import sys, json
def main():
    for line in sys.stdin:
        message = json.loads(line)
        method, result = message.get("method"), {}
        if method == "initialize":
            result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "py", "version": "1"}}
        elif method == "tools/list":
            result = {"tools": [{"name": "where", "inputSchema": {"type": "object"}}]}
        elif method == "tools/call":
            result = {"content": [{"type": "text", "text": " ".join([__file__, *sys.argv[1:]])}]}
        if "id" in message:
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
`
// Writes a wheel, as a package index would have it.
const MAKE_WHEEL = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    wheel.writestr("kogu_test_server.py", sys.argv[2])
    about = "kogu_test_server-4.5.6.dist-info/"
    wheel.writestr(about + "METADATA", "Metadata-Version: 2.1\\nName: kogu-test-server\\nVersion: 4.5.6\\n")
    wheel.writestr(about + "WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(about + "entry_points.txt", "[console_scripts]\\ntest-server = kogu_test_server:main\\n")
    wheel.writestr(about + "RECORD", "")
`
const hasVenv = spawnSync('python3', ['-c', 'import ensurepip, venv']).status === 0

test.skipIf(!hasVenv)(
  `a server from Python is installed once, into an environment of its own${hasVenv ? '' : ' (skipped: python3 has no venv)'}`,
  () => {
    const folder = mkdtempSync(join(folderOutsideTmp(), 'wheel-'))
    const wheel = join(folder, 'kogu_test_server-4.5.6-py3-none-any.whl')
    // Only the wheel: whatever index this machine has is not asked.
    const env = { PIP_NO_INDEX: '1', PIP_CONFIG_FILE: '/dev/null', PATH: pathWithout('uv') }
    try {
      expect(spawnSync('python3', ['-c', MAKE_WHEEL, wheel, PYTHON_SERVER]).status).toBe(0)
      const words = ['uvx', '--from', wheel, 'test-server', 'an argument']
      box.configure(`[mcp.py]\ncommand = ${JSON.stringify(words)}\n`)
      const trusted = box.run(['mcp', 'trust', 'py', '--yes'], { env })
      expect(trusted, trusted.stdout + trusted.stderr).toMatchObject({
        code: 0,
        stderr: expect.stringContaining('kogu_test_server 4.5.6'),
      })
      rmSync(wheel)
      const { text } = box.json(['call', 'py__where', '{}', '--yes-once'], { env })
      expect(text).toMatch(/\/mcp\/py\/lib\/.*kogu_test_server\.py an argument$/)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
)

test('uv makes the environment where it is installed, and builds nothing', () => {
  const bin = mkdtempSync(join(folderOutsideTmp(), 'uv-'))
  const calls = join(bin, 'calls')
  writeFileSync(
    join(bin, 'uv'),
    `#!/bin/sh
echo "$*" >> ${calls}
mkdir -p bin lib/python3/site-packages/git_server-7.8.dist-info
printf '[console_scripts]\\ngit-server = a:b\\n' > lib/python3/site-packages/git_server-7.8.dist-info/entry_points.txt
touch bin/git-server
`,
    { mode: 0o755 },
  )
  try {
    box.configure('[mcp.git]\ncommand = ["uvx", "git-server@7.8"]\n')
    const trusted = box.run(['mcp', 'trust', 'git', '--yes'], { env: { PATH: `${bin}:${process.env.PATH}` } })
    expect(trusted.stderr).toContain('git_server 7.8')
    expect(readFileSync(calls, 'utf8')).toMatch(
      /^venv --clear \S+\npip install --python \S+\/bin\/python --only-binary :all: -- git-server==7\.8\n$/,
    )
  } finally {
    rmSync(bin, { recursive: true, force: true })
  }
})

function pathWithout(program: string): string {
  const folders = (process.env.PATH ?? '').split(':')
  return folders.filter(folder => !existsSync(join(folder, program))).join(':')
}

test.each([
  ['[mcp.ok]\nurl = "https://ok.invalid"\n[mcp.My_Server]\ncommand = "x"\n', 3, 'cannot be used'],
  ['[mcp.a]\ncwd = "."\n', 1, 'has neither a command nor a url'],
  ['[mcp.a]\ncommand = "x"\nurl = "https://a.invalid"\n', 1, 'has both a command and a url'],
  ['[[tools.mcp.servers]]\ncommand = "x"\nname = "B"\n', 3, 'cannot be used'],
])('a server that cannot be one is an error with its line: %j', (config, line, message) => {
  box.configure(config)
  const { code, stderr } = box.run(['tools', 'list'])
  expect(code).toBe(3)
  expect(stderr).toMatch(new RegExp(`config\\.toml:${line}:1: The .*${message}`))
  // A clone that only restricts what it does not have stops nothing.
  box.configure('')
  box.write('kogu.toml', '[mcp.Not_Yours]\nenabled = false\n')
  expect(box.run(['tools', 'list']).code).toBe(0)
})
