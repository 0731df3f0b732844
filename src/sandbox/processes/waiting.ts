import { readFileSync, readlinkSync } from 'node:fs'
import { descendantsOf } from '../walls/watchdog.ts'

/**
 * Whether a program or one of its children sleeps in a read of its standard input. A best guess: a program that waits
 * for several things at once (select, poll) is not recognised.
 */
export function isWaitingForInput(root: number, stdinPath: string): boolean {
  return descendantsOf(root, 200).some(pid => sleepsInRead(pid) && readsFrom(pid, stdinPath))
}

/** The number of `read`, by processor. */
const READ_CALL: Readonly<Record<string, string>> = { x64: '0', arm64: '63' }

/** The file holds the number of the system call and its arguments: `0 0x0 0x7ffd… …`. */
function sleepsInRead(pid: number): boolean {
  const [call, descriptor] = read(`/proc/${pid}/syscall`).split(' ')
  return call === READ_CALL[process.arch] && descriptor === '0x0'
}

/** A child in the middle of a pipeline also reads descriptor 0, but from its neighbour. */
function readsFrom(pid: number, stdinPath: string): boolean {
  try {
    const target = readlinkSync(`/proc/${pid}/fd/0`)
    return target === stdinPath || target === `${stdinPath} (deleted)` || target.startsWith('/dev/pts/')
  } catch {
    // It ended while we looked, or is not ours to look at.
    return false
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // As above.
    return ''
  }
}
