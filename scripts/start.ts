// `npm start`: the dashboard on a throw-away workspace whose models are rehearsals, so that everything can be tried without a key.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { styleText } from 'node:util'
import { SAMPLE_CONFIG, SAMPLE_PANELS, SAMPLE_PIPELINES, writeSampleWorkspace } from './sample-workspace.ts'
import { root } from './steps.ts'

const home = mkdtempSync(join(tmpdir(), 'kogu-start-'))
// However it ends: a build that fails leaves nothing behind either.
process.on('exit', () => rmSync(home, { recursive: true, force: true }))
const workspace = join(home, 'tea-shop')
const program = join(root, 'dist/kogu.js')
const env = {
  ...process.env,
  HOME: home,
  XDG_STATE_HOME: join(home, 'state'),
  XDG_CONFIG_HOME: join(home, 'config'),
  XDG_DATA_HOME: join(home, 'data'),
  XDG_CACHE_HOME: join(home, 'cache'),
}

const server = start()
const ended = new Promise<void>(resolve => server.once('exit', () => resolve()))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => server.kill('SIGTERM'))

const opened = await firstLine(server)
if (opened !== undefined) {
  await trustSample(opened.url)
  show(opened)
}
await ended
process.exit(opened === undefined ? 1 : 0)

function start(): ChildProcess {
  console.log('Building…')
  const built = spawnSync(process.execPath, [join(root, 'scripts/build.ts')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (built.status !== 0) process.exit(1)
  mkdirSync(join(home, 'config/kogu'), { recursive: true })
  writeFileSync(join(home, 'config/kogu/config.toml'), SAMPLE_CONFIG)
  writeSampleWorkspace(workspace)
  console.log('Starting the server and its database…')
  const port = process.argv[2] === undefined ? [] : ['--port', process.argv[2]]
  return spawn(process.execPath, [program, 'serve', '--json', ...port], {
    cwd: workspace,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    // A Ctrl-C reaches it through us, once.
    detached: true,
  })
}

/** Undefined when the server ended before it said anything. */
async function firstLine({ stdout }: ChildProcess): Promise<{ url: string; open: string } | undefined> {
  if (stdout === null) return undefined
  for await (const line of createInterface({ input: stdout })) {
    return JSON.parse(line) as { url: string; open: string } // what `kogu serve --json` prints
  }
  return undefined
}

/** Of a pipeline, all that is inside of it is trusted with it. */
interface Trusted {
  hash: string
  whole?: { hash: string }
}

/** A person would look at each panel first. These are ours. */
async function trustSample(url: string): Promise<void> {
  const token = kogu('tokens', 'create', 'sample', '--scope', 'read', '--scope', 'approve', '--json')
  const headers = { authorization: `Bearer ${token.token}`, 'content-type': 'application/json' }
  const paths = [
    ...SAMPLE_PANELS.map(name => `/api/panels/${name}`),
    ...SAMPLE_PIPELINES.map(name => `/api/pipelines/${name}`),
  ]
  for (const path of paths) {
    const found = (await (await fetch(url + path, { headers })).json()) as Trusted
    const body = JSON.stringify({ hash: found.whole?.hash ?? found.hash })
    const answer = await fetch(`${url}${path}/trust`, { method: 'POST', headers, body })
    if (!answer.ok) console.error(`${path} could not be trusted: ${await answer.text()}`)
  }
  kogu('tokens', 'revoke', token.id ?? '', '--json')
}

function kogu(...args: string[]): Record<string, string> {
  const { stdout } = spawnSync(process.execPath, [program, ...args], {
    cwd: workspace,
    env,
    encoding: 'utf8',
  })
  return JSON.parse(stdout === '' ? '{}' : stdout)
}

function show({ url, open }: { url: string; open: string }): void {
  const bold = (text: string): string => styleText('bold', text)
  console.log(`
${bold('Kogu is ready. Open this link; it signs one browser in:')}

  ${styleText('cyan', open)}

A tea shop in a folder that goes away again, with models that only rehearse: no key, no cost. Try the panel
${bold('pricing')}: it wants to change files, and you decide.

${bold('Your own folder')}
  cd ~/your-project && ${join(root, 'kogu')} serve

${bold('The same tools in the agent that you use')} (Claude Code, Codex, Gemini CLI, Cursor, VS Code, OpenCode)
  {"mcpServers": {"kogu": {"command": "${join(root, 'kogu')}", "args": ["mcp"]}}}
  ${join(root, 'kogu')} mcp install claude

Serving ${url}. Ctrl-C stops.
`)
}
