import type { CallToolResult } from '@modelcontextprotocol/server'
import type { CallResult } from '../core/call.ts'
import type { AnyTool } from '../core/tool.ts'

/** The outcome of a call as MCP tells it. */
export function toMcpResult(result: CallResult, tool: AnyTool): CallToolResult {
  const { error, text, data, images = [], label, call, question } = result
  const meta = { 'kogu/call': call, ...(label === null ? {} : { 'kogu/origin': label }) }
  if (error !== null) {
    const words = [`${error.code}: ${error.message}`, error.hint, howToApprove(question)]
    // No structured content: clients check it against the schema of a success.
    return { isError: true, content: [{ type: 'text', text: words.filter(Boolean).join('\n') }], _meta: meta }
  }
  // A client that checks misses it even where the data was too long to be told.
  const structured =
    tool.output?.json.type === 'object' ? { structuredContent: isObject(data) ? data : {} } : {}
  return {
    content: [
      { type: 'text', text },
      ...images.map(({ mimeType, base64 }) => ({ type: 'image' as const, mimeType, data: base64 })),
    ],
    ...structured,
    _meta: meta,
  }
}

function howToApprove(question: string | undefined): string | null {
  if (question === undefined) return null
  return `The call waits for approval. A person can run this in a terminal: kogu approvals approve ${question}. Then make the same call again.`
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
