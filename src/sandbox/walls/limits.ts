import type { SandboxLimits } from '../../core/sandbox.ts'
import type { SandboxSystem } from './system.ts'

/** What the script below exits with when a limit could not be set: nothing ran then. */
const LIMITS_NOT_SET = 125

/**
 * This limit stops a fork bomb without ending it; the watchdog, which ends it, must see it go beyond what is allowed.
 * Bubblewrap's own first process counts too.
 */
const ABOVE_WATCHDOG = 4

/**
 * Lowers the limits for good and becomes the program. In sh, because it starts in a millisecond and every system with
 * bubblewrap has it; inside the sandbox, because the number of processes is then counted for the sandbox alone and not
 * for all of the user's. Shells other than bash call that number `-p`.
 */
const SCRIPT = `
ulimit -c 0 && ulimit -d "$1" && ulimit -t "$2" && ulimit -f "$3" && ulimit -n "$4" || exit ${LIMITS_NOT_SET}
if [ -n "$BASH_VERSION" ]; then ulimit -u "$5"; else ulimit -p "$5"; fi || exit ${LIMITS_NOT_SET}
shift 5
exec "$@"
`

/** The command that runs `command` under limits. */
export function withLimits(
  command: readonly [string, ...string[]],
  limits: SandboxLimits,
  system: SandboxSystem,
): [string, ...string[]] {
  const { hardLimits } = system
  const kibibytes = Math.floor(Math.min(limits.memoryBytes, hardLimits.data) / 1024)
  const blocks = Math.floor(Math.min(limits.fileBytes, hardLimits.fsize) / 512)
  const values = [
    kibibytes,
    Math.min(limits.cpuSeconds, hardLimits.cpu),
    blocks,
    Math.min(limits.openFiles, hardLimits.nofile),
    Math.min(limits.processes + ABOVE_WATCHDOG, hardLimits.nproc),
  ]
  return ['/bin/sh', '-c', SCRIPT, 'kogu', ...values.map(String), ...command]
}
