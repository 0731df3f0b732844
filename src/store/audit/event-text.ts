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
  const redacted = (value: unknown): unknown => redact.value(value, { longest: LONGEST_STRING, replace })
  return JSON.stringify(keepOwn(event, redact, redacted))
}

// What Kogu itself says in an event. A pattern that matches everything must not hide that a call was made, or how it ended.
const OWN = new Set([
  'type',
  'call',
  'run',
  'tool',
  'provider',
  'fingerprint',
  'caller',
  'agent',
  'mode',
  'ok',
  'code',
  'outcome',
  'by',
  'risk',
  'kind',
  'change',
  'undoable',
  'origin',
  'trusted',
  'runMs',
  'waitMs',
  'action',
])
// Ours down to these; what is in them comes from others.
const FOREIGN = new Set(['input', 'details'])

function keepOwn(value: unknown, redact: Redactor, redacted: (value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map(item => keepOwn(item, redact, redacted))
  if (typeof value !== 'object' || value === null) return redacted(value)
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => {
    if (FOREIGN.has(key)) return [key, redacted(item)]
    if (!OWN.has(key) || typeof item === 'object') return [key, keepOwn(item, redact, redacted)]
    return [key, typeof item === 'string' ? redact.ownText(item).slice(0, KEPT) : item]
  })
  return Object.fromEntries(entries)
}
