// The process that keeps a shared server: started by the first Kogu that needs it, detached, and gone some time after the
// last one has disconnected. Each user holds a connection; the kernel closes it however the user ends, kill -9 included.
// A server that dies is started again, so that users only have to connect anew.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, openSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { tryLock } from '../../core/lock-file.ts'
import { createPrivateFolder } from '../walls/private-folder.ts'
import { announcePort, announceServer, keeperSocket } from './server-place.ts'
import type { FromKeeper, SharedServer } from './server-protocol.ts'

const START_MS = 20_000
const STOP_MS = 10_000
const MOST_RESTARTS = 20
const MOST_LOG = 5 * 1024 * 1024

// Written by Kogu with the type of server-protocol.ts.
const server = JSON.parse(process.argv[2] ?? '') as SharedServer
const users = new Set<Socket>()
const state: { child: ChildProcess | undefined; restarts: number; stopping: boolean; idle?: NodeJS.Timeout } =
  { child: undefined, restarts: 0, stopping: false }

await main()

async function main(): Promise<void> {
  // Another keeper was faster: whoever started us finds it.
  if (tryLock(join(server.folder, 'keeper.lock')) === undefined) process.exit(1)
  process.umask(0o077)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop(''))
  const place = createPrivateFolder('server')
  await stopOrphan()
  const started = start(place)
  createServer(socket => void greet(socket, place, started)).listen(keeperSocket(place), () => {
    announceServer(server.folder, place)
  })
  stopWhenIdle()
}

async function greet(socket: Socket, place: string, started: Promise<void>): Promise<void> {
  // A client that came now would be told a place that is about to go. Without an answer it starts another keeper.
  if (state.stopping) {
    socket.destroy()
    return
  }
  clearTimeout(state.idle)
  users.add(socket)
  socket.on('error', () => socket.destroy())
  socket.on('close', () => {
    users.delete(socket)
    if (users.size === 0) stopWhenIdle()
  })
  socket.resume()
  const answer: FromKeeper = await started.then(
    () => ({ ready: true, place }),
    error => ({ ready: false, message: error instanceof Error ? error.message : String(error) }),
  )
  socket.write(`${JSON.stringify(answer)}\n`)
  if (!answer.ready) await stop(answer.message)
}

function stopWhenIdle(): void {
  clearTimeout(state.idle)
  state.idle = setTimeout(() => void stop(''), server.lingerMs)
}

async function start(place: string): Promise<void> {
  const log = join(server.folder, 'server.log')
  if (existsSync(log) && statSync(log).size > MOST_LOG) truncateSync(log)
  const out = openSync(log, 'a', 0o600)
  const port = server.args.some(arg => arg.includes('{port}')) ? await freePort() : undefined
  if (port !== undefined) announcePort(place, port)
  const fill = (text: string): string => text.replaceAll('{place}', place).replaceAll('{port}', String(port))
  const child = spawn(server.file, server.args.map(fill), {
    cwd: '/',
    // Messages in English and nothing of the person's own environment.
    env: { LC_ALL: 'C', PATH: '/usr/bin:/bin', TZ: 'UTC' },
    stdio: ['ignore', out, out],
  })
  state.child = child
  const exit = new Promise<string>(resolve => {
    child.once('error', error => resolve(error.message))
    child.once('exit', (code, signal) => resolve(`it ended with ${signal ?? `code ${code}`}`))
  })
  void exit.then(async reason => {
    if (state.stopping) return
    state.restarts += 1
    if (state.restarts > MOST_RESTARTS) return stop(reason)
    await sleep(100 * state.restarts)
    await stopOrphan()
    await start(place).catch(error => stop(String(error)))
  })
  const deadline = performance.now() + START_MS
  while (!(server.ready === undefined ? saysReady() : existsSync(fill(server.ready)))) {
    const ended = await Promise.race([exit, sleep(10)])
    if (ended !== undefined) throw new Error(`${ended}. ${lastLines(log)}`)
    if (performance.now() > deadline) throw new Error(`it did not start within ${START_MS / 1000} s.`)
  }
}

/** Somebody else may take it before the server does; the server then ends, and is started again with another one. */
async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>(resolve => probe.listen(0, '127.0.0.1', resolve))
  const address = probe.address()
  await new Promise(resolve => probe.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** The last line of PostgreSQL's pid file; `starting` before. */
function saysReady(): boolean {
  try {
    return readFileSync(server.pidFile, 'utf8').trimEnd().endsWith('ready')
  } catch {
    return false
  }
}

function lastLines(log: string): string {
  return readFileSync(log, 'utf8').trimEnd().split('\n').slice(-3).join(' ')
}

/** A keeper that was killed leaves its server behind, which would keep the new one from its files. */
async function stopOrphan(): Promise<void> {
  const deadline = performance.now() + STOP_MS
  for (let signal: NodeJS.Signals = 'SIGINT'; ; ) {
    const pid = orphan()
    if (pid === undefined) return
    if (performance.now() > deadline) signal = 'SIGQUIT'
    try {
      process.kill(pid, signal)
    } catch {
      return
    }
    await sleep(50)
  }
}

function orphan(): number | undefined {
  try {
    const pid = Number(readFileSync(server.pidFile, 'utf8').split('\n')[0])
    // The pid may belong to another program by now.
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    return server.args.some(arg => arg.startsWith('/') && command.includes(`\0${arg}\0`)) ? pid : undefined
  } catch {
    // No pid file, or no such process.
    return undefined
  }
}

async function stop(reason: string): Promise<void> {
  if (state.stopping) return
  state.stopping = true
  const { child } = state
  if (child?.exitCode === null && child.signalCode === null) {
    const exit = new Promise(resolve => child.once('exit', resolve))
    // PostgreSQL: disconnect everybody, write everything down, end.
    child.kill('SIGINT')
    await Promise.race([exit, sleep(STOP_MS)])
    child.kill('SIGQUIT')
  }
  for (const user of users) user.destroy()
  const place = currentPlace()
  if (place !== undefined) rmSync(place, { recursive: true, force: true })
  process.exit(reason === '' ? 0 : 1)
}

function currentPlace(): string | undefined {
  try {
    return readFileSync(join(server.folder, 'place'), 'utf8')
  } catch {
    return undefined
  }
}
