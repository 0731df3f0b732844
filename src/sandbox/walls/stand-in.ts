// To move a process into a control group takes the kernel 10 ms and more, because it waits for all processors. So that no
// command waits for it, shells that have moved already stand in for the commands to come, each in a group of its own,
// and become the command when there is one.
import { type ChildProcess, spawn } from 'node:child_process'
import { type Cgroup, openGroup, removeGroupSoon } from './cgroup.ts'

interface StandIn {
  child: ChildProcess
  /** The name of its control group. */
  group: string
  /** Becomes the program that a file with `toScript` names. */
  become(scriptPath: string): void
}

export interface StandIns {
  take(): StandIn
  /** Those that nobody needed. */
  end(): void
}

/** Enough for commands that follow each other without a pause. */
const MOST = 8
/** New ones come while nothing starts, unless so few are left: they take processors from the command. */
const FEW = 3
const QUIET_MS = 50

interface State {
  made: number
  wanted: number
  timer: NodeJS.Timeout | undefined
}

const JOIN = 'for file do echo $$ > "$file" || refused=yes; done'
const REFUSED = 'kogu: the control group of the command could not be joined'

/** A shell without one of its own; what waits in it is read as a file, whose words need no second quoting. */
const WAIT = `${JOIN}; read -r script && . "$script"`

export function createStandIns(cgroup: Cgroup): StandIns {
  const waiting: StandIn[] = []
  const state: State = { made: 0, wanted: 1, timer: undefined }
  const add = (): void => {
    state.made += 1
    waiting.push(start(cgroup, `command-${state.made}`, waiting))
  }
  const refill = (): void => {
    while (waiting.length < state.wanted) add()
  }
  setImmediate(refill)
  return {
    take() {
      // Few for whoever runs one command, more for whoever runs many.
      state.wanted = Math.min(MOST, state.wanted + 2)
      if (waiting.length === 0) add()
      const standIn = waiting.shift()
      if (standIn === undefined) throw new Error('unreachable')
      clearTimeout(state.timer)
      state.timer = setTimeout(refill, waiting.length < FEW ? 0 : QUIET_MS)
      return standIn
    },
    end() {
      state.wanted = 0
      clearTimeout(state.timer)
      for (const { child } of waiting) child.kill('SIGKILL')
    },
  }
}

function start(cgroup: Cgroup, group: string, waiting: StandIn[]): StandIn {
  const child = spawn('/bin/sh', ['-c', WAIT, 'kogu', ...openGroup(cgroup, group)], {
    cwd: '/',
    env: {},
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  const standIn: StandIn = { child, group, become: path => child.stdin?.end(`${path}\n`) }
  child.stdin?.on('error', () => {
    // It died; its end is told by `exit`.
  })
  const forget = (): void => {
    const index = waiting.indexOf(standIn)
    if (index === -1) return
    waiting.splice(index, 1)
    removeGroupSoon(cgroup, group)
  }
  child.on('exit', forget)
  child.on('error', forget)
  return standIn
}

export interface Becoming {
  file: string
  args: readonly string[]
  stdin: string | undefined
  stdout: string
  stderr: string
  /** Become the descriptors 3, 4, …; shells know those of one digit only. */
  descriptors: readonly string[]
}

/** Opens what it is given by path and becomes the program; what did not join its group becomes nothing. */
export function toScript({ file, args, stdin, stdout, stderr, descriptors }: Becoming): string {
  const others = descriptors.map((path, index) => `${index + 3}<>${quote(path)}`)
  const redirections = [
    `0<${quote(stdin ?? '/dev/null')}`,
    `1>${quote(stdout)}`,
    `2>${quote(stderr)}`,
    ...others,
  ]
  return [
    `exec ${redirections.join(' ')}`,
    `[ -z "$refused" ] || { echo '${REFUSED}' >&2; exit 125; }`,
    `exec ${[file, ...args].map(quote).join(' ')}`,
    '',
  ].join('\n')
}

/** The same for one that nobody waited for: it joins first, which takes its time. */
export function withGroup(
  procs: readonly string[],
  file: string,
  args: readonly string[],
): [string, string[]] {
  const script = `count=$1; shift
while [ "$count" -gt 0 ]; do echo $$ > "$1" || { echo '${REFUSED}' >&2; exit 125; }; shift; count=$((count - 1)); done
exec "$@"`
  return ['/bin/sh', ['-c', script, 'kogu', String(procs.length), ...procs, file, ...args]]
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
