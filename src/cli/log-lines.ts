import { type CommandContext, flag } from './command.ts'

/** JSON lines on standard error with `--log`; otherwise nothing. */
export function logLines({ values }: CommandContext): (line: Record<string, unknown>) => void {
  if (!flag(values, 'log')) return () => undefined
  return line => {
    process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), ...line })}\n`)
  }
}
