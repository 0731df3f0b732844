import { ToolError } from '../core/errors.ts'
import type { IsolateOutcome } from '../sandbox/isolate/isolates.ts'
import { createHost } from './host.ts'
import type { CodeContext } from './life-cycle.ts'
import type { DynamicParts } from './parts.ts'
import type { StoredTool } from './store.ts'

export interface CodeResult {
  readonly value: unknown
  readonly logs: readonly string[]
  readonly ms: number
}

/** A run that did not give a result. `kind` is what the metrics count. */
export class CodeFailure extends Error {
  override name = 'CodeFailure'
  readonly kind: string
  readonly ms: number
  readonly logs: readonly string[]

  constructor(message: string, kind: string, ms: number, logs: readonly string[]) {
    super(message)
    this.kind = kind
    this.ms = ms
    this.logs = logs
  }
}

/** Runs a tool once in an isolate, with values that its parameters allow. Throws a CodeFailure. */
export async function runCode(
  { tool, hash }: Pick<StoredTool, 'tool' | 'hash'>,
  values: Readonly<Record<string, unknown>>,
  context: CodeContext,
  parts: DynamicParts,
  timeoutMs: number,
): Promise<CodeResult> {
  const { settings } = parts
  const started = performance.now()
  const host = createHost(tool, context, parts)
  const outcome = await parts.isolates().run({
    key: hash,
    code: tool.script,
    input: JSON.stringify(values),
    timeoutMs,
    memoryMb: settings.memoryMb,
    signal: AbortSignal.any([context.signal, host.stop]),
    depth: host.depth,
    answer: host.answer,
  })
  await host.end()
  const stopped = host.stopped()
  if (stopped !== undefined) throw stopped
  const ms = Math.round(performance.now() - started)
  if (!outcome.ok) throw toFailure(outcome, ms, parts, timeoutMs)
  return { value: JSON.parse(outcome.json), logs: outcome.logs, ms }
}

function toFailure(
  { reason, message, logs }: IsolateOutcome & { ok: false },
  ms: number,
  { texts, settings }: DynamicParts,
  timeoutMs: number,
): Error {
  const { errors } = texts
  const failure = (words: string): CodeFailure => new CodeFailure(words, reason, ms, logs)
  switch (reason) {
    case 'threw':
      return failure(errors.run(message))
    case 'timeout':
      return failure(errors.timeout(timeoutMs))
    case 'memory':
      return failure(errors.memory(settings.memoryMb))
    case 'output':
      return failure(errors.output)
    case 'crashed':
      return failure(errors.crashed)
    case 'cancelled':
      return new ToolError('cancelled', 'The call was cancelled.')
  }
}

/**
 * The quick check before every run: what was analysed and approved is what runs, by the hash of what is stored at this
 * moment, and nothing in it was critical.
 */
export function quickCheck(
  { tool, hash }: StoredTool,
  stored: StoredTool | undefined,
  { texts }: Pick<DynamicParts, 'texts'>,
): { text: string; remedy: 'unsafe' | 'quarantined' } | undefined {
  const { errors } = texts
  const held = stored?.tool.quarantined
  if (held !== undefined) return { text: errors.quarantined(held), remedy: 'quarantined' }
  const unsafe = (why: string) => ({ text: errors.unsafe(why), remedy: 'unsafe' as const })
  if (stored?.hash !== hash) return unsafe(errors.changed)
  const [blocked] = tool.safety.blockedOperations
  return blocked === undefined ? undefined : unsafe(texts.safety[blocked].issue)
}
