// What a JSON Schema asks for, as far as a form can show it. What it cannot is edited as JSON, for that part only.

export type Schema = Readonly<Record<string, unknown>>

export type Field = {
  readonly title: string | undefined
  readonly description: string | undefined
  readonly defaultValue: unknown
  readonly examples: readonly unknown[]
  /** `null` is one of its values, beside not being set at all. */
  readonly nullable: boolean
  readonly group: string | undefined
} & FieldKind

export type FieldKind =
  | {
      readonly kind: 'text'
      readonly format: string | undefined
      readonly pattern: string | undefined
      readonly secret: boolean
    }
  | { readonly kind: 'choice'; readonly options: readonly unknown[] }
  | {
      readonly kind: 'number'
      readonly integer: boolean
      readonly min: number | undefined
      readonly max: number | undefined
    }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'texts' }
  | { readonly kind: 'list'; readonly item: Schema }
  | { readonly kind: 'object'; readonly properties: readonly Property[]; readonly rest: Schema | undefined }
  | {
      readonly kind: 'options'
      readonly options: readonly { readonly label: string; readonly schema: Schema }[]
    }
  | { readonly kind: 'constant'; readonly value: unknown }
  | { readonly kind: 'json'; readonly reason: string }

export interface Property {
  readonly name: string
  readonly schema: Schema
  readonly required: boolean
}

const MOST_DEPTH = 12

/** `root` is where `$ref` looks. */
export function readSchema(schema: Schema, root: Schema, depth = 0): Field {
  const { node, nullable } = withoutNull(resolve(schema, root, depth), root, depth)
  return {
    title: text(node.title),
    description: text(node.description),
    defaultValue: node.default,
    examples: Array.isArray(node.examples) ? node.examples : [],
    nullable,
    group: text(node['x-group']),
    ...(depth > MOST_DEPTH ? { kind: 'json', reason: 'nested too deeply' } : kindOf(node, root, depth)),
  }
}

function kindOf(node: Schema, root: Schema, depth: number): FieldKind {
  if ('const' in node) return { kind: 'constant', value: node.const }
  if (Array.isArray(node.enum)) return { kind: 'choice', options: node.enum }
  const options = list(node.oneOf) ?? list(node.anyOf)
  if (options !== undefined) return readOptions(options, root, depth)
  switch (node.type) {
    case 'string':
      return {
        kind: 'text',
        format: text(node.format),
        pattern: text(node.pattern),
        secret: node['x-secret'] === true || node.format === 'password',
      }
    case 'number':
    case 'integer':
      return {
        kind: 'number',
        integer: node.type === 'integer',
        min: number(node.minimum),
        max: number(node.maximum),
      }
    case 'boolean':
      return { kind: 'boolean' }
    case 'array': {
      const item = isSchema(node.items) ? resolve(node.items, root, depth) : {}
      return item.type === 'string' && item.enum === undefined ? { kind: 'texts' } : { kind: 'list', item }
    }
    case 'object':
      return readObject(node, root, depth)
    default:
      return { kind: 'json', reason: Array.isArray(node.type) ? 'several types' : 'no single type' }
  }
}

function readObject(node: Schema, root: Schema, depth: number): FieldKind {
  const required = new Set(Array.isArray(node.required) ? node.required.map(String) : [])
  const entries = isSchema(node.properties) ? Object.entries(node.properties) : []
  const properties = entries.map(([name, schema], index) => {
    const own = isSchema(schema) ? resolve(schema, root, depth + 1) : {}
    return { name, schema: own, required: required.has(name), order: number(own['x-order']) ?? index }
  })
  const { additionalProperties: rest } = node
  return {
    kind: 'object',
    properties: properties.sort((a, b) => a.order - b.order),
    rest: isSchema(rest) ? rest : undefined,
  }
}

function readOptions(options: readonly Schema[], root: Schema, depth: number): FieldKind {
  const all = options.map(option => resolve(option, root, depth + 1))
  const constants = all.filter(option => 'const' in option)
  if (constants.length === all.length)
    return { kind: 'choice', options: constants.map(option => option.const) }
  return {
    kind: 'options',
    options: all.map((schema, index) => ({
      label: text(schema.title) ?? labelOf(schema) ?? String(index + 1),
      schema,
    })),
  }
}

/** The value of a property that tells the options apart, or the type. */
function labelOf(schema: Schema): string | undefined {
  const properties = isSchema(schema.properties) ? Object.values(schema.properties) : []
  const tag = properties.find(each => isSchema(each) && 'const' in each)
  return isSchema(tag) ? String(tag.const) : text(schema.type)
}

/** `anyOf [X, null]` and `type [X, null]` are X that may also be null. */
function withoutNull(node: Schema, root: Schema, depth: number): { node: Schema; nullable: boolean } {
  const options = list(node.anyOf) ?? list(node.oneOf)
  if (options !== undefined) {
    const others = options.filter(option => option.type !== 'null')
    const [only] = others
    if (others.length === options.length) return { node, nullable: false }
    const { anyOf: _, oneOf: __, ...outer } = node
    return others.length === 1 && only !== undefined
      ? { node: { ...resolve(only, root, depth), ...outer }, nullable: true }
      : { node: { ...outer, anyOf: others }, nullable: true }
  }
  if (Array.isArray(node.type) && node.type.includes('null')) {
    const types = node.type.filter(type => type !== 'null')
    return { node: { ...node, type: types.length === 1 ? types[0] : types }, nullable: true }
  }
  return { node, nullable: false }
}

/** Follows `$ref` inside the document and merges `allOf`. */
function resolve(schema: Schema, root: Schema, depth: number): Schema {
  if (depth > MOST_DEPTH) return {}
  const { $ref, allOf, ...own } = schema
  const target = typeof $ref === 'string' ? lookUp($ref, root) : undefined
  const parts = [...(target === undefined ? [] : [target]), ...(list(allOf) ?? [])]
  if (parts.length === 0) return schema
  return parts
    .map(part => resolve(part, root, depth + 1))
    .concat([own])
    .reduce(merge, {})
}

function merge(left: Schema, right: Schema): Schema {
  const properties = { ...record(left.properties), ...record(right.properties) }
  const required = [...(names(left.required) ?? []), ...(names(right.required) ?? [])]
  return {
    ...left,
    ...right,
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(required.length === 0 ? {} : { required }),
  }
}

function lookUp(reference: string, root: Schema): Schema | undefined {
  if (!reference.startsWith('#/')) return undefined
  let value: unknown = root
  for (const part of reference.slice(2).split('/')) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
    if (!isSchema(value) || !Object.hasOwn(value, key)) return undefined
    value = value[key]
  }
  return isSchema(value) ? value : undefined
}

export function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function list(value: unknown): readonly Schema[] | undefined {
  return Array.isArray(value) ? value.filter(isSchema) : undefined
}

function record(value: unknown): Schema {
  return isSchema(value) ? value : {}
}

function names(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.map(String) : undefined
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}
