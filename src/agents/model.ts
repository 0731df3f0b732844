import type { JsonSchema } from '../core/schema.ts'
import type { AssistantBlock, Message } from './messages.ts'

/** Something that answers a conversation: a vendor's model over HTTP, or a rehearsal script. */
export interface Model {
  /** `anthropic/claude-sonnet-4-5`, `rehearsal:demo.toml`; what `--model` takes. */
  readonly id: string
  readonly provider: string
  readonly name: string
  readonly capabilities: Capabilities
  /** Null when it is not known. */
  readonly price: Price | null
  /** One request, without retries. Fails with ModelError only. */
  respond(request: ModelRequest): Promise<ModelResponse>
}

export interface Capabilities {
  /** In tokens; undefined when not known. */
  readonly context: number | undefined
  readonly maxOutput: number | undefined
  readonly tools: boolean
  readonly images: boolean
  readonly temperature: boolean
}

/** USD per million tokens. */
export interface Price {
  readonly input: number
  /** Read from the vendor's cache. */
  readonly cached: number
  /** Written to it. */
  readonly cacheWrite: number
  readonly output: number
}

export interface ModelRequest {
  readonly system: string
  readonly messages: readonly Message[]
  readonly tools: readonly ToolDefinition[]
  readonly temperature?: number
  readonly maxTokens?: number
  /** The sub-agent that is asked, by name. Rehearsals have a script for each. */
  readonly agent?: string
  readonly signal: AbortSignal
  /** What the model says, as it comes. */
  onText?(delta: string): void
}

export interface ToolDefinition {
  readonly name: string
  readonly description: string
  readonly input_schema: JsonSchema
}

export interface ModelResponse {
  readonly content: readonly AssistantBlock[]
  /** `end_turn` and `tool_use` are the ordinary ones; every other reason ends the loop. */
  readonly stopReason: ModelStopReason
  readonly usage: Usage
}

export type ModelStopReason = 'end_turn' | 'tool_use' | 'max_tokens' | 'content_filter' | 'other'

/** Disjoint: their sum is what the vendor counted. */
export interface Usage {
  readonly input: number
  readonly cached: number
  readonly cacheWrite: number
  readonly output: number
  readonly reasoning: number
}

export const NO_USAGE: Usage = { input: 0, cached: 0, cacheWrite: 0, output: 0, reasoning: 0 }

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    cached: a.cached + b.cached,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    output: a.output + b.output,
    reasoning: a.reasoning + b.reasoning,
  }
}

export function totalTokens(usage: Usage): number {
  return usage.input + usage.cached + usage.cacheWrite + usage.output + usage.reasoning
}

/** Null when the price is not known: unknown is never shown as nothing. */
export function costOf(usage: Usage, price: Price | null): number | null {
  if (price === null) return null
  const { input, cached, cacheWrite, output, reasoning } = usage
  const millionths =
    input * price.input +
    cached * price.cached +
    cacheWrite * price.cacheWrite +
    (output + reasoning) * price.output
  return millionths / 1e6
}

/**
 * credentials: no key, or the vendor refuses it. rejected: the vendor does not take this request as it is. unavailable:
 * worth another try (overload, broken connection, truncated answer). rate_limited: worth one later. failed: anything else.
 */
export type ModelErrorKind =
  | 'credentials'
  | 'rejected'
  | 'unavailable'
  | 'rate_limited'
  | 'cancelled'
  | 'failed'

/** Why a model did not answer. The message is for the person and holds no key. */
export class ModelError extends Error {
  override name = 'ModelError'
  readonly kind: ModelErrorKind
  /** What the vendor asks to wait before the next try. */
  readonly retryAfterMs: number | undefined
  readonly hint: string | undefined
  /** Of an answer that broke off, as far as it can be told. */
  usage: Usage = NO_USAGE

  constructor(
    kind: ModelErrorKind,
    message: string,
    options: { retryAfterMs?: number; hint?: string; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.kind = kind
    this.retryAfterMs = options.retryAfterMs
    this.hint = options.hint
  }
}
