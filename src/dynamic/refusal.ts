import { ToolError } from '../core/errors.ts'
import { errorText } from './catalogue/layouts.ts'
import type { DynamicParts } from './parts.ts'

/** An expected failure, in the layout and language of the five tools. */
export function refusal(
  { texts }: Pick<DynamicParts, 'texts'>,
  message: string,
  code: 'invalid_input' | 'not_found' | 'conflict' | 'failed' | 'forbidden' = 'invalid_input',
): ToolError {
  return new ToolError(code, errorText(message, texts))
}
