import { type ErrorCode, ToolError } from '../core/errors.ts'
import type { Catalogue } from './catalogue/catalogue.ts'
import { errorText } from './catalogue/layouts.ts'
import type { DynamicParts } from './parts.ts'

interface How {
  /** Defaults to `invalid_input`. */
  readonly code?: ErrorCode
  /** What to do about it. */
  readonly remedy?: keyof Catalogue['remedies']
  readonly data?: unknown
}

/** An expected failure, in the layout and language of the five tools. */
export function refusal(
  { texts }: Pick<DynamicParts, 'texts'>,
  message: string,
  { code = 'invalid_input', remedy, data }: How = {},
): ToolError {
  return new ToolError(code, errorText(message, texts), {
    ...(remedy === undefined ? {} : { hint: texts.remedies[remedy] }),
    data,
  })
}
