import { ToolError } from '../core/errors.ts'
import { fromJsonSchema } from '../core/json-schema.ts'
import type { JsonSchema } from '../core/schema.ts'
import { withoutFence } from './without-fence.ts'

// A quarantined reader: a sub-agent that may read what nobody trusts and hands back nothing but data of a shape that was
// fixed before it read anything. Where the shape has no room for words of others, what it read stays inside.

export interface Quarantine {
  readonly prompt: string
  /** No string can be in the answer that the schema does not list itself. */
  readonly isClosed: boolean
  /** The answer as JSON, or a failure that says nothing of what was answered. */
  check(text: string): string
}

export function createQuarantine(schema: JsonSchema): Quarantine {
  if (schema.type !== 'object')
    throw new ToolError(
      'invalid_input',
      'output_schema must describe an object: {"type": "object", "properties": …}.',
    )
  const checked = fromJsonSchema(schema)
  return {
    isClosed: isClosed({ additionalProperties: false, ...schema }),
    prompt: `Answer with one JSON object that follows this JSON Schema, and nothing else: ${JSON.stringify(schema)}`,
    check(text) {
      const parsed = checked.parse(toJson(text))
      if (parsed.ok) return JSON.stringify(parsed.value)
      // Not even the place of the mistake: a reader that was turned could write a message in property names.
      throw new ToolError('failed', "The reader's answer does not match output_schema.")
    },
  }
}

function toJson(text: string): unknown {
  try {
    return JSON.parse(withoutFence(text)?.inside ?? text)
  } catch {
    return undefined
  }
}

const PLAIN: ReadonlySet<unknown> = new Set(['number', 'integer', 'boolean', 'null'])

function isClosed(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  const {
    type,
    properties,
    items,
    additionalProperties,
    enum: listed,
    const: fixed,
    ...rest
  } = schema as JsonSchema
  // A reference or a combination may let anything in.
  if (Object.keys(rest).some(key => !HARMLESS.has(key))) return false
  if (Array.isArray(listed) || fixed !== undefined) return true
  if (PLAIN.has(type)) return true
  if (type === 'array') return isClosed(items) && cannotSpell(schema as JsonSchema)
  if (type !== 'object' || additionalProperties !== false) return false
  return Object.values(properties ?? {}).every(isClosed)
}

const MOST_ITEMS = 100

/** A list can spell a text: in numbers that stand for letters, or in listed words one after the other. */
function cannotSpell({ items, maxItems, uniqueItems }: JsonSchema): boolean {
  const { enum: listed } = items as JsonSchema
  if (Array.isArray(listed)) return uniqueItems === true
  return typeof maxItems === 'number' && maxItems <= MOST_ITEMS && !hasWordsOrLists(items)
}

function hasWordsOrLists(schema: unknown): boolean {
  const { type, enum: listed, const: fixed, properties } = schema as JsonSchema
  return (
    type === 'array' ||
    listed !== undefined ||
    fixed !== undefined ||
    Object.values(properties ?? {}).some(hasWordsOrLists)
  )
}

const HARMLESS: ReadonlySet<string> = new Set([
  ...['$schema', 'title', 'description', 'required', 'default', 'examples'],
  ...[
    'minimum',
    'maximum',
    'exclusiveMinimum',
    'exclusiveMaximum',
    'multipleOf',
    'minItems',
    'maxItems',
    'uniqueItems',
  ],
])
