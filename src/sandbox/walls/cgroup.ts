// Control groups: the kernel's own stop for a command that starts too many processes or takes too much memory. One group
// for all that this Kogu starts, and in it one for each command with the command's own limits. Memory in files that are
// only in memory (tmpfs, memfd) counts there too, which no look at processes can see.
//
// Kogu makes groups only where whoever manages them expects it: at the top of what we see, in a place given to our user,
// or in a unit of systemd, which ends and removes whole trees. Any other manager may count, end or clean up by the
// processes that are directly in its group; a group of ours inside would hide them from it.
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export type GroupLimit = 'memory' | 'processes'

export interface GroupLimits {
  memoryBytes: number
  processes: number
}

/** Plain data, because the spawn helper gets it as JSON. */
export interface Cgroup {
  readonly trees: readonly Tree[]
}

/** One folder of ours in one of the kernel's trees. Version 1 has a tree for each controller, version 2 one for all. */
interface Tree {
  readonly folder: string
  /** What is limited in it for each command. None: all commands share the folder. */
  readonly controllers: readonly ControllerName[]
}

interface Controller {
  readonly limit: GroupLimit
  /** Files that must take a value, and those that not every kernel has. */
  readonly values: (limits: GroupLimits) => Readonly<Record<string, number>>
  readonly optional: (limits: GroupLimits) => Readonly<Record<string, number>>
  /** The file and its line that count how often the limit was reached. */
  readonly events: { readonly file: string; readonly line: string }
}

type ControllerName = keyof typeof CONTROLLERS

const CONTROLLERS = {
  pids: {
    limit: 'processes',
    values: limits => ({ 'pids.max': limits.processes }),
    optional: () => ({}),
    events: { file: 'pids.events', line: 'max' },
  },
  memory: {
    limit: 'memory',
    values: limits => ({ 'memory.max': limits.memoryBytes }),
    optional: () => ({ 'memory.swap.max': 0, 'memory.oom.group': 1 }),
    events: { file: 'memory.events', line: 'oom_kill' },
  },
  memoryOfVersion1: {
    limit: 'memory',
    values: limits => ({ 'memory.limit_in_bytes': limits.memoryBytes }),
    optional: limits => ({ 'memory.memsw.limit_in_bytes': limits.memoryBytes }),
    events: { file: 'memory.oom_control', line: 'oom_kill' },
  },
} as const satisfies Readonly<Record<string, Controller>>

/** Of all commands together. */
const PROCESSES = 1024
const ROOT = '/sys/fs/cgroup'

/** Undefined where we may not make one that limits anything. */
export function createCgroup(): Cgroup | undefined {
  const name = `kogu-${process.pid}-${process.hrtime.bigint()}`
  const memberships = readMemberships()
  const limiting = [
    makeTree(placesOfVersion1(memberships, 'pids'), name, ['pids']),
    makeTree(placesOfVersion1(memberships, 'memory'), name, ['memoryOfVersion1']),
    makeTree(placesOfVersion2(memberships), name, ['pids', 'memory']),
  ].filter(tree => tree !== undefined)
  if (limiting.length === 0) return undefined
  // All commands together get no larger share of the processors than one process of others, so that Kogu gets a turn.
  const share = makeTree(placesOfVersion1(memberships, 'cpu'), name, [])
  return { trees: share === undefined ? limiting : [...limiting, share] }
}

/** Whether the kernel keeps this limit for each command. */
export function keepsLimit(cgroup: Cgroup | undefined, limit: GroupLimit): boolean {
  return controllersOf(cgroup).some(({ controller }) => controller.limit === limit)
}

/** Makes the group of one command. A process that writes its id to each of the files returned joins, with all it starts. */
export function openGroup(cgroup: Cgroup, name: string): string[] {
  const limiting = cgroup.trees.filter(tree => tree.controllers.length > 0)
  return limiting.map(tree => {
    const folder = join(tree.folder, name)
    mkdirSync(folder)
    return join(folder, 'cgroup.procs')
  })
}

/** As of `openGroup`, of what all commands share: whoever starts them may join once for all. */
export function sharedGroups(cgroup: Cgroup): string[] {
  const shared = cgroup.trees.filter(tree => tree.controllers.length === 0)
  return shared.map(tree => join(tree.folder, 'cgroup.procs'))
}

/** Undoes having joined those: a group cannot be removed while a process is in it. */
export function leaveSharedGroups(cgroup: Cgroup): void {
  for (const file of sharedGroups(cgroup))
    tryWrite(join(dirname(dirname(file)), 'cgroup.procs'), String(process.pid))
}

/** Throws when a limit cannot be set: nothing may run then. */
export function limitGroup(cgroup: Cgroup, name: string, limits: GroupLimits): void {
  for (const { controller, folder } of controllersOf(cgroup, name)) {
    for (const [file, value] of Object.entries(controller.values(limits)))
      writeFileSync(join(folder, file), String(value))
    for (const [file, value] of Object.entries(controller.optional(limits)))
      tryWrite(join(folder, file), String(value))
  }
}

/** The limit that the command has run into so far. */
export function exceededIn(cgroup: Cgroup, name: string): GroupLimit | null {
  const found = controllersOf(cgroup, name).find(({ controller: { events }, folder }) => {
    const count = new RegExp(`^${events.line} (\\d+)$`, 'm').exec(readText(join(folder, events.file)))?.[1]
    return Number(count ?? 0) > 0
  })
  return found?.controller.limit ?? null
}

/** False while processes of the command are still about to end. */
export function removeGroup(cgroup: Cgroup, name: string): boolean {
  const limiting = cgroup.trees.filter(tree => tree.controllers.length > 0)
  return limiting.map(tree => removeFolder(join(tree.folder, name))).every(removed => removed)
}

/** As long as it takes, within reason; what stays is removed by the next Kogu. */
export function removeGroupSoon(cgroup: Cgroup, name: string, attempts = 100): void {
  if (removeGroup(cgroup, name) || attempts === 0) return
  setTimeout(() => removeGroupSoon(cgroup, name, attempts - 1), 20).unref()
}

/** False while something in it still runs. */
export function removeCgroup(cgroup: Cgroup): boolean {
  return cgroup.trees.map(tree => removeTree(tree.folder)).every(removed => removed)
}

/** What was killed needs a moment to be gone; what stays after that is removed by the next Kogu. */
export async function removeCgroupSoon(cgroup: Cgroup): Promise<void> {
  for (let attempt = 0; attempt < 20 && !removeCgroup(cgroup); attempt += 1) await sleep(5)
}

function controllersOf(cgroup: Cgroup | undefined, name = ''): { controller: Controller; folder: string }[] {
  return (cgroup?.trees ?? []).flatMap(tree =>
    tree.controllers.map(key => ({ controller: CONTROLLERS[key], folder: join(tree.folder, name) })),
  )
}

/** In the first place that lets us, with those of the controllers that work there. */
function makeTree(
  places: readonly string[],
  name: string,
  controllers: readonly ControllerName[],
): Tree | undefined {
  for (const place of places) {
    removeLeftOvers(place)
    const folder = join(place, name)
    try {
      mkdirSync(folder)
    } catch {
      // Not ours to use.
      continue
    }
    const working = controllers.filter(controller => canLimit(folder, controller))
    if (working.length > 0 || controllers.length === 0) {
      tryWrite(join(folder, 'pids.max'), String(PROCESSES))
      return { folder, controllers: working }
    }
    removeFolder(folder)
  }
  return undefined
}

/** Tried with a group, because what a parent passes on cannot be told otherwise. */
function canLimit(folder: string, controller: ControllerName): boolean {
  // Version 2 asks for it; in version 1 there is no such file.
  if (existsSync(join(folder, 'cgroup.subtree_control')))
    tryWrite(join(folder, 'cgroup.subtree_control'), `+${controller}`)
  const trial: Cgroup = { trees: [{ folder, controllers: [controller] }] }
  const { events } = CONTROLLERS[controller]
  try {
    openGroup(trial, 'trial')
    limitGroup(trial, 'trial', { memoryBytes: 2 ** 30, processes: PROCESSES })
    return readText(join(folder, 'trial', events.file)).includes(`${events.line} `)
  } catch {
    // The parent does not pass this controller on.
    return false
  } finally {
    removeGroup(trial, 'trial')
  }
}

interface Membership {
  /** Empty for version 2. */
  controllers: string
  path: string
}

function readMemberships(): Membership[] {
  const lines = readText('/proc/self/cgroup').split('\n')
  return lines.flatMap(line => {
    const [, controllers, ...path] = line.split(':')
    return controllers === undefined ? [] : [{ controllers, path: path.join(':') }]
  })
}

function placesOfVersion1(memberships: readonly Membership[], controller: string): string[] {
  const own = memberships.find(({ controllers }) => controllers.split(',').includes(controller))
  if (own === undefined) return []
  const place = join(ROOT, own.controllers, own.path)
  return existsSync(join(place, 'cgroup.procs')) && isForUs(own.path, place) ? [place] : []
}

/** Beside our own first: a group of version 2 with processes in it cannot have limited children. */
function placesOfVersion2(memberships: readonly Membership[]): string[] {
  const own = memberships.find(({ controllers }) => controllers === '')
  if (own === undefined || !isForUs(own.path, join(ROOT, own.path))) return []
  const places = [join(ROOT, dirname(own.path)), join(ROOT, own.path)]
  return places.filter(
    // To join a group, a process must be allowed to write to the parent of its old and its new one.
    place => existsSync(join(place, 'cgroup.controllers')) && isWritable(join(place, 'cgroup.procs')),
  )
}

export function isForUs(path: string, folder: string): boolean {
  if (path === '/' || /\.(?:scope|service|slice)$/.test(basename(path))) return true
  const user = process.getuid?.() ?? 0
  return user !== 0 && statSync(folder, { throwIfNoEntry: false })?.uid === user
}

/** Groups of a Kogu that was killed. One that is in use cannot be removed, so trying is harmless. */
function removeLeftOvers(place: string): void {
  for (const name of readFolder(place)) {
    const pid = /^kogu-(\d+)-\d+$/.exec(name)?.[1]
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) removeTree(join(place, name))
  }
}

function removeTree(folder: string): boolean {
  for (const name of readFolder(folder)) removeFolder(join(folder, name))
  return removeFolder(folder)
}

function removeFolder(folder: string): boolean {
  try {
    rmdirSync(folder)
    return true
  } catch {
    // Gone already, or still in use (or one of the kernel's files, which are not folders).
    return !existsSync(folder)
  }
}

function readFolder(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter(entry => entry.isDirectory())
      .map(entry => entry.name)
  } catch {
    // Gone already.
    return []
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    // Not ours.
    return false
  }
}

function tryWrite(path: string, value: string): void {
  try {
    writeFileSync(path, value)
  } catch {
    // This kernel does not have the file, or the controller was not passed on; what must be there is checked apart.
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // No control groups on this system, or the group has just been removed.
    return ''
  }
}
