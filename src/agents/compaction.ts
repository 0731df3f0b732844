import type { Message, ToolResultBlock, UserBlock } from './messages.ts'

// What is sent to the model is a view of the conversation; the conversation itself keeps everything. When the view gets too
// large, old tool results become references that the model can read again (`read_result`); when that is not enough, the
// oldest turns are left out. The same conversation gives the same view, whoever continues the run.

/** How much of a model's context the conversation may fill; the rest is for the answer, the tools and our mistakes. */
const SHARE = 0.7
const DEFAULT_CONTEXT = 128_000
/** Shorter ones are not worth a reference. */
const SHORT_RESULT = 600
const TOKENS_PER_IMAGE = 1_600
/** Roughly: vendors count differently. */
export const CHARACTERS_PER_TOKEN = 3.5

export const READ_RESULT = 'read_result'

export interface ViewOptions {
  /** The model's context in tokens. */
  readonly context: number | undefined
  /** Characters of what is always sent: the system prompt and the definitions of tools. */
  readonly fixedCharacters: number
  /** Ids of calls whose results the vendor did not accept. */
  readonly rejected: readonly string[]
}

export function toView(messages: readonly Message[], options: ViewOptions): Message[] {
  const { context = DEFAULT_CONTEXT, fixedCharacters, rejected } = options
  const budget = context * SHARE - fixedCharacters / CHARACTERS_PER_TOKEN
  const view = withoutRejected(messages, rejected)
  let size = sizeOf(view)
  if (size <= budget) return view
  // The newest results are what the model works with right now.
  for (let index = 0; index < view.length - 2 && size > budget; index += 1) {
    const message = view[index]
    if (message?.role !== 'user') continue
    const shorter: Message = { role: 'user', content: message.content.map(toReference) }
    size -= sizeOf([message]) - sizeOf([shorter])
    view[index] = shorter
  }
  return size <= budget ? view : leaveOutOldest(view, budget)
}

/** One result that a vendor does not accept would otherwise fail every further request of the run. */
function withoutRejected(messages: readonly Message[], rejected: readonly string[]): Message[] {
  if (rejected.length === 0) return [...messages]
  return messages.map(message =>
    message.role === 'user'
      ? { role: 'user', content: message.content.map(block => toNote(block, rejected)) }
      : message,
  )
}

function toNote(block: UserBlock, rejected: readonly string[]): UserBlock {
  if (block.type !== 'tool_result' || !rejected.includes(block.tool_use_id)) return block
  const { images: _, ...rest } = block
  return {
    ...rest,
    content: "[Kogu: the model's API rejected this result, so it was left out.]",
  }
}

function toReference(block: UserBlock): UserBlock {
  if (block.type !== 'tool_result' || (block.content.length <= SHORT_RESULT && block.images === undefined)) {
    return block
  }
  const { images: _, ...rest } = block
  const start = block.content.slice(0, 200).trimEnd()
  const reference = `${start}\n[Shortened: ${block.content.length} characters in all. Read them again with ${READ_RESULT} {"id": "${block.tool_use_id}"}.]`
  return { ...rest, content: reference }
}

/** The task stays, and so do whole turns: a call without its result is refused by every vendor. */
function leaveOutOldest(messages: readonly Message[], budget: number): Message[] {
  const [task, ...rest] = messages
  if (task === undefined) return []
  let size = sizeOf(messages)
  let start = 0
  while (size > budget && start + 2 < rest.length) {
    size -= sizeOf(rest.slice(start, start + 2))
    start += 2
  }
  const note: UserBlock = {
    type: 'text',
    text: `[Kogu: ${start} earlier messages are left out here to save space. Results can be read again with ${READ_RESULT}.]`,
  }
  const first: Message = task.role === 'user' ? { role: 'user', content: [...task.content, note] } : task
  return start === 0 ? [...messages] : [first, ...rest.slice(start)]
}

/** In tokens, roughly: vendors count differently, and a good guess is all that a share needs. */
function sizeOf(messages: readonly Message[]): number {
  let characters = 0
  let images = 0
  for (const { content } of messages) {
    for (const block of content) {
      if (block.type === 'tool_use') characters += JSON.stringify(block.input).length + 50
      else if (block.type === 'tool_result') {
        characters += block.content.length + 50
        images += block.images?.length ?? 0
      } else characters += block.text.length
    }
  }
  return characters / CHARACTERS_PER_TOKEN + images * TOKENS_PER_IMAGE
}

const MOST_LINES = 400

/** Answers `read_result` from the conversation itself. */
export function readResult(messages: readonly Message[], input: unknown): { ok: boolean; text: string } {
  const { id, offset, limit, search } = toWish(input)
  const found = findResult(messages, id)
  if (found === undefined) return { ok: false, text: `There is no result with the id '${id}' in this run.` }
  const lines = found.content.split('\n').map((line, index) => ({ line, number: index + 1 }))
  const wanted = search === '' ? lines : lines.filter(({ line }) => line.includes(search))
  const shown = wanted.slice(offset, offset + limit)
  const more = wanted.length - offset - shown.length
  return {
    ok: true,
    text: [
      ...shown.map(({ line, number }) => `${number}\t${line}`),
      ...(more > 0 ? [`[${more} more lines; continue with offset ${offset + shown.length}.]`] : []),
      ...(shown.length === 0 ? ['(nothing there)'] : []),
    ].join('\n'),
  }
}

function findResult(messages: readonly Message[], id: string): ToolResultBlock | undefined {
  for (const message of messages) {
    if (message.role !== 'user') continue
    for (const block of message.content) {
      if (block.type === 'tool_result' && block.tool_use_id === id) return block
    }
  }
  return undefined
}

function toWish(input: unknown): { id: string; offset: number; limit: number; search: string } {
  const wish = typeof input === 'object' && input !== null ? { ...input } : {}
  const count = (value: unknown, otherwise: number): number =>
    typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : otherwise
  return {
    id: 'id' in wish && typeof wish.id === 'string' ? wish.id : '',
    offset: 'offset' in wish ? count(wish.offset, 0) : 0,
    limit: Math.min('limit' in wish ? count(wish.limit, MOST_LINES) : MOST_LINES, MOST_LINES),
    search: 'search' in wish && typeof wish.search === 'string' ? wish.search : '',
  }
}

export const READ_RESULT_DEFINITION = {
  name: READ_RESULT,
  description:
    'Read an earlier tool result of this run again, in full or in part, by the id of its call. Changes nothing.',
  input_schema: {
    type: 'object',
    properties: {
      id: { type: 'string', description: 'The id of the tool call' },
      offset: { type: 'integer', minimum: 0, description: 'The first line, counted from 0' },
      limit: { type: 'integer', minimum: 1, maximum: MOST_LINES },
      search: { type: 'string', description: 'Only lines that contain this text' },
    },
    required: ['id'],
    additionalProperties: false,
  },
} as const
