import { existsSync } from 'node:fs'
import type { CallStarted } from '../../core/audit.ts'
import { canonicalJson } from '../../core/canonical-json.ts'
import { createSeal, type Seal } from '../../core/seal.ts'

/** Of an input as it was given, by the key of the workspace. */
export type DigestInput = (input: unknown) => string | undefined

export function digestWith(seal: Seal): DigestInput {
  return input => {
    const text = toText(input)
    return text === undefined ? undefined : seal.digest(text)
  }
}

/** Undefined where there is no key: a log that was copied to another machine. */
export function digestHere(sealKey: string): DigestInput | undefined {
  return existsSync(sealKey) ? digestWith(createSeal(sealKey)) : undefined
}

/** Whether a line of the log holds a whole input, and it is not the one that the call was made with. */
export function hasOtherInput(line: Buffer, digest: DigestInput): boolean {
  if (!line.includes('"inputDigest":"')) return false
  const event: unknown = JSON.parse(line.toString('utf8'))
  if (!isStarted(event) || isShortened(event.input)) return false
  return provesInput(event, event.input, digest) === false
}

/** Whether the call was made with this input; undefined when the log has no digest of it. */
export function provesInput(event: CallStarted, input: unknown, digest: DigestInput): boolean | undefined {
  return event.inputDigest === undefined ? undefined : digest(input) === event.inputDigest
}

function toText(input: unknown): string | undefined {
  try {
    return canonicalJson(input)
  } catch {
    // Nested without end: the call is recorded all the same, and refused when its input is looked at.
    return undefined
  }
}

function isStarted(event: unknown): event is CallStarted {
  return typeof event === 'object' && event !== null && 'type' in event && event.type === 'call-started'
}

/** Something of it is masked, hidden or too long for the log. */
function isShortened(input: unknown): boolean {
  return /‹|"…":/.test(JSON.stringify(input) ?? '')
}
