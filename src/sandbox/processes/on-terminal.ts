import { spawn } from 'node:child_process'

/** Runs a program that the person has chosen, such as their editor, on the terminal of this process. Its exit code. */
export function runOnTerminal(line: string, argument: string): Promise<number> {
  return new Promise((resolve, reject) => {
    // A line and not a program: people write EDITOR="code --wait".
    const child = spawn('/bin/sh', ['-c', `${line} "$1"`, 'sh', argument], { stdio: 'inherit' })
    // Ctrl-C is for the program on the terminal; we wait for it.
    const ignore = (): void => undefined
    process.on('SIGINT', ignore)
    child.once('error', reject)
    child.once('close', code => {
      process.off('SIGINT', ignore)
      resolve(code ?? 1)
    })
  })
}
