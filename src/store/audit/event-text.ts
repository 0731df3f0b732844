import type { AuditEvent } from '../../core/audit.ts'
import { type Redactor, remember } from '../../core/redact.ts'
import { sha256 } from './line.ts'

/** Longer strings are kept as their beginning, size and hash: a log is read by people and never carries file contents. */
const LONGEST_STRING = 8 * 1024
const KEPT = 200

/** Long enough that no secret which begins in what is kept is cut before it is found. */
const SEARCHED = 4096

/**
 * Makes events JSON without their secrets. A string of more than 8 KB becomes
 * `{"…": "its first 200 characters", "bytes": size, "sha256": "hash"}`, size and hash of the text as UTF-8.
 *
 * As text at once, with the JSON of strings that come again and again remembered: two events are written for each call,
 * and copies of them cost more than all the rest of a short one.
 */
export function createEventText(redact: Redactor): (event: AuditEvent) => string {
  const replace = (text: string): Record<string, unknown> => {
    const beginning = redact.text(text.slice(0, SEARCHED)).slice(0, KEPT)
    return { '…': beginning.toWellFormed(), bytes: Buffer.byteLength(text), sha256: sha256(text) }
  }
  const foreign = (value: unknown): string | undefined =>
    JSON.stringify(redact.value(value, { longest: LONGEST_STRING, replace }))
  const strings: Strings = {
    key: rememberJson(key => key),
    own: rememberJson(text => redact.ownText(text).slice(0, KEPT)),
    foreign: rememberJson(redact.text),
  }
  return event => ownJson(event, strings, foreign)
}

/** The JSON of a string once it is redacted. */
interface Strings {
  key(text: string): string
  own(text: string): string
  foreign(text: string): string
}

function rememberJson(redacted: (text: string) => string): (text: string) => string {
  return remember(
    text => JSON.stringify(redacted(text)),
    (text, json) => json === JSON.stringify(text),
  )
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

function ownJson(value: object, strings: Strings, foreign: Foreign): string {
  if (Array.isArray(value))
    return `[${value.map(item => toJson('', item, strings, foreign) ?? 'null').join(',')}]`
  let text = ''
  for (const key of Object.keys(value)) {
    const json = toJson(key, value[key as keyof typeof value], strings, foreign)
    if (json !== undefined) text += `${text === '' ? '' : ','}${strings.key(key)}:${json}`
  }
  return `{${text}}`
}

type Foreign = (value: unknown) => string | undefined

function toJson(key: string, item: unknown, strings: Strings, foreign: Foreign): string | undefined {
  if (FOREIGN.has(key)) return foreign(item)
  if (typeof item === 'string') {
    if (OWN.has(key)) return strings.own(item)
    return item.length > LONGEST_STRING ? foreign(item) : strings.foreign(item)
  }
  return typeof item === 'object' && item !== null ? ownJson(item, strings, foreign) : JSON.stringify(item)
}
