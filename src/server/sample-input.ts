import type { JsonSchema } from '../core/schema.ts'

/** Values that a typical call of a tool would have, by the name of the parameter. */
const BY_NAME: readonly (readonly [RegExp, string])[] = [
  [/^(command|cmd|line)$/, 'make'],
  [/url|uri|href/, 'https://example.com/'],
  [/pattern|glob/, '*.md'],
  [/query|text|prompt|task/, 'example'],
  [/dir|folder|root/, '.'],
  [/path|file|source|destination|target/, 'example.md'],
]

/** A small input that a schema takes: what it requires and nothing else. */
export function sampleInput(schema: JsonSchema): Record<string, unknown> {
  const { properties = {}, required = [] } = schema as {
    properties?: Record<string, unknown>
    required?: string[]
  }
  return Object.fromEntries(required.map(name => [name, sampleOf(name, properties[name])]))
}

function sampleOf(name: string, schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return 'example'
  const {
    type,
    enum: values,
    const: only,
    default: usual,
    minimum,
    items,
  } = schema as Record<string, unknown>
  if (only !== undefined) return only
  if (usual !== undefined) return usual
  if (Array.isArray(values)) return values[0]
  switch (type) {
    case 'number':
    case 'integer':
      return typeof minimum === 'number' ? minimum : 1
    case 'boolean':
      return false
    case 'array':
      return [sampleOf(name, items)]
    case 'object':
      return sampleInput(schema as JsonSchema)
    default:
      return BY_NAME.find(([pattern]) => pattern.test(name.toLowerCase()))?.[1] ?? 'example'
  }
}
