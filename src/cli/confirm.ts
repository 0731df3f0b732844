import { createInterface } from 'node:readline/promises'
import type { CommandContext } from './command.ts'

/**
 * Asks a yes-or-no question on the terminal. False where there is none, or nobody may be asked; and where --quiet hides what the
 * question is about.
 */
export async function confirmed(
  { stdin, values, signal }: CommandContext,
  question: string,
): Promise<boolean> {
  const isSilent = values['no-input'] === true || values.quiet === true
  if (stdin.isTTY !== true || process.stderr.isTTY !== true || isSilent) return false
  const lines = createInterface({ input: stdin, output: process.stderr })
  try {
    const answer = await lines.question(`${question} [y/N] `, { signal })
    return /^y(es)?$/i.test(answer.trim())
  } catch (error) {
    // Ctrl-C, or the end of the input.
    if (error instanceof Error && error.name === 'AbortError') return false
    throw error
  } finally {
    lines.close()
  }
}
