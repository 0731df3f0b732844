import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { PROGRAM, type Sandboxed } from './kogu.ts'

export const python = spawnSync('python3', ['--version']).status === 0

export type Step = { wait?: string; type?: string; eof?: boolean }

/** Runs the program on a real pseudo-terminal. */
export function onTerminal(
  box: Sandboxed,
  args: readonly string[],
  steps: readonly Step[],
  env: Record<string, string> = {},
  program: readonly string[] = [process.execPath, PROGRAM],
): { shown: string; code: number } {
  const plan = {
    argv: [...program, ...args],
    cwd: box.workspace,
    env: { ...box.env, USER: 'kim', ...env },
    steps,
  }
  const script = join(import.meta.dirname, 'terminal.py')
  const { stdout } = spawnSync('python3', [script, JSON.stringify(plan)], { encoding: 'utf8' })
  const lines = stdout.split('\n')
  return { shown: lines.slice(0, -1).join('\n'), code: Number(lines.at(-1)) }
}
