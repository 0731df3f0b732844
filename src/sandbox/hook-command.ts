import type { JudgeRequest } from '../core/decision.ts'
import { ToolError } from '../core/errors.ts'
import type { AfterHook, BeforeHook } from '../core/hooks.ts'
import type { Processes } from '../core/processes.ts'
import { type OutsideContext, prepareOutside } from './outside-program.ts'

/** One `[[hooks]]` entry: a program that gets JSON on standard input and may answer with JSON. */
export interface HookCommand {
  readonly event: 'pre_tool_call' | 'post_tool_call'
  readonly command: readonly string[]
  readonly timeoutMs: number
}

/** A hook runs as the person, outside the sandbox, with the person's environment. */
export interface HookContext extends OutsideContext {
  readonly processes: Processes
}

const MOST_OUTPUT = 256 * 1024

/** `{"veto": "reason"}` or a non-zero exit refuses the call. So does a hook that cannot run, hangs or answers nonsense. */
export function beforeHook(hook: HookCommand, context: HookContext): BeforeHook {
  return async (request, judgement) => {
    const { outcome, by } = judgement.decision
    try {
      const answer = await runHook(hook, context, { ...describe(hook, request), decision: { outcome, by } })
      return typeof answer.veto === 'string' ? { veto: answer.veto } : undefined
    } catch (error) {
      return { veto: reasonOf(error) }
    }
  }
}

/** Refuses the call when a hook that comes after it could not run: to withhold the result then would be too late. */
export function beforeAfterHook(hook: HookCommand, context: HookContext): BeforeHook {
  return async () => {
    try {
      prepareOutside(hook.command, context)
      return undefined
    } catch (error) {
      return { veto: reasonOf(error) }
    }
  }
}

/** `{"text": "…"}` replaces what the model sees; anything else leaves it. A hook that fails withholds the output. */
export function afterHook(hook: HookCommand, context: HookContext): AfterHook {
  return async (output, request) => {
    const answer = await runHook(hook, context, { ...describe(hook, request), result: { text: output.text } })
    if (typeof answer.veto === 'string')
      throw new ToolError('denied', `A hook withheld the result: ${answer.veto}`)
    // Structured data and images could hold what the hook took out of the text.
    return typeof answer.text === 'string' ? { text: answer.text, ...labelOf(output.label) } : output
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof ToolError && error.hint !== undefined) return `${error.message} ${error.hint}`
  return error instanceof Error ? error.message : String(error)
}

function labelOf(label: Awaited<ReturnType<AfterHook>>['label']) {
  return label === undefined ? {} : { label }
}

function describe(hook: HookCommand, { tool, input, access, cwd, run }: JudgeRequest) {
  const agent = run.authority.agent ?? null
  return { event: hook.event, tool: tool.name, input, access, cwd, run: run.id, agent }
}

async function runHook(
  hook: HookCommand,
  context: HookContext,
  message: unknown,
): Promise<Record<string, unknown>> {
  const [program = ''] = hook.command
  const chunks: Uint8Array[] = []
  let size = 0
  const result = await context.processes.run({
    ...prepareOutside(hook.command, context),
    stdin: Buffer.from(`${JSON.stringify(message)}\n`),
    timeoutMs: hook.timeoutMs,
    signal: new AbortController().signal,
    onStdout(chunk) {
      chunks.push(chunk)
      size += chunk.length
      return size <= MOST_OUTPUT
    },
  })
  if (result.timedOut) throw new Error(`the hook '${program}' did not answer within ${hook.timeoutMs} ms`)
  if (size > MOST_OUTPUT) throw new Error(`the hook '${program}' wrote too much output`)
  const text = Buffer.concat(chunks).toString('utf8').trim()
  const answer = text === '' ? {} : parseAnswer(text, program)
  if (result.exitCode !== 0 && answer.veto === undefined) {
    throw new Error(`the hook '${program}' ended with ${result.exitCode ?? result.signal}`)
  }
  return answer
}

function parseAnswer(text: string, program: string): Record<string, unknown> {
  try {
    const answer: unknown = JSON.parse(text)
    if (typeof answer === 'object' && answer !== null && !Array.isArray(answer)) return { ...answer }
  } catch {
    // Said below, as for every other answer that is no object.
  }
  throw new Error(`the hook '${program}' did not answer with a JSON object`)
}
