// The program that starts all other programs. Node starts a child by fork, whose cost grows with the memory of the
// process that forks and which blocks its event loop; this process stays small, so Kogu can be as large as it likes.
// It lives as long as its standard input: when Kogu ends, however it ends, everything it started is killed.
// It imports as little as possible, because its memory is what every fork copies.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { closeSync, constants, openSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Cgroup,
  exceededIn,
  type GroupLimits,
  leaveSharedGroups,
  removeCgroup,
  sharedGroups,
} from '../walls/cgroup.ts'
import { createStandIns, inNamespaces, type StandIn, type StandIns, toScript } from '../walls/stand-in.ts'
import { inheritedDescriptors } from './inherited.ts'
import { killGroup } from './kill-group.ts'
import type { FromHelper, ToHelper } from './spawn-protocol.ts'

const PIPES_AT_A_TIME = 64

const [, , folder = '', cgroupJson] = process.argv
// Written by Kogu with the type of cgroup.ts.
const cgroup = cgroupJson === undefined ? undefined : (JSON.parse(cgroupJson) as Cgroup)
const groups: Groups | undefined =
  cgroup === undefined ? undefined : { cgroup, standIns: createStandIns(cgroup) }
const running = new Map<number, ChildProcess>()
const pipes = { made: 0, free: 0 }

interface Groups {
  cgroup: Cgroup
  standIns: StandIns
}

main()

function main(): void {
  if (folder === '') process.exit(2)
  // A terminal's interrupt goes to the whole group; whether to stop is Kogu's decision, and it says so by closing stdin.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  process.stdout.on('error', end)
  for (const descriptor of inheritedDescriptors()) closeSync(descriptor)
  try {
    if (cgroup !== undefined)
      for (const path of sharedGroups(cgroup)) writeFileSync(path, String(process.pid))
    makePipes()
  } catch (error) {
    send({ type: 'unable', message: messageOf(error) })
    end()
  }
  readLines()
}

function readLines(): void {
  const parts: string[] = []
  process.stdin.setEncoding('utf8')
  process.stdin.on('data', (text: string) => {
    const lines = text.split('\n')
    for (const line of lines.slice(0, -1)) {
      parts.push(line)
      // Kogu is the only one that writes here, with the types of spawn-protocol.ts.
      const message = JSON.parse(parts.splice(0).join('')) as ToHelper
      if (message.limits === undefined || groups === undefined) start(message)
      else startInGroup(message, message.limits, groups)
    }
    parts.push(lines.at(-1) ?? '')
  })
  process.stdin.on('end', end)
  process.stdin.on('error', end)
}

function start(message: ToHelper): void {
  const { id } = message
  const opened: number[] = []
  const open = (path: string, flags: number): number => {
    const descriptor = openSync(path, flags)
    opened.push(descriptor)
    return descriptor
  }
  try {
    const input = message.stdin === undefined ? message.stdinPath : join(folder, message.stdin)
    const stdin = input === undefined ? 'ignore' : open(input, constants.O_RDONLY)
    const stdout = openPipe(message.stdout, open)
    const stderr = openPipe(message.stderr, open)
    const descriptors = message.descriptors.map(path => open(path, constants.O_RDWR))
    const [file, ...args] = inNamespaces(message)
    const child = spawn(file, args, {
      cwd: message.cwd,
      env: message.env,
      stdio: [stdin, stdout, stderr, ...descriptors],
      detached: true,
    })
    watch(id, child)
  } catch (error) {
    send({ type: 'failed', id, ...codeAndMessage(error) })
  } finally {
    for (const descriptor of opened) closeSync(descriptor)
    removeOwn([message.stdout, message.stderr, message.stdin])
    renewPipes()
  }
}

/** As `start`, by one who waits in a control group. It opens files by their names, so they stay until it has ended. */
function startInGroup(message: ToHelper, limits: GroupLimits, { cgroup, standIns }: Groups): void {
  const { id, stdout, stderr, stdin } = message
  const names = [stdout, stderr, stdin, `script-${id}`]
  const opened: number[] = []
  const taken: StandIn[] = []
  const release = (): void => {
    for (const descriptor of opened.splice(0)) closeSync(descriptor)
    removeOwn(names)
  }
  try {
    // Held open here too: Kogu takes a pipe that nobody has opened for writing for one that has ended.
    for (const name of [stdout, stderr]) opened.push(openPipe(name, openSync))
    const paths = { stdout: join(folder, stdout), stderr: join(folder, stderr) }
    const input = stdin === undefined ? message.stdinPath : join(folder, stdin)
    const script = join(folder, `script-${id}`)
    const standIn = standIns.take(message.namespaces)
    taken.push(standIn)
    const { child, group } = standIn
    const words = standIn.namespaces === undefined ? inNamespaces(message) : [message.file, ...message.args]
    writeFileSync(script, toScript({ ...message, words, ...paths, stdin: input }), { mode: 0o600 })
    running.set(id, child)
    standIn.become(script, limits, (exitCode, signal) => {
      release()
      running.delete(id)
      const limit = exceededIn(cgroup, group)
      standIns.giveBack(standIn, signal === null && exitCode !== null && limit === null)
      send({ type: 'ended', id, exitCode, signal, limit })
    })
    send({ type: 'started', id, pid: child.pid ?? -1, group })
  } catch (error) {
    release()
    running.delete(id)
    for (const standIn of taken) standIns.giveBack(standIn, false)
    send({ type: 'failed', id, ...codeAndMessage(error) })
  } finally {
    renewPipes()
  }
}

function removeOwn(names: readonly (string | undefined)[]): void {
  for (const name of names) if (name !== undefined) rmSync(join(folder, name), { force: true })
}

function renewPipes(): void {
  pipes.free -= 2
  if (pipes.free < PIPES_AT_A_TIME / 2) makePipes()
}

function watch(id: number, child: ChildProcess): void {
  child.on('error', error => send({ type: 'failed', id, ...codeAndMessage(error) }))
  if (child.pid === undefined) return
  const { pid } = child
  running.set(id, child)
  send({ type: 'started', id, pid })
  child.on('exit', (exitCode, signal) => {
    running.delete(id)
    // The program is over; what it left in its group is over too.
    killGroup({ pid }, 'SIGKILL')
    send({ type: 'ended', id, exitCode, signal, limit: null })
  })
}

/** The writing end. Opened for both directions first, because opening for writing alone waits for a reader. */
function openPipe(name: string, open: (path: string, flags: number) => number): number {
  const path = join(folder, name)
  const both = openSync(path, constants.O_RDWR)
  try {
    return open(path, constants.O_WRONLY)
  } finally {
    closeSync(both)
  }
}

/** Named pipes rather than Node's own socket pairs: `/dev/stdout` cannot be opened when it is a socket. */
function makePipes(): void {
  const names = Array.from({ length: PIPES_AT_A_TIME }, (_, index) => `p${pipes.made + index}`)
  execFileSync('mkfifo', ['-m', '600', ...names], { cwd: folder, env: { PATH: '/usr/bin:/bin' } })
  pipes.made += names.length
  pipes.free += names.length
  send({ type: 'pipes', names })
}

function end(): void {
  for (const child of running.values()) killGroup(child, 'SIGKILL')
  rmSync(folder, { recursive: true, force: true })
  if (groups !== undefined) endGroups(groups)
  process.exit(0)
}

/** What was killed needs a moment to be gone. Longer than this only under load: the next Kogu sees to it. */
function endGroups({ cgroup, standIns }: Groups): void {
  standIns.end()
  leaveSharedGroups(cgroup)
  const pause = new Int32Array(new SharedArrayBuffer(4))
  for (let attempt = 0; attempt < 20 && !removeCgroup(cgroup); attempt += 1) Atomics.wait(pause, 0, 0, 5)
}

function send(message: FromHelper): void {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}

function codeAndMessage(error: unknown): { code: string; message: string } {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return { code, message: messageOf(error) }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
