// To move a process into a control group takes the kernel 10 ms and more, in which no process of the whole machine starts
// or ends. So that no command waits for it, each group has a shell that moved once and stays. It starts another, which
// waits in the group and becomes the command when there is one; when that has ended, it says how and starts the next.
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { killGroup } from '../processes/kill-group.ts'
import { type Cgroup, type GroupLimits, limitGroup, openGroup, removeGroupSoon } from './cgroup.ts'

export interface StandIn {
  /** Leads the process group in which the command runs. */
  child: ChildProcess
  /** The name of its control group. */
  group: string
  /** What it has for itself already, as options of `unshare`. */
  namespaces: readonly string[] | undefined
  /** Becomes the program that a file with `toScript` names. Called once, with whom to tell how it ended. */
  become(scriptPath: string, limits: GroupLimits, onEnd: OnEnd): void
}

type OnEnd = (exitCode: number | null, signal: NodeJS.Signals | null) => void

export interface StandIns {
  /** `namespaces`: what the command needs for itself. The one that is taken need not have it. */
  take(namespaces: readonly string[] | undefined): StandIn
  /** The command has ended. `isClean`: it ran into no limit and was not killed, so its group can have another. */
  giveBack(standIn: StandIn, isClean: boolean): void
  /** Those that nobody needed. */
  end(): void
}

/** For commands at the same time. */
const MOST = 8
/** New ones come while nothing starts. */
const QUIET_MS = 50

interface Keeper extends StandIn {
  procs: readonly string[]
  limited: string | undefined
  onEnd: OnEnd | undefined
}

interface State {
  made: number
  taken: number
  wanted: number
  timer: NodeJS.Timeout | undefined
  namespaces: readonly string[] | undefined
}

/** Mounts of its own. What the host mounts and unmounts meanwhile is seen there too, but not the other way round. */
export const OWN_MOUNTS = ['--mount', '--propagation', 'slave']

export function createStandIns(cgroup: Cgroup): StandIns {
  const waiting: Keeper[] = []
  const state: State = { made: 0, taken: 0, wanted: 1, timer: undefined, namespaces: undefined }
  const retire = (keeper: Keeper): void => {
    const index = waiting.indexOf(keeper)
    if (index !== -1) waiting.splice(index, 1)
    killGroup(keeper.child, 'SIGKILL')
    removeGroupSoon(cgroup, keeper.group)
  }
  const add = (): void => {
    state.made += 1
    waiting.push(start(cgroup, `command-${state.made}`, state.namespaces, retire))
  }
  const refill = (): void => {
    while (waiting.length + state.taken < state.wanted) add()
  }
  const next = (): Keeper => {
    for (let keeper = waiting.shift(); keeper !== undefined; keeper = waiting.shift()) {
      if (isAlone(keeper)) return keeper
      retire(keeper)
    }
    add()
    return next()
  }
  setImmediate(refill)
  return {
    take(namespaces) {
      // Only root's own: a command that needs none has nothing to lose in them, while it would in those of a user.
      if (namespaces?.join(' ') === OWN_MOUNTS.join(' ')) state.namespaces = OWN_MOUNTS
      const keeper = next()
      state.taken += 1
      // One more than ran at the same time so far.
      state.wanted = Math.min(MOST, Math.max(state.wanted, state.taken + 1))
      clearTimeout(state.timer)
      state.timer = setTimeout(refill, QUIET_MS)
      return keeper
    },
    giveBack(standIn, isClean) {
      state.taken -= 1
      // Made here, as every one that is taken.
      const keeper = standIn as Keeper
      const isOld = keeper.namespaces !== state.namespaces
      if (isClean && !isOld && waiting.length < MOST) waiting.unshift(keeper)
      else retire(keeper)
    },
    end() {
      state.wanted = 0
      clearTimeout(state.timer)
      for (const keeper of waiting) killGroup(keeper.child, 'SIGKILL')
    },
  }
}

const REFUSED = 'kogu: the control group of the command could not be joined'

/** Reads which file to run, whose words need no second quoting. Without a word, Kogu is gone. */
const WAIT = 'refused=$1; read -r script || { kill $PPID; exit; }; . "$script"'

/** Joins the group once, and has one that waits for a command at any time. */
const KEEP = `for file do echo $$ > "$file" || refused=yes; done
while :; do WAITING; echo $?; done`

function start(
  cgroup: Cgroup,
  group: string,
  namespaces: readonly string[] | undefined,
  retire: (keeper: Keeper) => void,
): Keeper {
  const procs = openGroup(cgroup, group)
  const waiting = inNamespaces({ file: '/bin/sh', args: ['-c', WAIT, 'kogu'], namespaces })
  const script = KEEP.replace('WAITING', () => `${waiting.map(quote).join(' ')} "$refused"`)
  const child = spawn('/bin/sh', ['-c', script, 'kogu', ...procs], {
    cwd: '/',
    env: {},
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  })
  const keeper: Keeper = {
    child,
    group,
    namespaces,
    procs,
    limited: undefined,
    onEnd: undefined,
    become(path, limits, onEnd) {
      const wanted = JSON.stringify(limits)
      // The shell that stays counts too.
      const processes = limits.processes + 1
      if (keeper.limited !== wanted) limitGroup(cgroup, group, { ...limits, processes })
      keeper.limited = wanted
      keeper.onEnd = onEnd
      child.stdin?.write(`${path}\n`)
    },
  }
  const tell: OnEnd = (exitCode, signal) => {
    const { onEnd } = keeper
    keeper.onEnd = undefined
    // Without a command there is nothing that could end: it cannot wait here.
    if (onEnd === undefined) retire(keeper)
    else onEnd(exitCode, signal)
  }
  child.stdin?.on('error', () => {
    // It died; its end is told by `exit`.
  })
  child.stdout?.setEncoding('utf8').on('data', (text: string) => tell(Number.parseInt(text, 10), null))
  child.on('exit', tell)
  child.on('error', () => tell(null, null))
  return keeper
}

/** Whether nothing is in its group but the shell that stays and the one that waits. */
function isAlone({ procs, limited }: Keeper): boolean {
  if (limited === undefined) return true
  return procs.every(path => {
    try {
      return readFileSync(path, 'utf8').split('\n').filter(Boolean).length <= 2
    } catch {
      // What cannot be looked at is not used again.
      return false
    }
  })
}

export interface Becoming {
  words: readonly string[]
  stdin: string | undefined
  stdout: string
  stderr: string
  /** Become the descriptors 3, 4, …; shells know those of one digit only. */
  descriptors: readonly string[]
}

/** Opens what it is given by path and becomes the program; what did not join its group becomes nothing. */
export function toScript({ words, stdin, stdout, stderr, descriptors }: Becoming): string {
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
    toEnd(words),
    '',
  ].join('\n')
}

/** What is to become a shell is one already. */
function toEnd(words: readonly string[]): string {
  const [file, option, script, , ...args] = words
  if (file !== '/bin/sh' || option !== '-c' || script === undefined)
    return `exec ${words.map(quote).join(' ')}`
  return `set -- ${args.map(quote).join(' ')}\n${script}\nexit`
}

/** The words that start a program in namespaces of its own. */
export function inNamespaces({
  file,
  args,
  namespaces,
}: {
  readonly file: string
  readonly args: readonly string[]
  readonly namespaces?: readonly string[] | undefined
}): [string, ...string[]] {
  return namespaces === undefined ? [file, ...args] : ['/usr/bin/unshare', ...namespaces, file, ...args]
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
