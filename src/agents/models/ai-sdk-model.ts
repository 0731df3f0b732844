import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider'
import { isTooDeep } from '../../core/foreign-schema.ts'
import { CHARACTERS_PER_TOKEN } from '../compaction.ts'
import type { AssistantBlock, VendorData } from '../messages.ts'
import type {
  Capabilities,
  Model,
  ModelRequest,
  ModelResponse,
  ModelStopReason,
  Price,
  Usage,
} from '../model.ts'
import { ModelError, NO_USAGE } from '../model.ts'
import { hideKey, toModelError } from './model-error.ts'
import { toPrompt } from './prompt.ts'
import { createSpokenText } from './spoken-text.ts'

export interface AiSdkModelOptions {
  readonly id: string
  readonly provider: string
  readonly capabilities: Capabilities
  readonly price: Price | null
  /** Loads the vendor's package and reads the key, when the first request is made. */
  load(): Promise<{ model: LanguageModelV4; secret: string }>
}

/** A model of a vendor, through the AI SDK's provider for its wire format. The loop around it is ours. */
export function createAiSdkModel(options: AiSdkModelOptions): Model {
  const { id, provider, capabilities, price } = options
  let loaded: ReturnType<AiSdkModelOptions['load']> | undefined
  return {
    id,
    provider,
    name: id.slice(id.indexOf('/') + 1),
    capabilities,
    price,
    async respond(request) {
      loaded ??= options.load()
      const { model, secret } = await loaded
      const shown = createSpokenText(text => request.onText?.(hideKey(text, secret)))
      const blocks = createBlocks(shown.say)
      try {
        const { stream } = await model.doStream(toCallOptions(request, capabilities))
        const finish = await readStream(stream, blocks)
        shown.end()
        return toResponse(
          request,
          finish,
          blocks.all().map(block => withoutKey(block, secret)),
        )
      } catch (error) {
        const failed = toModelError(error, { provider, secret, signal: request.signal })
        const begun = blocks.all()
        // Vendors charge for what they have said, also when it broke off.
        if (begun.length > 0) failed.usage = estimate(request, begun)
        throw failed
      }
    },
  }
}

function toCallOptions(request: ModelRequest, capabilities: Capabilities): LanguageModelV4CallOptions {
  const { tools, temperature, maxTokens, signal } = request
  const limit = Math.min(
    maxTokens ?? Number.POSITIVE_INFINITY,
    capabilities.maxOutput ?? Number.POSITIVE_INFINITY,
  )
  return {
    prompt: toPrompt(request, capabilities),
    abortSignal: signal,
    ...(Number.isFinite(limit) ? { maxOutputTokens: limit } : {}),
    ...(temperature === undefined || !capabilities.temperature ? {} : { temperature }),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(tool => ({
            type: 'function' as const,
            name: tool.name,
            description: tool.description,
            inputSchema: tool.input_schema,
          })),
        }),
  }
}

type Finish = { reason: LanguageModelV4FinishReason; usage: LanguageModelV4Usage }

async function readStream(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  blocks: ReturnType<typeof createBlocks>,
): Promise<Finish> {
  let finish: Finish | undefined
  for await (const part of stream) {
    if (part.type === 'error') throw part.error
    if (part.type === 'finish') finish = { reason: part.finishReason, usage: part.usage }
    else blocks.take(part)
  }
  // A connection that breaks in the middle looks like an end. Half an answer must not count as one.
  if (finish === undefined || finish.reason.unified === 'interrupted') {
    throw new ModelError('unavailable', 'The answer broke off before its end.')
  }
  if (finish.reason.unified === 'error')
    throw new ModelError('unavailable', 'The vendor ended the answer with an error.')
  return finish
}

function toResponse(
  request: ModelRequest,
  { reason, usage }: Finish,
  content: readonly AssistantBlock[],
): ModelResponse {
  const isTold = (usage.inputTokens.total ?? 0) > 0 || (usage.outputTokens.total ?? 0) > 0
  return {
    content,
    stopReason: toStopReason(reason, content),
    usage: isTold ? toUsage(usage) : estimate(request, content),
  }
}

type Draft = { type: 'text' | 'reasoning'; text: string; vendor?: VendorData }

/** Puts the parts of a stream together, in the order in which they began. */
function createBlocks(onText: (delta: string) => void) {
  const order: (Draft | AssistantBlock)[] = []
  const open = new Map<string, Draft>()
  const begin = (type: Draft['type'], id: string): Draft => {
    const draft: Draft = { type, text: '' }
    open.set(`${type} ${id}`, draft)
    order.push(draft)
    return draft
  }
  const extend = (type: Draft['type'], id: string, delta: string): void => {
    const draft = open.get(`${type} ${id}`) ?? begin(type, id)
    draft.text += delta
    if (type === 'text') onText(delta)
  }
  const keep = (type: Draft['type'], id: string, vendor: unknown): void => {
    const draft = open.get(`${type} ${id}`)
    // Opaque to us; the vendor's own package reads it again.
    if (draft !== undefined && vendor !== undefined)
      draft.vendor = { ...draft.vendor, ...(vendor as VendorData) }
  }
  return {
    take(part: LanguageModelV4StreamPart): void {
      switch (part.type) {
        case 'text-start':
          begin('text', part.id)
          break
        case 'text-delta':
          extend('text', part.id, part.delta)
          break
        case 'reasoning-start':
          begin('reasoning', part.id)
          keep('reasoning', part.id, part.providerMetadata)
          break
        case 'reasoning-delta':
          extend('reasoning', part.id, part.delta)
          keep('reasoning', part.id, part.providerMetadata)
          break
        case 'reasoning-end':
          keep('reasoning', part.id, part.providerMetadata)
          break
        case 'tool-call':
          if (part.providerExecuted !== true) order.push(toToolUse(part))
          break
        default:
        // Sources, files, raw parts and pings say nothing that the loop works with.
      }
    },
    all: (): AssistantBlock[] =>
      order.filter(block => block.type === 'tool_use' || block.text !== '' || 'vendor' in block),
  }
}

function toToolUse(part: Extract<LanguageModelV4StreamPart, { type: 'tool-call' }>): AssistantBlock {
  const vendor = part.providerMetadata === undefined ? {} : { vendor: part.providerMetadata as VendorData } // opaque
  const name = part.toolName.slice(0, LONGEST_NAME)
  const common = { type: 'tool_use' as const, id: part.toolCallId, name, ...vendor }
  try {
    const input = part.input.trim() === '' ? {} : JSON.parse(part.input)
    return isTooDeep(input)
      ? { ...common, input: {}, malformed: 'it is nested too deeply' }
      : { ...common, input }
  } catch (error) {
    return { ...common, input: {}, malformed: error instanceof Error ? error.message : String(error) }
  }
}

/** Vendors refuse longer names when they get them back, and with them every further request of the run. */
const LONGEST_NAME = 64

/** A vendor that repeats the key it was sent must not bring it into the conversation, which is kept. */
function withoutKey(block: AssistantBlock, secret: string): AssistantBlock {
  if (block.type !== 'tool_use') return { ...block, text: hideKey(block.text, secret) }
  const text = JSON.stringify(block.input)
  const hidden = hideKey(text, secret)
  return hidden === text ? block : { ...block, input: JSON.parse(hidden) }
}

function toStopReason(
  reason: LanguageModelV4FinishReason,
  content: readonly AssistantBlock[],
): ModelStopReason {
  switch (reason.unified) {
    case 'tool-calls':
      return 'tool_use'
    case 'stop':
      // Some compatible servers say "stop" after tool calls.
      return content.some(block => block.type === 'tool_use') ? 'tool_use' : 'end_turn'
    case 'length':
      return 'max_tokens'
    case 'content-filter':
      return 'content_filter'
    default:
      return 'other'
  }
}

/** Vendors count differently: some include cached and reasoning tokens in their totals. Ours are disjoint. */
function toUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage {
  const cached = toCount(inputTokens.cacheRead)
  const cacheWrite = toCount(inputTokens.cacheWrite)
  const reasoning = toCount(outputTokens.reasoning)
  return {
    cached,
    cacheWrite,
    reasoning,
    input: toCount(inputTokens.noCache ?? (inputTokens.total ?? 0) - cached - cacheWrite),
    output: toCount(outputTokens.text ?? (outputTokens.total ?? 0) - reasoning),
  }
}

/** Some servers do not count. A limit must hold with them too, so what went over the wire is counted here. */
function estimate({ system, messages, tools }: ModelRequest, content: readonly AssistantBlock[]): Usage {
  const tokens = (value: unknown): number => Math.ceil(JSON.stringify(value).length / CHARACTERS_PER_TOKEN)
  return { ...NO_USAGE, input: tokens([system, messages, tools]), output: tokens(content) }
}

/** More than any request can have. */
const MOST_TOKENS = 1e9

/** What a server says it counted may be anything; a negative number would make room in a budget. */
function toCount(said: number | undefined): number {
  return said === undefined || !(said > 0) ? 0 : Math.min(Math.ceil(said), MOST_TOKENS)
}
