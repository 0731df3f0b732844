import type { ChildProcess } from 'node:child_process'

/** Signals a program with all it started in its process group; does nothing when it has ended. */
export function killGroup(program: Pick<ChildProcess, 'pid'>, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (program.pid === undefined) return
  try {
    // There are no process groups on Windows.
    process.kill(process.platform === 'win32' ? program.pid : -program.pid, signal)
  } catch {
    // It ended by itself.
  }
}
