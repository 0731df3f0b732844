import type { AuditEvent } from '../../core/audit.ts'
import type { Redactor } from '../../core/redact.ts'
import { sha256 } from './line.ts'

/** Longer strings are kept as their beginning, size and hash: a log is read by people and never carries file contents. */
const LONGEST_STRING = 8 * 1024
const KEPT = 200

/**
 * The event as JSON, secrets removed first. A string of more than 8 KB becomes
 * `{"…": "its first 200 characters", "bytes": size, "sha256": "hash"}`, size and hash of the redacted text as UTF-8.
 */
export function toEventText(event: AuditEvent, redact: Redactor): string {
  const redacted = redact.value(event)
  const text = JSON.stringify(redacted)
  return text.length > LONGEST_STRING ? JSON.stringify(shorten(redacted)) : text
}

/** The redactor has bounded the depth. */
function shorten(value: unknown): unknown {
  if (typeof value === 'string') return value.length > LONGEST_STRING ? shortened(value) : value
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  if (Array.isArray(value)) return value.map(shorten)
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shorten(item)]))
}

function shortened(text: string): Record<string, unknown> {
  const bytes = Buffer.from(text)
  return { '…': text.slice(0, KEPT).toWellFormed(), bytes: bytes.length, sha256: sha256(bytes) }
}
