import { ToolError } from '../core/errors.ts'
import { parseInput } from '../core/json.ts'
import { LIMITS } from '../core/limits.ts'
import type { CommandContext } from './command.ts'

/** The JSON of one call: the argument itself, or standard input for `-`. Nothing given is an empty object. */
export async function readCallInput(argument: string | undefined, context: Standing): Promise<unknown> {
  if (argument === undefined) return {}
  return parseInput(argument === '-' ? await readAll(context) : argument)
}

/** Where it is read from, until somebody stops it. */
type Standing = Pick<CommandContext, 'stdin' | 'signal'>

/** Stops reading once it is certain to be too large: the rest is never held in memory. */
async function readAll({ stdin, signal }: Standing): Promise<string> {
  stdin.setEncoding('utf8')
  let text = ''
  const stop = (): unknown => stdin.destroy()
  signal.addEventListener('abort', stop, { once: true })
  try {
    for await (const chunk of stdin) {
      text += chunk
      if (text.length > LIMITS.inputLength) break
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
  if (signal.aborted) throw new ToolError('cancelled', 'Stopped while reading the input.')
  return text
}

export interface BatchLine {
  tool: string
  input: unknown
  cwd: string | undefined
}

/** One call per line; a line that is none is an error in its place, and the rest goes on. Empty lines are skipped. */
export async function* readBatch({ stdin, signal }: Standing): AsyncGenerator<BatchLine | ToolError> {
  const { createInterface } = await import('node:readline')
  const lines = createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY, signal })
  // Without an end of its input the process would wait for it.
  signal.addEventListener('abort', () => stdin.destroy(), { once: true })
  for await (const line of lines) {
    if (signal.aborted) return
    if (line.trim() !== '') yield toBatchLine(line)
  }
}

function toBatchLine(line: string): BatchLine | ToolError {
  try {
    const value = parseInput(line)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw notACall()
    const { tool, input = {}, cwd, ...rest } = value as Record<string, unknown>
    if (typeof tool !== 'string' || (cwd !== undefined && typeof cwd !== 'string')) throw notACall()
    const unknown = Object.keys(rest)[0]
    if (unknown !== undefined) throw new ToolError('invalid_input', `Unknown key '${unknown}' in the line.`)
    return { tool, input, cwd }
  } catch (error) {
    if (error instanceof ToolError) return error
    throw error
  }
}

function notACall(): ToolError {
  return new ToolError(
    'invalid_input',
    'A line must be {"tool": "…", "input": {…}, "cwd": "…"}; "cwd" may be left out.',
  )
}
