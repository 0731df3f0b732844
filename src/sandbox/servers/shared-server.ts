import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { ToolError } from '../../core/errors.ts'
import { findOwnProgram, OWN_PROGRAM_FLAGS } from '../processes/own-program.ts'
import { findServerPlace, keeperSocket } from './server-place.ts'
import type { FromKeeper, SharedServer } from './server-protocol.ts'

/** The server stays at least until this is released, or this process ends. */
export interface ServerLease {
  /** The folder of its sockets. */
  readonly place: string
  release(): void
}

const START_MS = 30_000

/** Uses a server that runs already or starts it. Must be called on the folder's owner's behalf only. */
export async function useSharedServer(server: SharedServer): Promise<ServerLease> {
  mkdirSync(server.folder, { recursive: true, mode: 0o700 })
  const deadline = performance.now() + START_MS
  for (let started = Number.NEGATIVE_INFINITY; performance.now() < deadline; ) {
    const lease = await joinKeeper(server.folder)
    if (lease !== undefined) return lease
    // A keeper that is just stopping holds its lock: the one we start then gives way, and we try again.
    if (performance.now() - started > 1_000) {
      started = performance.now()
      startKeeper(server)
    }
    await sleep(10)
  }
  throw new ToolError('failed', 'The database server could not be started.', { hint: logHint(server.folder) })
}

function startKeeper(server: SharedServer): void {
  const program = [...OWN_PROGRAM_FLAGS, findOwnProgram('servers/server-keeper'), JSON.stringify(server)]
  spawn(process.execPath, program, { detached: true, stdio: 'ignore', cwd: '/', env: {} }).unref()
}

/** Undefined when nobody is there. */
async function joinKeeper(folder: string): Promise<ServerLease | undefined> {
  const place = findServerPlace(folder)
  if (place === undefined) return undefined
  const socket = connect(keeperSocket(place))
  const answer = await firstLine(socket)
  if (answer === undefined) return undefined
  // Written by our own keeper with the types of server-protocol.ts.
  const message = JSON.parse(answer) as FromKeeper
  if (!message.ready) {
    socket.destroy()
    throw new ToolError('failed', `The database server could not be started: ${message.message}`, {
      hint: logHint(folder),
    })
  }
  // Holding the connection must not keep this process alive.
  socket.unref()
  return { place: message.place, release: () => socket.destroy() }
}

function firstLine(socket: Socket): Promise<string | undefined> {
  return new Promise(resolve => {
    let text = ''
    socket.setEncoding('utf8')
    socket.on('data', (chunk: string) => {
      text += chunk
      if (text.includes('\n')) resolve(text)
    })
    socket.on('error', () => resolve(undefined))
    socket.on('close', () => resolve(undefined))
  })
}

function logHint(folder: string): string {
  return `Its log is ${folder}/server.log. Set DATABASE_URL to use a PostgreSQL of your own.`
}
