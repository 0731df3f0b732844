import type { CommandPermit } from '../../core/command.ts'
import { findProgram, trustedPath } from './find-program.ts'
import type { CommandParts } from './parts.ts'
import { saveFolder, shellFrame } from './run-state.ts'
import { onlyProgram, toScript } from './script.ts'

export interface Start {
  readonly file: string
  readonly args: readonly string[]
}

/** What is started: the program itself, `sh` as plumbing for several, or bash for what was approved. */
export function startOf(
  parts: CommandParts,
  { line, words }: { readonly line: string; readonly words?: readonly string[] },
  { plan }: CommandPermit,
  /** Where the line ends up is written down in STATE_FOLDER. */
  savesState = false,
): Start {
  const folders = trustedPath(parts.path, parts.workspace)
  if (plan === null && words !== undefined) {
    const [program = '', ...args] = words
    return { file: findProgram(program, folders), args }
  }
  if (plan === null) {
    const frame = savesState ? [shellFrame(), 'bash', line] : [line]
    return { file: '/bin/bash', args: ['--norc', '--noprofile', '-c', ...frame] }
  }
  const only = onlyProgram(plan)
  if (only !== undefined) {
    const [program = '', ...args] = only
    return { file: findProgram(program, folders), args }
  }
  const script = toScript(plan, name => findProgram(name, folders))
  const changesFolder = plan.steps.some(step => step.kind === 'cd')
  const end = changesFolder && savesState ? `\n${saveFolder()}` : ''
  return { file: '/bin/sh', args: ['-c', `${script}${end}`] }
}
