import type { Containment } from '../../core/command.ts'
import { hasFilter } from '../../sandbox/walls/seccomp.ts'
import type { CommandParts } from './parts.ts'

/** Commands run contained where walls, layers and the filter of system calls all work. */
export function containmentHere(
  setting: 'contain' | 'ask',
  { sandbox, noSandboxReason, overlayProblem }: CommandParts,
): Containment {
  if (setting === 'ask') return { works: false, reason: null }
  if (sandbox === null) return { works: false, reason: `there is no sandbox: ${noSandboxReason}` }
  const problem = overlayProblem()
  if (problem !== null) return { works: false, reason: `its changes cannot be held back: ${problem}` }
  if (hasFilter(process.arch)) return { works: true }
  return { works: false, reason: `Kogu has no filter of system calls for ${process.arch}.` }
}
