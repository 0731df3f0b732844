import type { AuditEvent } from '../../core/audit.ts'
import { type Redaction, remember } from '../../core/redact.ts'
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
export function createEventText(redact: Redaction): (event: AuditEvent) => string {
  const replace = (text: string): Record<string, unknown> => {
    const beginning = redact.text(text.slice(0, SEARCHED)).slice(0, KEPT)
    return { '…': beginning.toWellFormed(), bytes: Buffer.byteLength(text), sha256: sha256(text) }
  }
  const foreign = (value: unknown): string | undefined =>
    JSON.stringify(redact.value(value, { longest: LONGEST_STRING, replace }))
  const strings: Strings = {
    key: remember(
      key => ({
        json: `${JSON.stringify(key)}:`,
        isId: key === 'call',
        isOwn: OWN.has(key),
        isForeign: FOREIGN.has(key),
      }),
      () => true,
    ),
    own: rememberJson(text => redact.ownText(text).slice(0, KEPT)),
    id: rememberLast(text => JSON.stringify(redact.ownText(text).slice(0, KEPT))),
    foreign: rememberJson(redact.text),
  }
  return event => ownJson(event, strings, foreign)
}

interface Strings {
  key(text: string): Key
  /** The JSON of a string once it is redacted. */
  own(text: string): string
  /** The same of what is in two events and never again. */
  id(text: string): string
  foreign(text: string): string
}

interface Key {
  /** With the colon. */
  readonly json: string
  readonly isId: boolean
  readonly isOwn: boolean
  readonly isForeign: boolean
}

function rememberJson(redacted: (text: string) => string): (text: string) => string {
  return remember(
    text => JSON.stringify(redacted(text)),
    (text, json) => json === JSON.stringify(text),
  )
}

function rememberLast(make: (text: string) => string): (text: string) => string {
  let last = { text: '', made: make('') }
  return text => {
    if (last.text !== text) last = { text, made: make(text) }
    return last.made
  }
}

// What Kogu itself says in an event. A pattern that matches everything must not hide that a call was made, or how it ended.
const OWN = new Set([
  'type',
  'run',
  'tool',
  'provider',
  'fingerprint',
  'inputDigest',
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
    return `[${value.map(item => toJson(NO_KEY, item, strings, foreign) ?? 'null').join(',')}]`
  let text = ''
  for (const name of Object.keys(value)) {
    const key = strings.key(name)
    const json = toJson(key, value[name as keyof typeof value], strings, foreign)
    if (json !== undefined) text += text === '' ? key.json + json : `,${key.json}${json}`
  }
  return `{${text}}`
}

const NO_KEY: Key = { json: '', isId: false, isOwn: false, isForeign: false }

type Foreign = (value: unknown) => string | undefined

function toJson(key: Key, item: unknown, strings: Strings, foreign: Foreign): string | undefined {
  if (key.isForeign) return foreign(item)
  switch (typeof item) {
    case 'string':
      if (key.isId) return strings.id(item)
      if (key.isOwn) return strings.own(item)
      return item.length > LONGEST_STRING ? foreign(item) : strings.foreign(item)
    case 'boolean':
      return item ? 'true' : 'false'
    case 'object':
      return item === null ? 'null' : ownJson(item, strings, foreign)
    default:
      return JSON.stringify(item)
  }
}
