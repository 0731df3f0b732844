import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { ToolError } from './errors.ts'
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
  const ajv = new (isOld ? Ajv : Ajv2020)({
    strict: false,
    strictNumbers: true,
    ownProperties: true,
    useDefaults: true,
    allErrors: false,
    validateFormats: false,
    code: { regExp: linearRegExp },
  })
  let validate: ReturnType<typeof ajv.compile>
  try {
    validate = ajv.compile(closed(rest))
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause)
    throw new ToolError('failed', `The tool's input schema cannot be used: ${detail}`, { cause })
  }
  return {
    json,
    parse(value) {
      // Ajv writes defaults into what it checks; the caller's value stays as it came.
      const copy = structuredClone(value)
      if (validate(copy)) return { ok: true, value: copy as Record<string, unknown> }
      return { ok: false, issues: (validate.errors ?? []).map(toIssue) }
    },
  }
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
  const { type } = error.params
  return {
    pointer: error.instancePath,
    message: error.message ?? 'is not valid',
    ...(type === 'boolean' ? { expected: type } : {}),
    ...(type === 'number' || type === 'integer' ? { expected: 'number' } : {}),
  }
}
