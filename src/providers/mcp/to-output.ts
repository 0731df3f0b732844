import { ToolError } from '../../core/errors.ts'
import type { ToolOutput } from '../../core/tool.ts'

/** The result of `tools/call`, of either era. */
export interface ToolResult {
  readonly content?: readonly Content[]
  readonly structuredContent?: unknown
  readonly isError?: boolean | undefined
}

type Content =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
  | { readonly type: 'resource_link'; readonly uri: string; readonly name: string }
  | {
      readonly type: 'resource'
      readonly resource: {
        readonly uri: string
        readonly text?: string
        readonly mimeType?: string | undefined
      }
    }

/** What a server returned, as one of our outputs. What it calls an error is one. */
export function toOutput({ content = [], structuredContent, isError }: ToolResult): ToolOutput {
  const text = content
    .map(toText)
    .filter(part => part !== '')
    .join('\n')
  if (isError === true)
    throw new ToolError('failed', text === '' ? 'The tool failed without saying why.' : text)
  const images = content.flatMap(part =>
    part.type === 'image' ? [{ mimeType: part.mimeType, base64: part.data }] : [],
  )
  const data = structuredContent === undefined ? {} : { data: structuredContent }
  return {
    text: text === '' && structuredContent !== undefined ? JSON.stringify(structuredContent) : text,
    ...data,
    ...(images.length === 0 ? {} : { images }),
  }
}

function toText(part: Content): string {
  switch (part.type) {
    case 'text':
      return part.text
    case 'image':
      return ''
    case 'audio':
      return `[audio, ${part.mimeType}, ${Math.floor((part.data.length * 3) / 4)} bytes]`
    case 'resource_link':
      return `[${part.name}: ${part.uri}]`
    case 'resource':
      return part.resource.text ?? `[${part.resource.uri}, ${part.resource.mimeType ?? 'binary'}]`
  }
}
