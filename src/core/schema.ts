import * as z from 'zod'

export interface Issue {
  /** JSON Pointer to the value; empty for the whole input. */
  pointer: string
  message: string
  /** Set when the value should have been one, and could have been meant as one. */
  expected?: 'number' | 'boolean'
}

type Parsed<T> = { ok: true; value: T } | { ok: false; issues: Issue[] }

export type JsonSchema = Record<string, unknown>

/** What the pipeline needs of a schema: zod for our own tools, JSON Schema (json-schema.ts) for foreign ones. */
export interface Schema<T = unknown> {
  readonly json: JsonSchema
  parse(value: unknown): Parsed<T>
}

/** Unknown keys are errors: a misspelt parameter that is silently dropped makes a tool do something else than asked. */
export function fromZod<T extends z.ZodRawShape>(
  define: () => z.ZodObject<T>,
): Schema<z.output<z.ZodObject<T>>> {
  let defined: z.ZodObject<T, z.core.$strict> | undefined
  const strict = () => {
    defined ??= define().strict()
    return defined
  }
  let json: JsonSchema | undefined
  return {
    get json() {
      json ??= toJsonSchema(strict())
      return json
    },
    parse(value) {
      const result = strict().safeParse(value, { reportInput: true })
      if (result.success) return { ok: true, value: result.data as z.output<z.ZodObject<T>> }
      return { ok: false, issues: result.error.issues.flatMap(toIssues) }
    },
  }
}

function toJsonSchema(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return rest
}

function toIssues(issue: z.core.$ZodIssue): Issue[] {
  const pointer = issue.path.map(part => `/${String(part)}`).join('')
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map(key => {
      const place = [...issue.path.map(String), key].join('.')
      return { pointer: `${pointer}/${key}`, message: `Unknown parameter '${place}'` }
    })
  }
  if ((issue.code === 'invalid_type' || issue.code === 'invalid_value') && issue.input === undefined) {
    return [{ pointer, message: `Missing required parameter '${issue.path.map(String).join('.')}'` }]
  }
  const kind = issue.code === 'invalid_type' ? KINDS[issue.expected] : undefined
  if (kind === undefined) return [{ pointer, message: plainMessage(issue) }]
  return [
    {
      pointer,
      message: issue.message.startsWith('Invalid input')
        ? `must be ${kind.name}, got ${shown(issue.input)}`
        : issue.message,
      ...(kind.expected === undefined ? {} : { expected: kind.expected }),
    },
  ]
}

const KINDS: Readonly<Record<string, { name: string; expected?: 'number' | 'boolean' }>> = {
  boolean: { name: 'true or false', expected: 'boolean' },
  number: { name: 'a number', expected: 'number' },
  int: { name: 'a whole number', expected: 'number' },
  string: { name: 'a string' },
  array: { name: 'a list' },
  object: { name: 'an object' },
}

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 40))
  if (typeof value === 'object')
    return value === null ? 'null' : Array.isArray(value) ? 'a list' : 'an object'
  return Number.isNaN(value) ? 'text' : String(value)
}

/** Zod's own messages as the end of a sentence; those of our schemas are written as one. */
function plainMessage(issue: z.core.$ZodIssue): string {
  const { message } = issue
  if (issue.code === 'too_small' && message.startsWith('Too small')) {
    const isEmpty = issue.origin === 'string' && issue.minimum === 1
    return isEmpty ? 'must not be empty' : `must ${amount(issue.origin, 'at least', issue.minimum)}`
  }
  if (issue.code === 'too_big' && message.startsWith('Too big')) {
    return `must ${amount(issue.origin, 'at most', issue.maximum)}`
  }
  if (issue.code === 'invalid_value' && message.startsWith('Invalid ')) {
    return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(value => JSON.stringify(value)).join(', ')}`
  }
  return message.replace(/^Invalid input: expected /, 'must be ').replace(', received ', ', got ')
}

function amount(origin: string, bound: string, limit: number | bigint): string {
  if (origin === 'string') return `have ${bound} ${limit} ${limit === 1 ? 'character' : 'characters'}`
  if (origin === 'array') return `have ${bound} ${limit} ${limit === 1 ? 'entry' : 'entries'}`
  return `be ${bound} ${limit}`
}
