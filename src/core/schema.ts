import * as z from 'zod'

export interface Issue {
  /** JSON Pointer to the value; empty for the whole input. */
  pointer: string
  message: string
}

export type Parsed<T> = { ok: true; value: T } | { ok: false; issues: Issue[] }

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
  if (issue.code === 'invalid_type' && issue.input === undefined) {
    return [{ pointer, message: `Missing required parameter '${issue.path.map(String).join('.')}'` }]
  }
  return [
    {
      pointer,
      message: issue.message
        .replace(/^Invalid input: expected /, 'must be ')
        .replace(', received ', ', not '),
    },
  ]
}
