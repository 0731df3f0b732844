// The process that owns background commands: started by Kogu, detached, so that they live on when Kogu exits, and gone
// when none is left. When it is killed, its commands die with it (bubblewrap's --die-with-parent).
import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { tryLock } from '../../core/lock-file.ts'
import { identityOf } from '../../core/made-here.ts'
import { writeWhole } from '../../core/write-whole.ts'
import { openRunFolder, removeRunFolder } from '../layer/run-folder.ts'
import { type HostPorts, openHostPorts } from '../network/host-ports.ts'
import { createProcesses } from '../processes/processes.ts'
import { isWaitingForInput } from '../processes/waiting.ts'
import { createSandbox, type Sandbox, type SandboxResult } from '../walls/sandbox.ts'
import { findSandboxSystem } from '../walls/system.ts'
import { createBackgroundLog } from './background-log.ts'
import type {
  BackgroundCommand,
  BackgroundMeta,
  FromSupervisor,
  ToSupervisor,
} from './background-protocol.ts'
import {
  announceSupervisor,
  createSupervisorPlace,
  inputPlace,
  portsPlace,
  supervisorSocket,
} from './supervisor-place.ts'

interface Running {
  stdin: number | undefined
  stdinPath: string
  pid: number | undefined
  stop: AbortController
}

const IDLE_MS = 30_000
const LOG_LIMIT = 20 * 1024 * 1024
const LINE_LIMIT = 16 * 1024 * 1024

const [, , folder = ''] = process.argv
const sockets = createSupervisorPlace()
const processes = createProcesses({ spawner: 'direct' })
const running = new Map<string, Running>()
const idle: { timer: NodeJS.Timeout | undefined } = { timer: undefined }

main()

function main(): void {
  const system = findSandboxSystem()
  // Another one is faster, or there is no sandbox: whoever started us finds that nobody answers.
  if (tryLock(join(folder, 'supervisor.lock')) === undefined || typeof system === 'string') {
    rmSync(sockets, { recursive: true, force: true })
    process.exit(1)
  }
  const sandbox = createSandbox({ processes, system })
  process.umask(0o077)
  createServer(socket => serve(socket, sandbox)).listen(supervisorSocket(sockets), () => {
    announceSupervisor(folder, sockets)
  })
  exitWhenIdle(sandbox)
}

function serve(socket: Socket, sandbox: Sandbox): void {
  let text = ''
  socket.setEncoding('utf8')
  socket.on('error', () => socket.destroy())
  socket.on('data', (chunk: string) => {
    text += chunk
    if (text.length > LINE_LIMIT) socket.destroy()
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n')) {
      const line = text.slice(0, end)
      text = text.slice(end + 1)
      void answer(line, sandbox).then(reply => socket.write(`${JSON.stringify(reply)}\n`))
    }
  })
}

async function answer(line: string, sandbox: Sandbox): Promise<FromSupervisor> {
  try {
    // Only the user's own processes can connect, and Kogu writes with the types of background-protocol.ts.
    return await handle(JSON.parse(line) as ToSupervisor, sandbox)
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) }
  }
}

async function handle(message: ToSupervisor, sandbox: Sandbox): Promise<FromSupervisor> {
  switch (message.type) {
    case 'ping':
      return { ok: true, running: running.size > 0 }
    case 'start':
      await start(message.command, sandbox)
      return { ok: true, running: true }
    case 'input':
      return giveInput(message.id, Buffer.from(message.base64, 'base64'), message.end)
    case 'stop':
      running.get(message.id)?.stop.abort()
      return { ok: true, running: running.has(message.id) }
    case 'status': {
      const command = running.get(message.id)
      const waiting = command?.pid !== undefined && isWaitingForInput(command.pid, command.stdinPath)
      return { ok: true, running: command !== undefined, waitingForInput: waiting }
    }
  }
}

/** Nothing runs, and nothing is remembered, when a port cannot be had. */
async function start(command: BackgroundCommand, sandbox: Sandbox): Promise<void> {
  clearTimeout(idle.timer)
  const { id, title, owner, lifetimeMs } = command
  const place = join(folder, id)
  const { cwd } = command.profile
  const meta = { id, title, owner, startedAt: Date.now(), lifetimeMs, ports: command.ports, cwd }
  mkdirSync(place, { mode: 0o700 })
  try {
    writeMeta(place, meta)
    const { privateTmp } = command.profile
    if (privateTmp !== undefined) openRunFolder(dirname(privateTmp), basename(privateTmp))
    const ports = await openHostPorts(portsPlace(sockets, id), command.ports)
    void own(command, meta, { place, ports, sandbox })
  } catch (error) {
    rmSync(place, { recursive: true, force: true })
    removeTemporary(command.profile.privateTmp)
    exitWhenIdle(sandbox)
    throw error
  }
}

interface Resources {
  place: string
  ports: HostPorts
  sandbox: Sandbox
}

function failedWith(error: unknown): Omit<Ended, 'at'> {
  const message = error instanceof Error ? error.message : String(error)
  return { exitCode: null, signal: null, reason: 'failed', message }
}

/** From start to end. What happens is told by `meta.json`, so nothing may escape. */
async function own(
  command: BackgroundCommand,
  meta: Omit<BackgroundMeta, 'folder'>,
  resources: Resources,
): Promise<void> {
  const { place, ports, sandbox } = resources
  const ended = await run(command, resources).catch(failedWith)
  // Before it is told that it ended: nobody finds the port taken then.
  ports.close()
  removeTemporary(command.profile.privateTmp)
  writeMeta(place, { ...meta, ended: { at: Date.now(), ...ended } })
  // Only now: whoever hears that it does not run any more wants to read how it ended.
  running.delete(command.id)
  exitWhenIdle(sandbox)
}

async function run(command: BackgroundCommand, { place, sandbox }: Resources): Promise<Omit<Ended, 'at'>> {
  const log = createBackgroundLog(place, LOG_LIMIT)
  const stdinPath = inputPlace(sockets, command.id)
  execFileSync('mkfifo', ['-m', '600', stdinPath], { env: { PATH: '/usr/bin:/bin' } })
  // Both ways, so that neither side waits for the other; what is written before anybody reads stays in the pipe.
  const stdin = openSync(stdinPath, constants.O_RDWR | constants.O_NONBLOCK)
  const entry: Running = { stdin, stdinPath, pid: undefined, stop: new AbortController() }
  running.set(command.id, entry)
  try {
    const result = await sandbox.run(command.profile, {
      file: command.file,
      args: command.args,
      stdinPath,
      timeoutMs: command.lifetimeMs,
      signal: entry.stop.signal,
      ports: { opened: { folder: portsPlace(sockets, command.id), ports: command.ports } },
      onStarted: pid => {
        entry.pid = pid
      },
      onStdout: chunk => log.write(chunk) ?? undefined,
      onStderr: chunk => log.write(chunk) ?? undefined,
    })
    return { exitCode: result.exitCode, signal: result.signal, reason: reasonOf(result) }
  } finally {
    if (entry.stdin !== undefined) closeSync(entry.stdin)
    entry.stdin = undefined
    log.close()
    rmSync(stdinPath, { force: true })
  }
}

/** Nobody else uses it. It is no reason to forget how the command ended. */
function removeTemporary(path: string | undefined): void {
  try {
    if (path !== undefined) removeRunFolder(dirname(path), basename(path))
  } catch {
    // Somebody else's files are in it.
  }
}

type Ended = NonNullable<BackgroundMeta['ended']>

function reasonOf(result: SandboxResult): Ended['reason'] {
  if (result.limit !== null) return result.limit
  if (result.timedOut) return 'lifetime'
  return result.stopped ? 'stopped' : 'exited'
}

function giveInput(id: string, bytes: Uint8Array, end: boolean): FromSupervisor {
  const command = running.get(id)
  if (command?.stdin === undefined) return { ok: false, message: 'The command no longer accepts input.' }
  const written = bytes.length === 0 ? 0 : writeSync(command.stdin, bytes)
  if (end) {
    closeSync(command.stdin)
    command.stdin = undefined
  }
  if (written < bytes.length)
    return { ok: false, message: `The command accepted only ${written} bytes: it reads slowly.` }
  return { ok: true, running: true }
}

function writeMeta(place: string, meta: Omit<BackgroundMeta, 'folder'>): void {
  writeWhole(join(place, 'meta.json'), JSON.stringify({ ...meta, folder: identityOf(place) }))
}

function exitWhenIdle(sandbox: Sandbox): void {
  clearTimeout(idle.timer)
  if (running.size > 0) return
  idle.timer = setTimeout(() => {
    sandbox.close()
    rmSync(sockets, { recursive: true, force: true })
    void processes.close().finally(() => process.exit(0))
  }, IDLE_MS)
}
