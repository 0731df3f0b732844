import { existsSync } from 'node:fs'
import type { CallStarted } from '../../core/audit.ts'
import { inputText } from '../../core/record-call.ts'
import { createSeal } from '../../core/seal.ts'

export type Digest = (text: string) => string

/** By the key of this workspace, if it has one. */
export function digestWith(sealKey: string): Digest | undefined {
  return existsSync(sealKey) ? createSeal(sealKey).digest : undefined
}

/** Whether a line of the log holds a whole input, and it is not the one that the call was made with. */
export function hasOtherInput(line: Buffer, digest: Digest): boolean {
  if (!line.includes('"inputDigest":"')) return false
  const event: unknown = JSON.parse(line.toString('utf8'))
  if (!isStarted(event) || isShortened(event.input)) return false
  return provesInput(event, event.input, digest) === false
}

/** Whether the call was made with this input; undefined when the log has no digest of it. */
export function provesInput(event: CallStarted, input: unknown, digest: Digest): boolean | undefined {
  const text = inputText(input)
  return event.inputDigest === undefined || text === undefined
    ? undefined
    : digest(text) === event.inputDigest
}

function isStarted(event: unknown): event is CallStarted {
  return typeof event === 'object' && event !== null && 'type' in event && event.type === 'call-started'
}

/** Something of it is masked, hidden or too long for the log. */
function isShortened(input: unknown): boolean {
  return /‹|"…":/.test(JSON.stringify(input) ?? '')
}
