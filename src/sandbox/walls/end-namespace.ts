import { readFileSync, readlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isSystemError, ToolError } from '../../core/errors.ts'

/**
 * Ends everything behind one command's walls and returns when it is gone. That bubblewrap has ended says little: its
 * first process inside lives on while orphans do, and an orphan may hold descriptors on files that are brought over
 * next. So that process is killed from outside, and the kernel lets it go only after every other process of its
 * namespace: when it is gone, the namespace is proved empty. Throws when that cannot be proved.
 *
 * `status` is what bubblewrap wrote to its `--json-status-fd`, where no command can write. It names the process before
 * it lets it run, so without a name nothing ran.
 */
export async function endNamespace(status: string): Promise<void> {
  const init = readInit(status)
  if (init === undefined) return
  const deadline = performance.now() + PATIENCE_MS
  for (let pause = 0; isAlive(init); pause = Math.min(20, pause + 1)) {
    if (performance.now() > deadline) {
      throw new ToolError(
        'failed',
        'Processes of the command could not be stopped, so none of its changes were kept.',
        {
          hint: 'They may be waiting for a disk or a network mount; end them before you run it again.',
        },
      )
    }
    kill(init.pid)
    if (pause === 0) await new Promise(setImmediate)
    else await sleep(pause)
  }
}

/** What waits for a disk cannot even be killed. */
const PATIENCE_MS = 10_000

interface Init {
  pid: number
  /** Tells it from a process that got the same number later; not every bubblewrap says it. */
  namespace: string | undefined
}

function readInit(status: string): Init | undefined {
  const pid = /"child-pid": (\d+)/.exec(status)?.[1]
  const namespace = /"pid-namespace": (\d+)/.exec(status)?.[1]
  return pid === undefined ? undefined : { pid: Number(pid), namespace }
}

function isAlive({ pid, namespace }: Init): boolean {
  const state = readState(pid)
  // A zombie is what is left of it until its parent looks.
  if (state === undefined || state === 'Z' || state === 'X') return false
  return namespace === undefined || isIn(pid, namespace)
}

function readState(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // After the name, which may hold anything.
    return stat.slice(stat.lastIndexOf(')') + 2).charAt(0)
  } catch (error) {
    if (isSystemError(error) && (error.code === 'ENOENT' || error.code === 'ESRCH')) return undefined
    throw error
  }
}

function isIn(pid: number, namespace: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`) === `pid:[${namespace}]`
  } catch (error) {
    if (isSystemError(error) && (error.code === 'ENOENT' || error.code === 'ESRCH')) return false
    // Not ours to look at: another program has its number, or it cannot be told. What cannot be told is alive.
    return true
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It went by itself, or is not ours to end: then it stays alive, and that is said.
  }
}
