// What a JSON schema asks for, as fields of a form. Schemas come from tools and MCP servers: nothing in one is trusted, and
// what this does not understand becomes one field with JSON, with the reason.

export type Schema = Readonly<Record<string, unknown>>

interface FieldBase {
  readonly title?: string
  readonly description?: string
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  /** `null` is a value of its own, beside not set. */
  readonly nullable: boolean
}

export type Field = FieldBase &
  (
    | {
        readonly kind: 'text'
        readonly format?: string
        readonly pattern?: string
        readonly minLength?: number
        readonly maxLength?: number
      }
    | { readonly kind: 'secret' }
    | {
        readonly kind: 'number'
        readonly integer: boolean
        readonly min?: number
        readonly max?: number
        readonly step?: number
      }
    | { readonly kind: 'boolean' }
    | { readonly kind: 'choice'; readonly options: readonly Scalar[] }
    | { readonly kind: 'const'; readonly value: unknown }
    | { readonly kind: 'list'; readonly items: Field; readonly min?: number; readonly max?: number }
    | { readonly kind: 'object'; readonly fields: readonly Property[]; readonly extra: Field | null }
    | { readonly kind: 'union'; readonly options: readonly Field[] }
    | { readonly kind: 'json'; readonly reason: Reason }
  )

export type Scalar = string | number | boolean

/** Why a part of a schema is shown as JSON. */
type Reason = 'unknown' | 'recursive' | 'contradiction'

export interface Property {
  readonly name: string
  readonly required: boolean
  readonly group: string | null
  readonly field: Field
}

/** Deeper than a person fills in by hand; a schema that refers to itself ends here too. */
const DEEPEST = 6

export function toField(schema: unknown, root: unknown = schema, depth = 0): Field {
  const whole = resolve(schema, root)
  if (whole === undefined) return { kind: 'json', reason: 'unknown', nullable: false }
  const base = baseOf(whole)
  if (depth > DEEPEST) return { ...base, kind: 'json', reason: 'recursive' }
  const field = toKind(whole, root, depth)
  return { ...base, ...field, nullable: base.nullable || field.nullable === true }
}

type Kind = DistributiveOmit<Field, keyof FieldBase> & { readonly nullable?: boolean }
type DistributiveOmit<T, K extends keyof T> = T extends unknown ? Omit<T, K> : never

function toKind(schema: Schema, root: unknown, depth: number): Kind {
  if (schema.allOf !== undefined) {
    const merged = mergeAll(schema, root)
    return merged === undefined ? { kind: 'json', reason: 'contradiction' } : toField(merged, root, depth)
  }
  if ('const' in schema) return { kind: 'const', value: schema.const }
  if (Array.isArray(schema.enum)) return toChoice(schema.enum)
  const options = schema.oneOf ?? schema.anyOf
  if (Array.isArray(options)) return toUnion(options, schema, root, depth)
  const types = [schema.type].flat().filter(type => type !== 'null')
  if (types.length > 1)
    return toUnion(
      types.map(type => ({ ...schema, type })),
      {},
      root,
      depth,
    )
  return ofType(types[0] ?? guessType(schema), schema, root, depth)
}

function ofType(type: unknown, schema: Schema, root: unknown, depth: number): Kind {
  switch (type) {
    case 'string':
      return toText(schema)
    case 'number':
    case 'integer':
      return {
        kind: 'number',
        integer: type === 'integer',
        ...numbers(schema, { min: 'minimum', max: 'maximum', step: 'multipleOf' }),
      }
    case 'boolean':
      return { kind: 'boolean' }
    case 'array':
      if (Array.isArray(schema.prefixItems)) return { kind: 'json', reason: 'unknown' }
      return {
        kind: 'list',
        items: toField(schema.items ?? {}, root, depth + 1),
        ...numbers(schema, { min: 'minItems', max: 'maxItems' }),
      }
    case 'object':
      return toObject(schema, root, depth)
    default:
      return { kind: 'json', reason: 'unknown' }
  }
}

function toText(schema: Schema): Kind {
  if (schema['x-secret'] === true || schema.writeOnly === true || schema.format === 'password')
    return { kind: 'secret' }
  return {
    kind: 'text',
    ...(typeof schema.format === 'string' ? { format: schema.format } : {}),
    ...(typeof schema.pattern === 'string' ? { pattern: schema.pattern } : {}),
    ...numbers(schema, { minLength: 'minLength', maxLength: 'maxLength' }),
  }
}

function toChoice(values: readonly unknown[]): Kind {
  const nullable = values.includes(null)
  const options = values.filter((value): value is Scalar =>
    ['string', 'number', 'boolean'].includes(typeof value),
  )
  if (options.length + (nullable ? 1 : 0) < values.length) return { kind: 'json', reason: 'unknown' }
  return { kind: 'choice', options, nullable }
}

/** `anyOf [X, null]` is X that may be null. The keywords beside `oneOf` hold for every option. */
function toUnion(given: readonly unknown[], around: Schema, root: unknown, depth: number): Kind {
  const {
    oneOf: _one,
    anyOf: _any,
    title: _title,
    description: _description,
    default: _usual,
    ...shared
  } = around
  const resolved = given.map(option => resolve(option, root))
  if (resolved.some(option => option === undefined)) return { kind: 'json', reason: 'unknown' }
  const isNull = (option: Schema | undefined): boolean => option?.type === 'null' || option?.const === null
  const nullable = resolved.some(isNull)
  const options = resolved
    .filter(option => !isNull(option))
    .map(option => merge(shared, option ?? {}))
    .map(option => (option === undefined ? undefined : toField(option, root, depth + 1)))
  const known = options.filter(option => option !== undefined)
  if (known.length < options.length) return { kind: 'json', reason: 'contradiction' }
  const constants = known.flatMap(option =>
    option.kind === 'const' && isScalar(option.value) ? [option.value] : [],
  )
  if (constants.length === known.length && known.length > 0)
    return { kind: 'choice', options: constants, nullable }
  const [only, ...more] = known
  if (only !== undefined && more.length === 0) return { ...only, nullable: nullable || only.nullable }
  return { kind: 'union', options: known, nullable }
}

function toObject(schema: Schema, root: unknown, depth: number): Kind {
  const properties = isSchema(schema.properties) ? schema.properties : {}
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : []
  const fields = Object.entries(properties).map(([name, each], index) => {
    const own = resolve(each, root) ?? {}
    const order = typeof own['x-order'] === 'number' ? own['x-order'] : Number.MAX_SAFE_INTEGER
    const group = typeof own['x-group'] === 'string' ? own['x-group'] : null
    const property = { name, required: required.includes(name), group, field: toField(each, root, depth + 1) }
    return { order, index, property }
  })
  fields.sort((a, b) => a.order - b.order || a.index - b.index)
  const { additionalProperties: extra } = schema
  // Left out, it allows anything: what is there is kept, but nothing invites to add more.
  const map = isSchema(extra) || (extra === true && fields.length === 0)
  return {
    kind: 'object',
    fields: fields.map(({ property }) => property),
    extra: map ? toField(extra === true ? {} : extra, root, depth + 1) : null,
  }
}

function guessType(schema: Schema): string | undefined {
  if (isSchema(schema.properties)) return 'object'
  if (schema.items !== undefined) return 'array'
  return undefined
}

function baseOf(schema: Schema): FieldBase {
  const { title, description, examples } = schema
  return {
    nullable: schema.nullable === true || [schema.type].flat().includes('null'),
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof description === 'string' ? { description } : {}),
    ...('default' in schema ? { default: schema.default } : {}),
    ...(Array.isArray(examples) ? { examples } : {}),
  }
}

const MOST_REFERENCES = 32

/** Follows `$ref` inside of the document, and nothing outside of it. Keywords beside it win. */
function resolve(schema: unknown, root: unknown): Schema | undefined {
  let now = schema === true ? {} : schema
  let beside: Schema = {}
  for (let followed = 0; followed < MOST_REFERENCES; followed += 1) {
    if (!isSchema(now)) return undefined
    const { $ref: reference, ...rest } = now
    beside = { ...rest, ...beside }
    if (reference === undefined) return beside
    if (typeof reference !== 'string' || !reference.startsWith('#')) return undefined
    now = lookUp(root, reference)
  }
  return undefined
}

function lookUp(root: unknown, reference: string): unknown {
  const parts = reference.slice(1).split('/').slice(1)
  let now = root
  for (const part of parts) {
    const name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
    // Own properties only: `__proto__` is no schema of anybody.
    if (typeof now !== 'object' || now === null || !Object.hasOwn(now, name)) return undefined
    now = Reflect.get(now, name)
  }
  return now
}

function mergeAll(schema: Schema, root: unknown): Schema | undefined {
  const { allOf, ...rest } = schema
  if (!Array.isArray(allOf)) return undefined
  let merged: Schema | undefined = rest
  for (const part of allOf) {
    const own = resolve(part, root)
    const whole = own?.allOf === undefined ? own : mergeAll(own, root)
    merged = merged === undefined || whole === undefined ? undefined : merge(merged, whole)
  }
  return merged
}

/** Both hold. Undefined where no value could satisfy both, or where this does not know. */
function merge(one: Schema, other: Schema): Schema | undefined {
  const merged: Record<string, unknown> = { ...one }
  for (const [key, value] of Object.entries(other)) {
    const known = merged[key]
    if (known === undefined || key === 'title' || key === 'description') merged[key] = value
    else if (key === 'properties' && isSchema(known) && isSchema(value)) {
      const both = Object.entries(value).map(([name, each]) => [
        name,
        isSchema(each) && isSchema(known[name]) ? merge(known[name], each) : each,
      ])
      if (both.some(([, each]) => each === undefined)) return undefined
      merged[key] = { ...known, ...Object.fromEntries(both) }
    } else if (key === 'required' && Array.isArray(known) && Array.isArray(value))
      merged[key] = [...new Set([...known, ...value])]
    else if (key === 'enum' && Array.isArray(known) && Array.isArray(value)) {
      merged[key] = known.filter(each => value.includes(each))
    } else if (/^(minimum|minLength|minItems)$/.test(key))
      merged[key] = Math.max(Number(known), Number(value))
    else if (/^(maximum|maxLength|maxItems)$/.test(key)) merged[key] = Math.min(Number(known), Number(value))
    else if (JSON.stringify(known) !== JSON.stringify(value)) return undefined
  }
  return merged
}

function numbers<Name extends string>(schema: Schema, names: Readonly<Record<Name, string>>) {
  const found = Object.entries<string>(names).filter(([, key]) => typeof schema[key] === 'number')
  // The filter has let only numbers through.
  return Object.fromEntries(found.map(([name, key]) => [name, schema[key]])) as Partial<Record<Name, number>>
}

export function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isScalar(value: unknown): value is Scalar {
  return ['string', 'number', 'boolean'].includes(typeof value)
}
