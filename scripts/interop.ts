// `npm run interop`: real clients from npm, at fixed versions, against `kogu mcp`. Each is installed into a folder of its own,
// gets a home of its own and no network. One that cannot be installed is skipped, in plain sight; everything else counts.
import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { root } from './steps.ts'

const cache = join(root, 'node_modules', '.cache', 'interop')
const home = mkdtempSync(join(tmpdir(), 'kogu-interop-'))
const workspace = join(home, 'work')
const SERVER = [process.execPath, join(root, 'dist', 'kogu.js'), 'mcp', '--cwd', workspace]
const PLATFORM = `${process.platform}-${process.arch}`
const TIMEOUT_MS = 120_000

interface Client {
  readonly name: string
  readonly package: string
  readonly version: string
  /** Below node_modules. Where a package only links its program in an install script, that of the platform's package. */
  readonly program: string
  check(run: Run): Promise<void> | void
}

interface Run {
  (args: readonly string[], more?: Record<string, string>): string
  readonly program: string
}

const CLIENTS: readonly Client[] = [
  {
    name: 'Inspector',
    package: '@modelcontextprotocol/inspector',
    version: '2.12.0',
    program: '.bin/mcp-inspector',
    check(run) {
      const cli = ['--cli', ...SERVER]
      expectText(run([...cli, '--method', 'tools/list']), 'read_file')
      const call = ['--method', 'tools/call', '--tool-name', 'read_file', '--tool-arg', 'path=a.txt']
      expectText(run([...cli, ...call]), 'hello from kogu')
    },
  },
  {
    name: 'mcporter',
    package: 'mcporter',
    version: '0.12.3',
    program: '.bin/mcporter',
    check(run) {
      const config = join(home, 'mcporter.json')
      const [command, ...args] = SERVER
      writeFileSync(config, JSON.stringify({ mcpServers: { kogu: { command, args } } }))
      expectText(run(['--config', config, 'list', 'kogu']), 'read_file')
      expectText(run(['--config', config, 'call', 'kogu.read_file', 'path=a.txt']), 'hello from kogu')
    },
  },
  {
    name: 'Claude Code',
    package: '@anthropic-ai/claude-code',
    version: '2.1.325',
    program: `@anthropic-ai/claude-code-${PLATFORM}/claude`,
    check(run) {
      run(['mcp', 'add', '--scope', 'user', 'kogu', '--', ...SERVER])
      expectText(run(['mcp', 'list']), /kogu.*(✔|✓|Connected)/)
    },
  },
  {
    name: 'Gemini CLI',
    package: '@google/gemini-cli',
    version: '0.61.0',
    program: '.bin/gemini',
    check(run) {
      run(['mcp', 'add', '--scope', 'user', 'kogu', ...SERVER])
      expectText(run(['mcp', 'list'], { GEMINI_CLI_TRUST_WORKSPACE: 'true' }), /kogu.*Connected/)
    },
  },
  {
    name: 'opencode',
    package: 'opencode-ai',
    version: '1.18.33',
    program: `opencode-${PLATFORM}/bin/opencode`,
    check(run) {
      const mcp = { kogu: { type: 'local', command: SERVER, enabled: true } }
      writeFileSync(join(workspace, 'opencode.json'), JSON.stringify({ mcp }))
      expectText(run(['mcp', 'list']), /kogu[\s\S]*connected|✓[^\n]*kogu/i)
    },
  },
  {
    name: 'Codex',
    package: '@openai/codex',
    version: '0.166.0',
    program: '.bin/codex',
    async check(run) {
      run(['mcp', 'add', 'kogu', '--', ...SERVER])
      expectText(run(['mcp', 'list', '--json']), 'kogu')
      // The list is only what is configured; its server connects and returns every tool.
      expectText(await codexStatus(run.program), 'read_file')
    },
  },
]

mkdirSync(workspace)
writeFileSync(join(workspace, 'a.txt'), 'hello from kogu\n')
if (spawnSync(process.execPath, [join(root, 'scripts', 'build.ts')], { stdio: 'inherit' }).status !== 0)
  process.exit(1)
let failed = 0
for (const client of CLIENTS) {
  const program = install(client)
  if (program === undefined) {
    console.log(`SKIPPED  ${client.name} ${client.version}: it could not be installed`)
    continue
  }
  try {
    await client.check(Object.assign(runnerFor(program), { program }))
    console.log(`ok       ${client.name} ${client.version}`)
  } catch (error) {
    failed += 1
    console.log(
      `FAILED   ${client.name} ${client.version}: ${error instanceof Error ? error.message : error}`,
    )
  }
}
rmSync(home, { recursive: true, force: true })
process.exit(failed === 0 ? 0 : 1)

function install({ package: name, version, program: path }: Client): string | undefined {
  const folder = join(cache, `${name.replace('/', '+')}@${version}`)
  const program = join(folder, 'node_modules', path)
  if (existsSync(program)) return program
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"private":true}\n')
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-save', `${name}@${version}`]
  const result = spawnSync('npm', args, { cwd: folder, encoding: 'utf8', timeout: 10 * 60_000 })
  if (result.status === 0 && existsSync(program)) return program
  console.log(`${result.stderr ?? ''}`.trim().split('\n').slice(-3).join('\n'))
  return undefined
}

function environment(more: Record<string, string> = {}): Record<string, string> {
  return {
    HOME: home,
    PATH: [dirname(process.execPath), process.env.PATH ?? ''].join(delimiter),
    TERM: 'dumb',
    NO_COLOR: '1',
    CI: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    ...more,
  }
}

/** Clients call home; here they reach this machine only. */
function withoutNetwork(program: string, args: readonly string[]): [string, string[]] {
  const script = 'ip link set lo up 2>/dev/null; exec "$@"'
  return ['unshare', ['--net', '--', 'sh', '-c', script, 'sh', program, ...args]]
}

function runnerFor(program: string) {
  return (args: readonly string[], more?: Record<string, string>): string => {
    const [file, words] = withoutNetwork(program, args)
    const result: SpawnSyncReturns<string> = spawnSync(file, words, {
      cwd: workspace,
      env: environment(more),
      encoding: 'utf8',
      input: '',
      timeout: TIMEOUT_MS,
    })
    const output = `${result.stdout ?? ''}${result.stderr ?? ''}`
    if (result.status !== 0)
      throw new Error(`${args.slice(0, 3).join(' ')} ended with ${result.status}: ${output.slice(-600)}`)
    return output
  }
}

/** Asks Codex' own server which tools the servers have that it connected to. */
function codexStatus(program: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const [file, words] = withoutNetwork(program, ['app-server'])
    const server = spawn(file, words, {
      cwd: workspace,
      env: environment(),
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    const timer = setTimeout(() => finish(new Error('codex app-server did not answer')), TIMEOUT_MS)
    const finish = (result: Error | string): void => {
      clearTimeout(timer)
      server.kill()
      if (typeof result === 'string') resolve(result)
      else reject(result)
    }
    const send = (message: object): void => void server.stdin.write(`${JSON.stringify(message)}\n`)
    createInterface({ input: server.stdout }).on('line', line => {
      const { id } = JSON.parse(line) as { id?: number }
      if (id === 1) {
        send({ method: 'initialized' })
        send({ id: 2, method: 'mcpServerStatus/list', params: {} })
      }
      if (id === 2) finish(line)
    })
    server.on('error', finish)
    send({
      id: 1,
      method: 'initialize',
      params: { clientInfo: { name: 'interop', title: 'interop', version: '1' } },
    })
  })
}

function expectText(text: string, wanted: string | RegExp): void {
  const isThere = typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text)
  if (!isThere) throw new Error(`${wanted} is not in: ${text.slice(-800)}`)
}
