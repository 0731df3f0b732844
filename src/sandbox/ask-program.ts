import type { Processes } from '../core/processes.ts'
import { type OutsideContext, prepareOutside } from './outside-program.ts'

const MOST_OUTPUT = 256 * 1024

interface AskContext extends OutsideContext {
  readonly processes: Processes
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** A program of the person's that gets JSON on standard input; what it prints. It has to end with 0 and in time. */
export async function askProgram(
  command: readonly string[],
  message: unknown,
  context: AskContext,
): Promise<string> {
  const [program = ''] = command
  const chunks: Uint8Array[] = []
  let size = 0
  const { timeoutMs, signal } = context
  const result = await context.processes.run({
    ...prepareOutside(command, context),
    stdin: Buffer.from(`${JSON.stringify(message)}\n`),
    timeoutMs,
    signal,
    onStdout(chunk) {
      chunks.push(chunk.slice())
      size += chunk.length
      return size <= MOST_OUTPUT
    },
  })
  if (result.timedOut) throw new Error(`'${program}' did not answer within ${timeoutMs} ms`)
  if (size > MOST_OUTPUT) throw new Error(`'${program}' wrote too much output`)
  if (result.exitCode !== 0) throw new Error(`'${program}' ended with ${result.exitCode ?? result.signal}`)
  return Buffer.concat(chunks).toString('utf8')
}
