import type { LanguageModelV4Message, LanguageModelV4Prompt, SharedV4ProviderOptions } from '@ai-sdk/provider'
import type { AssistantBlock, Message, ToolResultBlock, VendorData } from '../messages.ts'
import type { Capabilities, ModelRequest } from '../model.ts'

/**
 * A conversation in the AI SDK's form. What stays the same from request to request is marked for the vendor's cache where it
 * has to be told (Anthropic); the others find it by themselves.
 */
export function toPrompt(
  { system, messages }: ModelRequest,
  capabilities: Capabilities,
): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = []
  if (system !== '') prompt.push({ role: 'system', content: system, providerOptions: CACHE })
  for (const message of messages) prompt.push(...toMessages(message, capabilities))
  const last = prompt.at(-1)
  if (last !== undefined && last.role !== 'system') last.providerOptions = CACHE
  return prompt
}

const CACHE: SharedV4ProviderOptions = { anthropic: { cacheControl: { type: 'ephemeral' } } }

function toMessages(message: Message, capabilities: Capabilities): LanguageModelV4Message[] {
  if (message.role === 'assistant') return [{ role: 'assistant', content: message.content.map(toPart) }]
  const results = message.content.filter(block => block.type === 'tool_result')
  const texts = message.content.filter(block => block.type === 'text')
  return [
    ...(results.length === 0
      ? []
      : [{ role: 'tool' as const, content: results.map(block => toResultPart(block, capabilities)) }]),
    ...(texts.length === 0
      ? []
      : [{ role: 'user' as const, content: texts.map(({ text }) => ({ type: 'text' as const, text })) }]),
  ]
}

function toPart(block: AssistantBlock) {
  switch (block.type) {
    case 'text':
      return { type: 'text' as const, text: block.text }
    case 'reasoning':
      return { type: 'reasoning' as const, text: block.text, ...toOptions(block.vendor) }
    case 'tool_use':
      return {
        type: 'tool-call' as const,
        toolCallId: block.id,
        toolName: block.name,
        input: block.input,
        ...toOptions(block.vendor),
      }
  }
}

function toOptions(vendor: VendorData | undefined): { providerOptions?: SharedV4ProviderOptions } {
  // It came from the vendor's package as JSON and goes back to it unread.
  return vendor === undefined ? {} : { providerOptions: vendor as SharedV4ProviderOptions }
}

function toResultPart(block: ToolResultBlock, { images }: Capabilities) {
  const common = { type: 'tool-result' as const, toolCallId: block.tool_use_id, toolName: block.name }
  if (block.is_error) return { ...common, output: { type: 'error-text' as const, value: block.content } }
  if (block.images === undefined || block.images.length === 0) {
    return { ...common, output: { type: 'text' as const, value: block.content } }
  }
  if (!images) {
    const note = `${block.content}\n[Kogu: the model cannot see images, so ${block.images.length} are left out.]`
    return { ...common, output: { type: 'text' as const, value: note } }
  }
  const files = block.images.map(({ mimeType, base64 }) => ({
    type: 'file' as const,
    mediaType: mimeType,
    data: { type: 'data' as const, data: base64 },
  }))
  return {
    ...common,
    output: { type: 'content' as const, value: [{ type: 'text' as const, text: block.content }, ...files] },
  }
}
