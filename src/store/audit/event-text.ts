import type { AuditEvent } from '../../core/audit.ts'
import type { Redactor } from '../../core/redact.ts'
import { sha256 } from './line.ts'

/** Longer strings are kept as their beginning, size and hash: a log is read by people and never carries file contents. */
const LONGEST_STRING = 8 * 1024
const KEPT = 200

/** Long enough that no secret which begins in what is kept is cut before it is found. */
const SEARCHED = 4096

/**
 * The event as JSON without its secrets. A string of more than 8 KB becomes
 * `{"…": "its first 200 characters", "bytes": size, "sha256": "hash"}`, size and hash of the text as UTF-8.
 */
export function toEventText(event: AuditEvent, redact: Redactor): string {
  const replace = (text: string): Record<string, unknown> => {
    const beginning = redact.text(text.slice(0, SEARCHED)).slice(0, KEPT)
    return { '…': beginning.toWellFormed(), bytes: Buffer.byteLength(text), sha256: sha256(text) }
  }
  return JSON.stringify(redact.value(event, { longest: LONGEST_STRING, replace }))
}
