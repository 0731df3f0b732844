import { fromJsonSchema } from '../core/json-schema.ts'
import type { JsonSchema, Schema } from '../core/schema.ts'
import type { ToolParameterDefinition } from './definition.ts'

/** The JSON Schema that parameter definitions mean. A tool that declares none takes whatever it is given. */
function toJsonSchema(parameters: readonly ToolParameterDefinition[]): JsonSchema {
  const properties: Record<string, JsonSchema> = Object.create(null)
  for (const each of parameters) properties[each.name] = toProperty(each)
  const required = parameters
    .filter(each => each.required && each.default === undefined)
    .map(each => each.name)
  return {
    type: 'object',
    properties: { ...properties },
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: parameters.length === 0,
  }
}

function toProperty(parameter: ToolParameterDefinition): JsonSchema {
  const { type, description, allowedValues, minimum, maximum } = parameter
  return {
    type,
    description,
    ...(parameter.default === undefined ? {} : { default: parameter.default }),
    ...(allowedValues === undefined ? {} : { enum: [...allowedValues] }),
    ...(minimum === undefined ? {} : { minimum }),
    ...(maximum === undefined ? {} : { maximum }),
  }
}

/** Enforced on every run: type, enum, bounds, required; defaults are filled in. */
export function toSchema(parameters: readonly ToolParameterDefinition[]): Schema<Record<string, unknown>> {
  return fromJsonSchema(toJsonSchema(parameters))
}

export function missingParameters(
  parameters: readonly ToolParameterDefinition[],
  values: Readonly<Record<string, unknown>>,
): string[] {
  return parameters
    .filter(each => each.required && each.default === undefined && !Object.hasOwn(values, each.name))
    .map(each => each.name)
}
