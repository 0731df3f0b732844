import type { JsonSchema } from '../core/schema.ts'

const COMMAND = 'make'
const ADDRESS = 'https://example.com/'
const FILE = 'example.md'

/** Values that a typical call of a tool would have, by the name of the parameter. */
const BY_NAME: readonly (readonly [RegExp, string])[] = [
  [/^(command|cmd|line)$/, COMMAND],
  [/url|uri|href/, ADDRESS],
  [/pattern|glob/, '*.md'],
  [/query|text|prompt|task/, 'example'],
  [/dir|folder|root/, '.'],
  [/path|file|source|destination|target/, FILE],
]

/** What an agent that has settings of its own would name: a folder to write in, a program, a host. */
export interface Typical {
  readonly folder?: string | undefined
  readonly program?: string | undefined
  readonly host?: string | undefined
}

/** A small input that a schema takes: what it requires and nothing else. */
export function sampleInput(schema: JsonSchema, typical: Typical = {}): Record<string, unknown> {
  const { properties = {}, required = [] } = schema as {
    properties?: Record<string, unknown>
    required?: string[]
  }
  return Object.fromEntries(required.map(name => [name, sampleOf(name, properties[name], typical)]))
}

function sampleOf(name: string, schema: unknown, typical: Typical): unknown {
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
      return [sampleOf(name, items, typical)]
    case 'object':
      return sampleInput(schema as JsonSchema, typical)
    default:
      return textOf(BY_NAME.find(([pattern]) => pattern.test(name.toLowerCase()))?.[1] ?? 'example', typical)
  }
}

function textOf(usual: string, { folder, program, host }: Typical): string {
  if (usual === COMMAND) return program ?? usual
  if (usual === ADDRESS) return host === undefined ? usual : `https://${host}/`
  return usual === FILE && folder !== undefined ? `${folder}/${usual}` : usual
}
