/**
 * Why the headers that a tool of 2026-07-28 wants its arguments repeated in (`x-mcp-header`) cannot be sent, or undefined.
 * A declaration that breaks the protocol's rules makes the whole tool unusable over HTTP: a header chosen by the server
 * could otherwise split a request, or stand for two values at once.
 */
export function headerProblem(schema: unknown): string | undefined {
  return look(schema, true, new Set(), 0)
}

/** RFC 9110, section 5.1. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const SENDABLE = new Set(['string', 'integer', 'boolean'])
/** Deeper schemas are refused elsewhere. */
const DEEPEST = 64

function look(value: unknown, isReachable: boolean, seen: Set<string>, depth: number): string | undefined {
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return undefined
  const node = value as Readonly<Record<string, unknown>>
  if (Object.hasOwn(node, 'x-mcp-header')) {
    const problem =
      isReachable && depth > 0 ? wrongHeader(node, seen) : 'a header stands for no plain property'
    if (problem !== undefined) return problem
  }
  for (const [key, child] of Object.entries(node)) {
    if (
      key === 'x-mcp-header' ||
      key === 'default' ||
      key === 'const' ||
      key === 'enum' ||
      key === 'examples'
    )
      continue
    const children = isTable(child) && NAMED.has(key) ? Object.values(child) : [child].flat()
    for (const each of children) {
      const problem = look(each, isReachable && key === 'properties', seen, depth + 1)
      if (problem !== undefined) return problem
    }
  }
  return undefined
}

/** Keywords whose keys are names, and not keywords. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])

function wrongHeader(node: Readonly<Record<string, unknown>>, seen: Set<string>): string | undefined {
  const { type, 'x-mcp-header': name } = node
  if (typeof name !== 'string' || !TOKEN.test(name))
    return `${JSON.stringify(name)} is not the name of a header`
  if (typeof type !== 'string' || !SENDABLE.has(type)) {
    return `the header ${name} stands for a value that is no string, integer or boolean`
  }
  if (seen.has(name.toLowerCase())) return `the header ${name} stands for two values`
  seen.add(name.toLowerCase())
  return undefined
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
