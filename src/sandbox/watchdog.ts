import { readFileSync } from 'node:fs'
import type { GroupLimit, GroupLimits } from './cgroup.ts'
import type { Started } from './spawner.ts'

const EVERY_MS = 100
const PAGE_BYTES = 4096

/**
 * Looks after a program and all it started: whether it ran into a limit that the kernel keeps, and whether it exceeds
 * one that the kernel does not keep here. Returns the function that ends it.
 */
export function watchTree(
  program: Pick<Started, 'pid' | 'exceeded'>,
  limits: GroupLimits,
  { stop, keeps }: { stop: (limit: GroupLimit) => void; keeps: (limit: GroupLimit) => boolean },
): () => void {
  const unkept = { processes: !keeps('processes'), memory: !keeps('memory') }
  const timer = setInterval(() => {
    const reached = program.exceeded()
    if (reached !== null) return stop(reached)
    if (!unkept.processes && !unkept.memory) return
    const pids = descendantsOf(program.pid, limits.processes)
    if (unkept.processes && pids.length > limits.processes) stop('processes')
    else if (unkept.memory && memoryOf(pids, limits.memoryBytes) > limits.memoryBytes) stop('memory')
  }, EVERY_MS)
  return () => clearInterval(timer)
}

/** A process and all that came from it. Stops looking once there are too many: a fork bomb must not keep us busy. */
export function descendantsOf(root: number, limit: number): number[] {
  const found = [root]
  for (let index = 0; index < found.length && found.length <= limit; index += 1) {
    const pid = found[index]
    const children = read(`/proc/${pid}/task/${pid}/children`).split(' ')
    found.push(...children.filter(child => child !== '').map(Number))
  }
  return found
}

/** An upper bound first, which is cheap; the exact share (memory shared after a fork counts once) only above it. */
function memoryOf(pids: readonly number[], limit: number): number {
  const upperBound = sum(pids, pid => {
    const [, resident = '0', shared = '0'] = read(`/proc/${pid}/statm`).split(' ')
    return (Number(resident) - Number(shared)) * PAGE_BYTES
  })
  if (upperBound <= limit) return upperBound
  return sum(pids, pid => Number(/^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) * 1024)
}

function sum(pids: readonly number[], measure: (pid: number) => number): number {
  return pids.reduce((total, pid) => total + measure(pid), 0)
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // It ended while we looked.
    return ''
  }
}
