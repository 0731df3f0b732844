import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider'
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
import { ModelError } from '../model.ts'
import { toModelError } from './model-error.ts'
import { toPrompt } from './prompt.ts'

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
      try {
        const { stream } = await model.doStream(toCallOptions(request, capabilities))
        return await readStream(stream, request)
      } catch (error) {
        throw toModelError(error, { provider, secret, signal: request.signal })
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
  request: ModelRequest,
): Promise<ModelResponse> {
  const blocks = createBlocks(request)
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
  const content = blocks.all()
  return { content, stopReason: toStopReason(finish.reason, content), usage: toUsage(finish.usage) }
}

type Draft = { type: 'text' | 'reasoning'; text: string; vendor?: VendorData }

/** Puts the parts of a stream together, in the order in which they began. */
function createBlocks({ onText }: ModelRequest) {
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
    if (type === 'text' && delta !== '') onText?.(delta)
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
  const common = { type: 'tool_use' as const, id: part.toolCallId, name: part.toolName, ...vendor }
  try {
    return { ...common, input: part.input.trim() === '' ? {} : JSON.parse(part.input) }
  } catch (error) {
    return { ...common, input: {}, malformed: error instanceof Error ? error.message : String(error) }
  }
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
  const cached = inputTokens.cacheRead ?? 0
  const cacheWrite = inputTokens.cacheWrite ?? 0
  const reasoning = outputTokens.reasoning ?? 0
  return {
    cached,
    cacheWrite,
    reasoning,
    input: inputTokens.noCache ?? Math.max(0, (inputTokens.total ?? 0) - cached - cacheWrite),
    output: outputTokens.text ?? Math.max(0, (outputTokens.total ?? 0) - reasoning),
  }
}
