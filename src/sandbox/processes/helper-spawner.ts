import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, constants, openSync, rmSync, writeFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { ToolError } from '../../core/errors.ts'
import { createCgroup, exceededIn, type GroupLimit, keepsLimit, removeCgroupSoon } from '../walls/cgroup.ts'
import { createPrivateFolder } from '../walls/private-folder.ts'
import { killGroup } from './kill-group.ts'
import { findOwnProgram, OWN_PROGRAM_FLAGS } from './own-program.ts'
import type { FromHelper, ToHelper } from './spawn-protocol.ts'
import type { Ending, Spawner, SpawnRequest, Started } from './spawner.ts'

/** Thrown by `spawn` when this machine cannot run the helper at all. */
export class HelperUnable extends Error {
  override name = 'HelperUnable'
}

/** This helper takes no more programs, but a new one would. */
class HelperGone extends Error {
  override name = 'HelperGone'
}

interface Child {
  pid: number | undefined
  group: string | undefined
  started: PromiseWithResolvers<number>
  ended: PromiseWithResolvers<Ending>
}

/** Starts programs through the spawn helper, which is started when first needed and again when it died. */
export function createHelperSpawner(): Spawner {
  const state: { helper: Helper | undefined } = { helper: undefined }
  const alive = (): Helper => {
    if (state.helper === undefined || state.helper.gone) state.helper = new Helper()
    return state.helper
  }
  const spawnOnce = (request: SpawnRequest): Promise<Started> => alive().spawn(request)
  return {
    spawn: request =>
      spawnOnce(request).catch((error: unknown) => {
        if (error instanceof HelperGone) return spawnOnce(request)
        throw error
      }),
    prepare: () => void alive(),
    keeps: limit => alive().keeps(limit),
    close: async () => state.helper?.close(),
  }
}

class Helper {
  /** Dead, or about to be. */
  gone = false
  readonly #process: ChildProcess
  readonly #folder: string
  readonly #cgroup = createCgroup()
  readonly #children = new Map<number, Child>()
  readonly #pipes: string[] = []
  /** Those who wait for pipes, first come, first served. */
  readonly #waiting: PromiseWithResolvers<void>[] = []
  readonly #exited = Promise.withResolvers<void>()
  #nextId = 1
  #ended = false
  #closing = false
  #reason: string | undefined

  constructor() {
    this.#folder = createPrivateFolder('spawn')
    // No environment: NODE_OPTIONS of whoever started Kogu must not load code into the process that starts the rest.
    this.#process = spawn(
      process.execPath,
      [
        ...OWN_PROGRAM_FLAGS,
        findOwnProgram('processes/spawn-helper'),
        this.#folder,
        ...(this.#cgroup === undefined ? [] : [JSON.stringify(this.#cgroup)]),
      ],
      {
        stdio: ['pipe', 'pipe', 'ignore'],
        cwd: '/',
        env: {},
      },
    )
    this.#process.on('error', error => this.#die(error.message))
    // Not `exit`: its last words, which may name a program that it just started, are read before `close`.
    this.#process.on('close', () => this.#die(this.#reason))
    this.#process.stdin?.on('error', () => {
      // It died; `exit` says so too.
    })
    if (this.#process.stdout !== null) {
      createInterface({ input: this.#process.stdout }).on('line', line => {
        // Written by our own helper with the types of spawn-protocol.ts.
        this.#receive(JSON.parse(line) as FromHelper)
      })
    }
    this.#keepAlive()
  }

  async spawn(request: SpawnRequest): Promise<Started> {
    const [stdoutName, stderrName] = await this.#takePipes()
    const id = this.#nextId++
    const child: Child = {
      pid: undefined,
      group: undefined,
      started: Promise.withResolvers(),
      ended: Promise.withResolvers(),
    }
    // Nobody listens to `ended` when the start fails.
    child.ended.promise.catch(() => {})
    this.#children.set(id, child)
    this.#keepAlive()
    const outputs: number[] = []
    try {
      for (const name of [stdoutName, stderrName]) outputs.push(this.#openPipe(name))
      const [stdout, stderr] = outputs
      if (stdout === undefined || stderr === undefined) throw new Error('unreachable')
      const stdin = this.#input(id, request)
      const { file, args, cwd, env, descriptors = [], namespaces, limits } = request
      this.#send({
        id,
        file,
        args,
        cwd,
        env,
        stdout: stdoutName,
        stderr: stderrName,
        ...stdin,
        descriptors,
        ...(namespaces === undefined ? {} : { namespaces }),
        ...(limits === undefined ? {} : { limits }),
      })
      const pid = await child.started.promise
      // Read only now: a named pipe that nobody has opened for writing yet looks like one that has ended.
      return {
        pid,
        stdout: new Socket({ fd: outputs.shift() ?? -1, readable: true, writable: false }),
        stderr: new Socket({ fd: outputs.shift() ?? -1, readable: true, writable: false }),
        exceeded: () => this.#exceeded(child.group),
        ended: child.ended.promise,
        kill: signal => this.#kill(id, signal),
      }
    } catch (error) {
      for (const descriptor of outputs) closeSync(descriptor)
      this.#forget(id)
      throw error
    }
  }

  keeps(limit: GroupLimit): boolean {
    return keepsLimit(this.#cgroup, limit)
  }

  async close(): Promise<void> {
    this.#closing = true
    this.#keepAlive()
    this.#process.stdin?.end()
    await this.#exited.promise
  }

  async #takePipes(): Promise<[string, string]> {
    while (this.#pipes.length < 2) {
      if (this.gone) throw this.#reason === undefined ? new HelperGone() : new HelperUnable(this.#reason)
      const turn = Promise.withResolvers<void>()
      this.#waiting.push(turn)
      this.#keepAlive()
      await turn.promise
    }
    const [stdout, stderr] = this.#pipes.splice(0, 2)
    if (stdout === undefined || stderr === undefined) throw new Error('unreachable')
    return [stdout, stderr]
  }

  #openPipe(name: string): number {
    try {
      return openSync(join(this.#folder, name), constants.O_RDONLY | constants.O_NONBLOCK)
    } catch (error) {
      // Systems that clean up /tmp take pipes that were not used for days. What runs may go on.
      this.gone = true
      throw new HelperGone('its pipes were removed', { cause: error })
    }
  }

  #input(id: number, { stdin, stdinPath }: SpawnRequest): { stdin?: string; stdinPath?: string } {
    if (stdinPath !== undefined) return { stdinPath }
    return stdin === undefined ? {} : { stdin: this.#keepInput(id, stdin) }
  }

  /** A file, not a pipe: it needs nobody who keeps writing, and bash takes a socket for a remote shell (.bashrc). */
  #keepInput(id: number, bytes: Uint8Array): string {
    const name = `stdin-${id}`
    writeFileSync(join(this.#folder, name), bytes, { mode: 0o600, flag: 'wx' })
    return name
  }

  #send(message: ToHelper): void {
    this.#process.stdin?.write(`${JSON.stringify(message)}\n`)
  }

  #receive(message: FromHelper): void {
    switch (message.type) {
      case 'pipes':
        this.#pipes.push(...message.names)
        for (const turn of this.#waiting.splice(0)) turn.resolve()
        break
      case 'started': {
        const child = this.#children.get(message.id)
        if (child !== undefined) {
          child.pid = message.pid
          child.group = message.group
        }
        child?.started.resolve(message.pid)
        break
      }
      case 'failed':
        this.#children.get(message.id)?.started.reject(toStartError(message.code, message.message))
        this.#forget(message.id)
        break
      case 'ended':
        this.#children.get(message.id)?.ended.resolve({
          exitCode: message.exitCode,
          signal: message.signal,
          limit: message.limit,
        })
        this.#forget(message.id)
        break
      case 'unable':
        this.#reason = message.message
    }
    this.#keepAlive()
  }

  #exceeded(group: string | undefined): GroupLimit | null {
    return group === undefined || this.#cgroup === undefined ? null : exceededIn(this.#cgroup, group)
  }

  #kill(id: number, signal: 'SIGTERM' | 'SIGKILL'): void {
    const pid = this.#children.get(id)?.pid
    // Not through the helper: it shares the processors with a program that may be a fork bomb.
    killGroup({ pid }, signal)
  }

  #forget(id: number): void {
    this.#children.delete(id)
    if (this.gone && this.#children.size === 0) this.#process.stdin?.end()
    this.#keepAlive()
  }

  #die(reason: string | undefined): void {
    if (this.#ended) return
    this.#ended = true
    this.gone = true
    this.#reason ??= reason
    const error = new ToolError(
      'failed',
      'The process that starts programs died, so the program was stopped.',
      {
        hint: 'Try again; it is restarted automatically.',
      },
    )
    for (const child of this.#children.values()) {
      // Its parent is gone, so we are the only ones left who can stop it.
      killGroup(child, 'SIGKILL')
      child.started.reject(error)
      child.ended.reject(error)
    }
    this.#children.clear()
    for (const turn of this.#waiting.splice(0)) turn.resolve()
    rmSync(this.#folder, { recursive: true, force: true })
    this.#exited.resolve(this.#cgroup === undefined ? undefined : removeCgroupSoon(this.#cgroup))
  }

  /** Kogu may exit while the helper idles, and must not while it waits for an answer. */
  #keepAlive(): void {
    const busy = this.#closing || this.#children.size > 0 || this.#waiting.length > 0
    for (const handle of [this.#process, this.#process.stdin, this.#process.stdout]) {
      // Node gives children pipes that are sockets; the types say only Readable and Writable.
      const holder = handle as { ref(): void; unref(): void } | null
      if (busy) holder?.ref()
      else holder?.unref()
    }
  }
}

function toStartError(code: string, message: string): ToolError {
  if (code === 'ENOENT')
    return new ToolError('not_found', `The program or its folder does not exist: ${message}`)
  return new ToolError('failed', `The program could not be started: ${message}`, { cause: { code } })
}
