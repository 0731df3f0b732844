import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Approver } from '../../src/core/approval.ts'
import { DEFAULT_SANDBOX_LIMITS } from '../../src/core/sandbox.ts'
import { createProcesses } from '../../src/sandbox/processes/processes.ts'
import { createSandbox } from '../../src/sandbox/walls/sandbox.ts'
import { findSandboxSystem } from '../../src/sandbox/walls/system.ts'
import { visibleNode } from '../support/outside-tmp.ts'
import { openTestRuntime, type TestRuntime } from '../support/runtime.ts'

/** Who gets an answer from a server in the background, when; '-' is none. */
export interface BridgeReport {
  host: string
  sameWorkspace: string
  sameWorkspaceByNode: string
  duringPreview: string
  otherWorkspace: string
  listed: boolean
  /** Sockets and pipes that are there for a command which sees the whole workspace of the server. */
  sockets: string[]
  afterStop: { host: string; sameWorkspace: string }
  afterKill: { host: string; sameWorkspace: string }
}

/** Runs real servers in two workspaces, as the user who runs this process. */
export async function tryBridge(): Promise<BridgeReport> {
  // Ports are for lines that were approved; contained ones reach nothing.
  const config = '[permissions]\ncommands = "ask"\n'
  const [own, other] = [await openTestRuntime(config, YES), await openTestRuntime(config, YES)]
  const port = await freePort()
  try {
    for (const { write } of [own, other]) writeScripts(write, port)
    const first = await startServer(own, port)
    const report = {
      host: await fromHost(port),
      sameWorkspace: await run(own, 'sh reach.sh'),
      sameWorkspaceByNode: await run(own, `${visibleNode()} reach.js`),
      duringPreview: await run(own, 'sh reach.sh', { preview: true }),
      otherWorkspace: await run(other, 'sh reach.sh'),
      sockets: await visibleSockets(own),
      listed: (await call(own, 'command_list', {})).includes(`http://127.0.0.1:${port}`),
    }
    await call(own, 'command_stop', { id: first })
    const afterStop = { host: await fromHost(port), sameWorkspace: await run(own, 'sh reach.sh') }
    await startServer(own, port)
    killSupervisor(own)
    await sleep(100)
    const afterKill = { host: await fromHost(port), sameWorkspace: await run(own, 'sh reach.sh') }
    return { ...report, afterStop, afterKill }
  } finally {
    for (const each of [own, other]) {
      killSupervisor(each)
      await each.close()
    }
  }
}

const YES: Approver = { ask: async () => ({ kind: 'once', user: 'test' }) }

/** In files: a line that names an address of this machine is refused before it runs. */
function writeScripts(write: TestRuntime['write'], port: number): void {
  const answer = `require('node:http').createServer((_, answer) => answer.end('hello')).listen(${port}, 'localhost'`
  write('server.js', `${answer}, () => console.log('listening'))`)
  const addresses = ['127.0.0.1', 'localhost', '[::1]'].map(host => `http://${host}:${port}/`)
  write(
    'reach.sh',
    addresses.map(url => `curl -sS --max-time 5 ${url} 2>/dev/null || printf -- -\n`).join(''),
  )
  write('reach.js', `fetch('${addresses[1]}').then(r => r.text()).catch(() => '-').then(console.log)`)
}

/** Commands see all other workspaces, read-only, which keeps nobody from connecting to a socket in them. */
async function visibleSockets({ home, workspace }: TestRuntime): Promise<string[]> {
  const system = findSandboxSystem()
  if (typeof system === 'string') throw new Error(system)
  const processes = createProcesses({ spawner: 'direct' })
  const sandbox = createSandbox({ processes, system })
  const output: string[] = []
  const [place = ''] = readFileSync(join(workspace, '.kogu/background/supervisor.place'), 'utf8').split('\n')
  const script = `find ${home} /run ${place} -type s -o -type p 2>/dev/null`
  await sandbox.run(
    {
      ...{ writable: [], readable: [home], hidden: [], protected: [], network: 'none', unixSockets: true },
      ...{ env: {}, cwd: '/', limits: DEFAULT_SANDBOX_LIMITS },
    },
    {
      file: '/bin/sh',
      args: ['-c', script],
      timeoutMs: 20_000,
      signal: new AbortController().signal,
      onStdout: chunk => void output.push(Buffer.from(chunk).toString()),
    },
  )
  sandbox.close()
  return output
    .join('')
    .split('\n')
    .filter(line => line !== '')
}

async function startServer(on: TestRuntime, port: number): Promise<string> {
  const command = `${visibleNode()} server.js`
  const started = await call(on, 'run_command', { command, background: true, ports: [port] })
  const id = /as ([\w-]+)\./.exec(started)?.[1] ?? ''
  for (let tries = 0; tries < 50; tries += 1) {
    if ((await call(on, 'command_output', { id, wait_ms: 200 })).includes('listening')) return id
  }
  throw new Error(`the server did not start: ${started}`)
}

async function run(on: TestRuntime, command: string, more: object = {}): Promise<string> {
  const text = await call(on, 'run_command', { command, ...more })
  return text.split('\n')[0] ?? ''
}

async function call({ runtime }: TestRuntime, tool: string, input: object): Promise<string> {
  const result = await runtime.call({ tool, input })
  return result.error === null ? result.text : `${result.error.code}: ${result.error.message}`
}

function fromHost(port: number): Promise<string> {
  return fetch(`http://127.0.0.1:${port}/`).then(
    answer => answer.text(),
    () => '-',
  )
}

function killSupervisor({ workspace }: TestRuntime): void {
  const lock = join(workspace, '.kogu/background/supervisor.lock')
  const supervisor = Number(existsSync(lock) ? readFileSync(lock, 'utf8').split(' ')[0] : 0)
  if (supervisor > 0 && existsSync(`/proc/${supervisor}`)) process.kill(supervisor, 'SIGKILL')
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise(resolve => server.close(resolve))
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}

if (import.meta.main) process.stdout.write(JSON.stringify(await tryBridge()))
