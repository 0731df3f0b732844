/** A conversation as it is written down: what the person or the tools say is `user`, what the model says `assistant`. */
export type Message =
  | { readonly role: 'user'; readonly content: readonly UserBlock[] }
  | { readonly role: 'assistant'; readonly content: readonly AssistantBlock[] }

export type UserBlock = TextBlock | ToolResultBlock

export type AssistantBlock = TextBlock | ReasoningBlock | ToolUseBlock

interface TextBlock {
  readonly type: 'text'
  readonly text: string
}

interface ReasoningBlock {
  readonly type: 'reasoning'
  readonly text: string
  /** What the vendor wants back with it, such as a signature. */
  readonly vendor?: VendorData
}

export interface ToolUseBlock {
  readonly type: 'tool_use'
  readonly id: string
  readonly name: string
  readonly input: unknown
  /** The model's text was no JSON; the call is answered with an error instead of being made. */
  readonly malformed?: string
  readonly vendor?: VendorData
}

export interface ToolResultBlock {
  readonly type: 'tool_result'
  readonly tool_use_id: string
  /** The name that the model used. */
  readonly name: string
  readonly content: string
  readonly is_error: boolean
  readonly images?: readonly { readonly mimeType: string; readonly base64: string }[]
}

/** Opaque to us, kept by vendor name. */
export type VendorData = Readonly<Record<string, Readonly<Record<string, unknown>>>>

export function userText(text: string): Message {
  return { role: 'user', content: [{ type: 'text', text }] }
}

export function textOf(message: Message): string {
  return message.content
    .flatMap(block => (block.type === 'text' ? [block.text] : []))
    .join('\n')
    .trim()
}

export function toolUsesOf(message: Message): ToolUseBlock[] {
  return message.role === 'assistant' ? message.content.filter(block => block.type === 'tool_use') : []
}

export function toolResultsOf(messages: readonly Message[]): ToolResultBlock[] {
  return messages.flatMap(message =>
    message.role === 'user' ? message.content.filter(block => block.type === 'tool_result') : [],
  )
}
