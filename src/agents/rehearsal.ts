import { setTimeout as sleep } from 'node:timers/promises'
import { parse, stringify } from 'smol-toml'
import * as z from 'zod'
import { ToolError } from '../core/errors.ts'
import { type AssistantBlock, type Message, textOf, toolResultsOf, toolUsesOf } from './messages.ts'
import { type Model, ModelError, type ModelRequest, type ModelResponse, NO_USAGE } from './model.ts'

// A rehearsal is a script of answers and tool calls. It lets people try Kogu, test rules and pipelines in CI and see every
// screen without a key. It does not think: it plays what stands there, whatever it is asked.

const answerSchema = z.strictObject({
  text: z.string().default(''),
  call: z
    .array(z.strictObject({ tool: z.string().min(1), input: z.record(z.string(), z.unknown()).default({}) }))
    .default([]),
  delay_ms: z.int().min(0).max(60_000).default(0),
  fail: z.enum(['unavailable', 'rate_limited', 'rejected', 'credentials']).optional(),
})

const scriptSchema = z.strictObject({
  description: z.string().optional(),
  /** Off in recorded scripts: what looks like a template there is text that the model wrote. */
  templates: z.boolean().default(true),
  answer: z.array(answerSchema).min(1, 'Write at least one [[answer]].'),
  /** What sub-agents say, by their names. */
  agents: z.record(z.string(), z.strictObject({ answer: z.array(answerSchema).min(1) })).default({}),
})

export type RehearsalScript = z.output<typeof scriptSchema>

/** Reads a script; what is wrong with it is said with its place. */
export function parseRehearsal(text: string, file: string): RehearsalScript {
  let data: unknown
  try {
    data = parse(text)
  } catch (error) {
    throw broken(file, error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error))
  }
  const result = scriptSchema.safeParse(data)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw broken(file, `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`)
}

function broken(file: string, detail: string): ToolError {
  return new ToolError('invalid_input', `The rehearsal ${file} cannot be read: ${detail}`, {
    hint: 'Each [[answer]] has a text, and any number of [[answer.call]] with tool and input. See docs/agents.md',
  })
}

/** Which answer is next follows from the conversation alone, so that a run that was interrupted goes on where it was. */
export function createRehearsal(script: RehearsalScript, id: string): Model {
  return {
    id,
    provider: 'rehearsal',
    name: id.replace(/^rehearsal:/, ''),
    capabilities: {
      context: undefined,
      maxOutput: undefined,
      tools: true,
      images: true,
      temperature: true,
    },
    price: { input: 0, cached: 0, cacheWrite: 0, output: 0 },
    respond: request => play(script, request),
  }
}

async function play(script: RehearsalScript, request: ModelRequest): Promise<ModelResponse> {
  const turn = request.messages.filter(message => message.role === 'assistant').length
  const answers = request.agent === undefined ? script.answer : script.agents[request.agent]?.answer
  const answer = answers?.[turn]
  if (answer === undefined) return said('The rehearsal has no more answers.', [], request)
  if (answer.delay_ms > 0) await pause(answer.delay_ms, request.signal)
  if (answer.fail !== undefined) {
    throw new ModelError(answer.fail, `The rehearsal says that this request fails: ${answer.fail}.`)
  }
  const context = script.templates ? templateContext(request.messages) : {}
  const calls = answer.call.map((call, index) => ({
    type: 'tool_use' as const,
    id: `rehearsal_${turn + 1}_${index + 1}`,
    name: call.tool,
    input: fillAll(call.input, context),
  }))
  return said(fill(answer.text, context), calls, request)
}

function said(text: string, calls: readonly AssistantBlock[], request: ModelRequest): ModelResponse {
  if (text !== '') request.onText?.(text)
  return {
    content: [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...calls],
    stopReason: calls.length > 0 ? 'tool_use' : 'end_turn',
    usage: NO_USAGE,
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {
    throw new ModelError('cancelled', 'The request was cancelled.')
  })
}

/** What `{{…}}` can name: `task`, `last` (the newest result) and `results.N` (from 1), each result with text, ok, data. */
function templateContext(messages: readonly Message[]): Record<string, unknown> {
  const [first] = messages
  const results = toolResultsOf(messages).map(({ content, is_error }) => ({
    text: content,
    ok: !is_error,
    data: parseJson(content),
  }))
  return {
    task: first === undefined ? '' : textOf(first),
    last: results.at(-1) ?? { text: '', ok: true, data: null },
    results: Object.fromEntries(results.map((result, index) => [String(index + 1), result])),
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Most results are plain text.
    return null
  }
}

function fillAll(value: unknown, context: Record<string, unknown>): unknown {
  if (typeof value === 'string') return fill(value, context)
  if (Array.isArray(value)) return value.map(item => fillAll(item, context))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillAll(item, context)]))
}

function fill(text: string, context: Record<string, unknown>): string {
  return text.replaceAll(/\{\{\s*([\w.-]+)\s*\}\}/g, (whole, path: string) => {
    let value: unknown = context
    for (const key of path.split('.')) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return whole
      value = (value as Record<string, unknown>)[key] // checked above
    }
    return typeof value === 'string' ? value : JSON.stringify(value)
  })
}

/** A real conversation as a script that plays the model's part again. */
export function toRehearsal(messages: readonly Message[], description: string): string {
  const answer = messages
    .filter(message => message.role === 'assistant')
    .map(message => {
      const call = toolUsesOf(message).map(({ name, input }) => ({ tool: name, input: withoutNull(input) }))
      return { text: textOf(message), ...(call.length === 0 ? {} : { call }) }
    })
  const script = stringify({ description, templates: false, answer })
  return `# A recorded run. Play it with: kogu run --replay FILE\n${script}\n`
}

/** TOML has no null. To a tool, a null is as good as absent. */
function withoutNull(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter(item => item !== null).map(withoutNull)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, item]) => item !== null)
  return Object.fromEntries(entries.map(([key, item]) => [key, withoutNull(item)]))
}
