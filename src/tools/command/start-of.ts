import type { CommandPermit } from '../../core/command.ts'
import { findProgram, trustedPath } from './find-program.ts'
import type { CommandParts } from './parts.ts'
import { SAVE_FOLDER, SHELL_FRAME } from './run-state.ts'
import { onlyProgram, toScript } from './script.ts'

export interface Start {
  readonly file: string
  readonly args: readonly string[]
}

/** What is started: the program itself, `sh` as plumbing for several, or bash for what was approved. */
export function startOf(
  parts: CommandParts,
  line: string,
  { plan }: CommandPermit,
  keepsState: boolean,
): Start {
  if (plan === null) {
    const frame = keepsState ? [SHELL_FRAME, 'bash', line] : [line]
    return { file: '/bin/bash', args: ['--norc', '--noprofile', '-c', ...frame] }
  }
  const folders = trustedPath(parts.path, parts.workspace)
  const only = onlyProgram(plan)
  if (only !== undefined) {
    const [program = '', ...args] = only
    return { file: findProgram(program, folders), args }
  }
  const changesFolder = plan.steps.some(step => step.kind === 'cd')
  const script = toScript(plan, name => findProgram(name, folders))
  return { file: '/bin/sh', args: ['-c', changesFolder && keepsState ? `${script}\n${SAVE_FOLDER}` : script] }
}
