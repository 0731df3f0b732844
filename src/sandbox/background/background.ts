import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ToolError } from '../../core/errors.ts'
import { identityOf } from '../../core/made-here.ts'
import type { PortFolder } from '../network/network.ts'
import { findOwnProgram, OWN_PROGRAM_FLAGS } from '../processes/own-program.ts'
import { logFiles } from './background-log.ts'
import type {
  BackgroundCommand,
  BackgroundMeta,
  FromSupervisor,
  ToSupervisor,
} from './background-protocol.ts'
import { findSupervisorPlace, portsPlace, supervisorSocket } from './supervisor-place.ts'

/** Commands that go on when Kogu exits. */
export interface Background {
  start(command: BackgroundCommand): Promise<void>
  /** All that are remembered, the oldest first, also those that ended. */
  list(): Promise<BackgroundState[]>
  state(id: string): Promise<BackgroundState>
  /** Ports of those that run, for other sandboxes of the same workspace. */
  openPorts(): Promise<PortFolder[]>
  /** Files that hold its newest output, older part first; for `readOutputLines` and `searchOutput`. */
  outputFiles(id: string): string[]
  input(id: string, bytes: Uint8Array, end: boolean): Promise<void>
  /** Returns when it has ended. */
  stop(id: string): Promise<BackgroundState>
}

export interface BackgroundState extends BackgroundMeta {
  running: boolean
  /** A best guess. */
  waitingForInput: boolean
}

const START_MS = 5_000
const STOP_MS = 10_000

/** `folder` is Kogu's own and not writable for commands: whoever can write there can start programs. */
export function createBackground(folder: string): Background {
  const ask = (message: ToSupervisor): Promise<FromSupervisor> => question(folder, message)
  const state = async (id: string): Promise<BackgroundState> => {
    const meta = readMeta(folder, id)
    if (meta.ended !== undefined) return { ...meta, running: false, waitingForInput: false }
    const answer = await ask({ type: 'status', id }).catch(nobodyThere)
    const running = answer.ok && answer.running
    // It may have ended since.
    return { ...readMeta(folder, id), running, waitingForInput: answer.ok && answer.waitingForInput === true }
  }
  const list = async (): Promise<BackgroundState[]> => {
    const names = existsSync(folder) ? readdirSync(folder) : []
    const ids = names.filter(name => ownMeta(folder, name) !== undefined)
    const states = await Promise.all(ids.map(state))
    return states.sort((a, b) => a.startedAt - b.startedAt)
  }
  return {
    state,
    list,
    async openPorts() {
      const open = (await list()).filter(({ running, ports }) => running && ports.length > 0)
      const place = findSupervisorPlace(folder)
      return place === undefined
        ? []
        : open.map(({ id, ports }) => ({ folder: portsPlace(place, id), ports }))
    },
    async start(command) {
      checkId(command.id)
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      await startSupervisor(folder)
      await expectOk(ask({ type: 'start', command }))
    },
    outputFiles(id) {
      readMeta(folder, id)
      return logFiles(join(folder, id))
    },
    async input(id, bytes, end) {
      await expectOk(ask({ type: 'input', id, base64: Buffer.from(bytes).toString('base64'), end }))
    },
    async stop(id) {
      await ask({ type: 'stop', id }).catch(nobodyThere)
      const deadline = performance.now() + STOP_MS
      for (;;) {
        const now = await state(id)
        if (!now.running || performance.now() > deadline) return now
        await sleep(20)
      }
    },
  }
}

/** It was killed, and its commands with it. */
function nobodyThere(): FromSupervisor {
  return { ok: false, message: 'The supervisor of background commands is not running.' }
}

async function expectOk(asked: Promise<FromSupervisor>): Promise<void> {
  const answer = await asked.catch(nobodyThere)
  if (!answer.ok) throw new ToolError('failed', answer.message)
}

function readMeta(folder: string, id: string): BackgroundMeta {
  const meta = ownMeta(folder, checkId(id))
  if (meta !== undefined) return meta
  throw new ToolError('not_found', `There is no background command ${id}.`, {
    hint: 'List them with command_list.',
  })
}

/** Undefined: there is none, or it was not written here by our supervisor. */
function ownMeta(folder: string, name: string): BackgroundMeta | undefined {
  try {
    const place = join(folder, name)
    const meta = JSON.parse(readFileSync(join(place, 'meta.json'), 'utf8')) as BackgroundMeta | null
    return meta?.folder === identityOf(place) ? meta : undefined
  } catch {
    return undefined
  }
}

/** It becomes the name of a folder. */
function checkId(id: string): string {
  if (/^[A-Za-z0-9-]{1,64}$/.test(id)) return id
  throw new ToolError('invalid_input', "A background command's id has only letters, digits and hyphens.")
}

async function startSupervisor(folder: string): Promise<void> {
  const deadline = performance.now() + START_MS
  const ping = (): Promise<boolean> =>
    question(folder, { type: 'ping' }).then(
      answer => answer.ok,
      () => false,
    )
  if (await ping()) return
  const program = [...OWN_PROGRAM_FLAGS, findOwnProgram('background/supervisor'), folder]
  spawn(process.execPath, program, { detached: true, stdio: 'ignore', cwd: '/', env: {} }).unref()
  while (!(await ping())) {
    if (performance.now() > deadline) {
      throw new ToolError('failed', 'The supervisor of background commands could not be started.', {
        hint: 'Run `kogu doctor`: background commands need the sandbox.',
      })
    }
    await sleep(15)
  }
}

function question(folder: string, message: ToSupervisor): Promise<FromSupervisor> {
  return new Promise((resolve, reject) => {
    const place = findSupervisorPlace(folder)
    if (place === undefined) return reject(new Error('no supervisor'))
    const socket = connect(supervisorSocket(place))
    let text = ''
    socket.setEncoding('utf8')
    socket.setTimeout(START_MS, () => socket.destroy(new Error('no answer')))
    socket.on('connect', () => socket.write(`${JSON.stringify(message)}\n`))
    socket.on('data', (chunk: string) => {
      text += chunk
      if (!text.endsWith('\n')) return
      // Written by our own supervisor with the types of background-protocol.ts.
      resolve(JSON.parse(text) as FromSupervisor)
      socket.end()
    })
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('no answer')))
  })
}
