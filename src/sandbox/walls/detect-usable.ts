import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { findSandboxSystem, type SandboxSystem } from './system.ts'

/**
 * The system whose walls can be used, or a sentence that says why there are none. That bubblewrap is installed does not
 * mean that it may make namespaces. Most machines let it, and trying costs as much as a small command: it is tried only
 * where something speaks against it. Where that guess is wrong, commands fail; they do not run without walls.
 */
export function findUsableSystem(): SandboxSystem | string {
  const system = findSandboxSystem()
  if (typeof system === 'string' || !isDoubtful(system)) return system
  const { status, stderr } = spawnSync(system.bubblewrap, TRIAL, {
    timeout: TRIAL_MS,
    encoding: 'utf8',
    env: {},
  })
  // Not even started, or too slow to tell: no reason to do without walls.
  if (status === null || status === TRIAL_CODE) return system
  return explainFailure(stderr.trim() || `bubblewrap ended with ${status}`)
}

const TRIAL_MS = 5000
const TRIAL_CODE = 42
const TRIAL = [
  ...['--unshare-all', '--die-with-parent', '--cap-drop', 'ALL', '--ro-bind', '/', '/', '--dev', '/dev'],
  ...['--', '/bin/sh', '-c', `exit ${TRIAL_CODE}`],
]

/** A container's filter of system calls, root without its rights, or a setting that keeps users from namespaces. */
function isDoubtful({ privileged }: SandboxSystem): boolean {
  if (privileged) return false
  return (
    process.getuid?.() === 0 ||
    /^Seccomp:\s*2$/m.test(read('/proc/self/status')) ||
    read('/proc/sys/user/max_user_namespaces') === '0' ||
    read('/proc/sys/kernel/unprivileged_userns_clone') === '0' ||
    read('/proc/sys/kernel/apparmor_restrict_unprivileged_userns') === '1'
  )
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    // This kernel does not have the setting.
    return ''
  }
}

/** Bubblewrap's own words, and what they usually mean. */
export function explainFailure(reason: string): string {
  const sentence = /[.!?]$/.test(reason) ? reason : `${reason}.`
  if (!/namespace|uid map|Operation not permitted|No permissions to create|No space left/i.test(reason))
    return sentence
  return `${sentence} This system does not let Kogu make user namespaces; see user.max_user_namespaces, kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns, or the settings of the container.`
}
