import { readFileSync } from 'node:fs'

export interface TreeLimits {
  memoryBytes: number
  processes: number
}

const EVERY_MS = 200
const PAGE_BYTES = 4096

/**
 * Looks after a process and all its descendants for limits that the kernel does not keep for the whole: memory of all
 * together, and the number of processes where there is no control group. Returns the function that ends it.
 */
export function watchTree(
  root: number,
  limits: TreeLimits,
  exceeded: (limit: 'memory' | 'processes') => void,
) {
  const timer = setInterval(() => {
    const pids = descendantsOf(root, limits.processes)
    if (pids.length > limits.processes) exceeded('processes')
    else if (memoryOf(pids, limits.memoryBytes) > limits.memoryBytes) exceeded('memory')
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
