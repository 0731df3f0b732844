import { Ajv, type Options } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { ToolError } from './errors.ts'
import { schemaProblem } from './foreign-schema.ts'
import { compileLinear } from './linear-pattern.ts'
import type { Issue, JsonSchema, Schema } from './schema.ts'

/**
 * A schema written by somebody else (MCP server, configuration, model). Unlike Ajv's defaults: only own properties
 * count (`{}` does not satisfy `required: ["toString"]`), numbers are finite, remote references are never fetched, and
 * patterns run on a linear-time engine, because a foreign pattern may be written to hang.
 */
export function fromJsonSchema(json: JsonSchema): Schema<Record<string, unknown>> {
  const { $schema, ...rest } = json
  // Most tools say draft-07, which is what their libraries write; all others are read as the newest.
  const isOld = typeof $schema === 'string' && /draft-0[4-7]/.test($schema)
  const problem = schemaProblem(rest) ?? grammarProblem(rest, isOld)
  if (problem !== undefined) throw unusable(problem)
  // With the first value: of two hundred tools a session uses a few, and each takes some milliseconds.
  let compiled: ReturnType<Ajv['compile']> | undefined
  const compile = (): ReturnType<Ajv['compile']> => {
    compiled ??= compileSchema(rest, isOld)
    return compiled
  }
  // Other references may lead nowhere; only the compiler can tell.
  if (/"\$(?:ref|dynamicRef|recursiveRef)":"(?!#\/|#")/.test(JSON.stringify(rest))) compile()
  return {
    json,
    parse(value) {
      // Ajv writes defaults into what it checks; the caller's value stays as it came.
      const validate = compile()
      const copy = structuredClone(value)
      if (validate(copy)) return { ok: true, value: copy as Record<string, unknown> }
      return { ok: false, issues: (validate.errors ?? []).map(toIssue) }
    },
  }
}

const OPTIONS: Options = {
  strict: false,
  strictNumbers: true,
  ownProperties: true,
  useDefaults: true,
  allErrors: false,
  validateFormats: false,
  code: { regExp: linearRegExp },
}

/** One for each schema: two tools may give theirs the same id. */
function compileSchema(schema: JsonSchema, isOld: boolean): ReturnType<Ajv['compile']> {
  try {
    return new (isOld ? Ajv : Ajv2020)(OPTIONS).compile(closed(schema))
  } catch (cause) {
    throw unusable(cause instanceof Error ? cause.message : String(cause), cause)
  }
}

const graders = new Map<boolean, Ajv>()

/** What is wrong with a schema by the rules for schemas. */
function grammarProblem(schema: JsonSchema, isOld: boolean): string | undefined {
  const grader = graders.get(isOld) ?? new (isOld ? Ajv : Ajv2020)(OPTIONS)
  graders.set(isOld, grader)
  return grader.validateSchema(schema) === true
    ? undefined
    : `schema is invalid: ${grader.errorsText(grader.errors)}`
}

function unusable(detail: string, cause?: unknown): ToolError {
  return new ToolError('failed', `The tool's input schema cannot be used: ${detail}`, { cause })
}

/** A top-level object schema that does not speak of further properties takes none, as our own tools do. */
function closed(json: JsonSchema): JsonSchema {
  const open = 'additionalProperties' in json || 'unevaluatedProperties' in json || 'allOf' in json
  return json.type === 'object' && !open ? { ...json, additionalProperties: false } : json
}

function linearRegExp(pattern: string): RegExp {
  const compiled = compileLinear(pattern)
  // Ajv calls `test`, and `toString` to tell patterns apart; the type it wants is the whole RegExp.
  return { test: compiled.test, toString: () => pattern } as RegExp
}
linearRegExp.code = 'linearRegExp'

const LONGEST_LIST = 200

/** Undefined when there are too many to name: a schema may be a stranger's. */
function oneOf(values: unknown): string | undefined {
  if (!Array.isArray(values)) return undefined
  const list = values.map(value => JSON.stringify(value)).join(', ')
  return list.length > LONGEST_LIST ? undefined : `must be one of ${list}`
}

function toIssue(error: {
  instancePath: string
  keyword: string
  message?: string
  params: Record<string, unknown>
}): Issue {
  const missing = error.params.missingProperty
  if (error.keyword === 'required' && typeof missing === 'string') {
    return { pointer: error.instancePath, message: `Missing required parameter '${missing}'` }
  }
  const unknown = error.params.additionalProperty ?? error.params.unevaluatedProperty
  if (typeof unknown === 'string') {
    return { pointer: `${error.instancePath}/${unknown}`, message: `Unknown parameter '${unknown}'` }
  }
  const { type, allowedValues } = error.params
  return {
    pointer: error.instancePath,
    message: oneOf(allowedValues) ?? error.message ?? 'is not valid',
    ...(type === 'boolean' ? { expected: type } : {}),
    ...(type === 'number' || type === 'integer' ? { expected: 'number' } : {}),
  }
}
