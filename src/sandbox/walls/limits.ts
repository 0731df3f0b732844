import type { SandboxLimits } from '../../core/sandbox.ts'
import type { SandboxSystem } from './system.ts'

/** What the script below exits with when a limit could not be set: nothing ran then. */
const LIMITS_NOT_SET = 125

/**
 * This limit stops a fork bomb without ending it; the watchdog, which ends it, must see it go beyond what is allowed.
 * Bubblewrap's own first process counts too.
 */
const ABOVE_WATCHDOG = 5

/** A part of a shell script, and the arguments that it takes away. */
export interface Script {
  readonly text: string
  readonly args: readonly string[]
}

/**
 * Lowers the limits for good. In sh, because it starts in a millisecond and every system with bubblewrap has it. Shells
 * other than bash call the number of processes `-p`.
 */
const SCRIPT = `
ulimit -c 0 && ulimit -d "$1" && ulimit -t "$2" && ulimit -f "$3" && ulimit -n "$4" || exit ${LIMITS_NOT_SET}
if [ -n "$BASH_VERSION" ]; then ulimit -u "$5"; else ulimit -p "$5"; fi || exit ${LIMITS_NOT_SET}
shift 5
`

/**
 * The command that runs `command` under limits. Inside the sandbox, because the number of processes is then counted for
 * the sandbox alone and not for all of the user's.
 */
export function withLimits(
  command: readonly [string, ...string[]],
  limits: SandboxLimits,
  system: SandboxSystem,
): [string, ...string[]] {
  const { text, args } = limitScript(limits, system)
  return ['/bin/sh', '-c', `${text}exec "$@"`, 'kogu', ...args, ...command]
}

/** For a shell that has a user namespace of its own, where nobody else's processes count, or is root, whose never do. */
export function limitScript(limits: SandboxLimits, { hardLimits }: SandboxSystem): Script {
  const kibibytes = Math.floor(Math.min(limits.memoryBytes, hardLimits.data) / 1024)
  const blocks = Math.floor(Math.min(limits.fileBytes, hardLimits.fsize) / 512)
  const values = [
    kibibytes,
    Math.min(limits.cpuSeconds, hardLimits.cpu),
    blocks,
    Math.min(limits.openFiles, hardLimits.nofile),
    Math.min(limits.processes + ABOVE_WATCHDOG, hardLimits.nproc),
  ]
  return { text: SCRIPT, args: values.map(String) }
}
