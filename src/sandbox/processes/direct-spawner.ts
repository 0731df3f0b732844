import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { devNull, tmpdir } from 'node:os'
import { join } from 'node:path'
import { isSystemError, ToolError } from '../../core/errors.ts'
import {
  type Cgroup,
  createCgroup,
  exceededIn,
  type GroupLimit,
  type GroupLimits,
  keepsLimit,
  limitGroup,
  openGroup,
  removeCgroupSoon,
  removeGroupSoon,
  sharedGroups,
} from '../walls/cgroup.ts'
import { inNamespaces, withGroup } from '../walls/stand-in.ts'
import { inheritedDescriptors } from './inherited.ts'
import { killGroup } from './kill-group.ts'
import type { Ending, Spawner, SpawnRequest, Started } from './spawner.ts'

/**
 * Starts programs from this process itself, for systems where the spawn helper cannot work (Windows, no mkfifo). What
 * it cannot promise: when Kogu is killed by force, a program without a sandbox lives on.
 */
export function createDirectSpawner(): Spawner {
  const running = new Set<ChildProcess>()
  const state: { groups: Groups | undefined } = { groups: undefined }
  const groups = (): Groups => {
    state.groups ??= { cgroup: createCgroup(), made: 0 }
    return state.groups
  }
  return {
    async spawn(wanted) {
      const [file, ...args] = inNamespaces(wanted)
      const request = { ...wanted, file, args }
      if (request.limits === undefined) return await start(request, running, NO_GROUP)
      const [inGroup, group] = prepareGroup(request, request.limits, groups())
      return await start(inGroup, running, group)
    },
    prepare: () => {},
    keeps: limit => keepsLimit(groups().cgroup, limit),
    async close() {
      for (const child of running) killGroup(child, 'SIGKILL')
      const cgroup = state.groups?.cgroup
      if (cgroup !== undefined) await removeCgroupSoon(cgroup)
      state.groups = undefined
    },
  }
}

interface Groups {
  cgroup: Cgroup | undefined
  made: number
}

/** The control group of one program. */
interface Group {
  exceeded(): GroupLimit | null
  leave(): void
}

const NO_GROUP: Group = { exceeded: () => null, leave: () => {} }

function prepareGroup(request: SpawnRequest, limits: GroupLimits, groups: Groups): [SpawnRequest, Group] {
  const { cgroup } = groups
  if (cgroup === undefined) return [request, NO_GROUP]
  groups.made += 1
  const name = `command-${groups.made}`
  const procs = [...openGroup(cgroup, name), ...sharedGroups(cgroup)]
  limitGroup(cgroup, name, limits)
  const [file, args] = withGroup(procs, request.file, request.args)
  return [
    { ...request, file, args },
    { exceeded: () => exceededIn(cgroup, name), leave: () => removeGroupSoon(cgroup, name) },
  ]
}

function start(request: SpawnRequest, running: Set<ChildProcess>, group: Group): Promise<Started> {
  const opened: number[] = []
  const open = (path: string, flags: string): number => {
    const descriptor = openSync(path, flags)
    opened.push(descriptor)
    return descriptor
  }
  try {
    const stdin = openInput(request)
    if (typeof stdin === 'number') opened.push(stdin)
    const stdio: (number | 'ignore' | 'pipe')[] = [stdin, 'pipe', 'pipe']
    for (const path of request.descriptors ?? []) stdio.push(open(path, 'r+'))
    const empty = open(devNull, 'r')
    for (const inherited of inheritedDescriptors()) {
      while (stdio.length <= inherited) stdio.push('ignore')
      // Node passes on what it is not told of; this puts nothing in its place.
      if (stdio[inherited] === 'ignore') stdio[inherited] = empty
    }
    const child = spawn(request.file, request.args, {
      cwd: request.cwd,
      env: request.env,
      stdio,
      detached: process.platform !== 'win32',
    })
    return watch(child, running, group)
  } finally {
    for (const descriptor of opened) closeSync(descriptor)
  }
}

function watch(child: ChildProcess, running: Set<ChildProcess>, group: Group): Promise<Started> {
  const { stdout, stderr, pid } = child
  const failed = Promise.withResolvers<never>()
  child.on('error', error => {
    group.leave()
    const missing = isSystemError(error) && error.code === 'ENOENT'
    failed.reject(
      new ToolError(missing ? 'not_found' : 'failed', `The program could not be started: ${error.message}`),
    )
  })
  if (pid === undefined || stdout === null || stderr === null) return failed.promise
  running.add(child)
  const ended = Promise.withResolvers<Ending>()
  child.on('exit', (exitCode, signal) => {
    running.delete(child)
    killGroup(child, 'SIGKILL')
    ended.resolve({ exitCode, signal, limit: group.exceeded() })
    group.leave()
  })
  const kill = (signal: 'SIGTERM' | 'SIGKILL'): void => {
    if (running.has(child)) killGroup(child, signal)
  }
  return Promise.resolve({ pid, stdout, stderr, exceeded: group.exceeded, ended: ended.promise, kill })
}

function openInput({ stdin, stdinPath }: SpawnRequest): number | 'ignore' {
  if (stdinPath !== undefined) return openSync(stdinPath, 'r')
  return stdin === undefined ? 'ignore' : toDescriptor(stdin)
}

/** A file instead of a pipe, because bash takes a socket for a remote shell and reads the user's start-up files. */
function toDescriptor(bytes: Uint8Array): number {
  const folder = mkdtempSync(join(tmpdir(), 'kogu-stdin-'))
  try {
    writeFileSync(join(folder, 'stdin'), bytes, { mode: 0o600 })
    return openSync(join(folder, 'stdin'), 'r')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
