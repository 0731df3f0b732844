import type * as z from 'zod'
import type { KeyPath } from './positions.ts'
import { sectionNames, sectionSchema } from './schema.ts'
import { writeAs } from './values.ts'

/** The keys that the schema names at a place; empty where any name is fine. For suggestions only. */
export function knownKeys(path: KeyPath): string[] {
  if (path.length === 0) return sectionNames()
  return nodesAt(path)
    .flatMap(node => alternatives(node))
    .flatMap(node => Object.keys(node.shape ?? {}))
}

/** A duration or a size as a file would say it: `"15m"`, `"4GiB"`. Undefined for every other setting. */
export function writtenForm(path: KeyPath, value: unknown): string | undefined {
  if (typeof value !== 'number') return undefined
  return nodesAt(path)
    .flatMap(node => wrapped(node))
    .map(node => writeAs(node, value))
    .find(text => text !== undefined)
}

function nodesAt([section, ...rest]: KeyPath): unknown[] {
  let nodes: unknown[] = [sectionSchema(String(section))]
  for (const part of rest)
    nodes = nodes.flatMap(node => alternatives(node)).flatMap(node => below(node, part))
  return nodes
}

/** A schema and those that it gives a default to or makes optional. */
function wrapped(node: unknown): z.ZodType[] {
  const inner = (node as { def?: Definition } | undefined)?.def?.innerType
  return node === undefined ? [] : [node as z.ZodType, ...wrapped(inner)] // what the schema holds are schemas
}

/** What is used of zod's description of a schema. */
interface Definition {
  type?: string
  innerType?: unknown
  getter?: () => unknown
  in?: unknown
  options?: unknown[]
  shape?: Record<string, unknown>
  catchall?: unknown
  valueType?: unknown
  element?: unknown
}

/** Looks through defaults, optionals, conversions and unions. */
function alternatives(node: unknown): Definition[] {
  const definition = (node as { def?: Definition } | undefined)?.def // every zod schema describes itself in `def`
  if (definition === undefined) return []
  if (definition.innerType !== undefined) return alternatives(definition.innerType)
  if (definition.getter !== undefined) return alternatives(definition.getter())
  if (definition.in !== undefined) return alternatives(definition.in)
  if (definition.options !== undefined) return definition.options.flatMap(alternatives)
  return [definition]
}

function below(definition: Definition, part: string | number): unknown[] {
  const { shape, catchall, valueType, element } = definition
  if (shape !== undefined && Object.hasOwn(shape, part)) return [shape[part]]
  return [catchall, valueType, element].filter(node => node !== undefined)
}
