import { compileLinear } from './linear-pattern.ts'

/** Levels of a schema, and of whatever else a stranger defines. */
const DEEPEST = 100
/** Parts of a schema with each reference taken for what it stands for: thirty of them that double are a billion. */
const MOST_PARTS = 200_000

/**
 * Why a schema of a stranger is not even compiled, or undefined: it is too deep or too large, or a reference or a pattern
 * in it cannot be used. A schema can be short and still take all memory there is to check one value against.
 */
export function schemaProblem(root: object): string | undefined {
  let left = MOST_PARTS
  const visit = (value: unknown, depth: number, within: readonly string[]): string | undefined => {
    left -= 1
    if (left < 0) return 'it is too large'
    if (typeof value !== 'object' || value === null) return undefined
    if (depth > DEEPEST) return 'it is nested too deeply'
    for (const [key, child] of Object.entries(value)) {
      const problem =
        key === '$ref' && typeof child === 'string' && child.startsWith('#')
          ? follow(child, depth, within)
          : key === 'pattern' && typeof child === 'string'
            ? patternProblem(child)
            : visit(child, depth + 1, within)
      if (problem !== undefined) return problem
    }
    return undefined
  }
  const follow = (reference: string, depth: number, within: readonly string[]): string | undefined => {
    // What refers to itself ends with the value that is checked.
    if (within.includes(reference)) return undefined
    const target = targetOf(root, reference)
    if (target === undefined) return `can't resolve reference ${reference}`
    return visit(target, depth + 1, [...within, reference])
  }
  return visit(root, 0, [])
}

/** Whether a value of a stranger has more levels than anybody writes; what recurses over it would fail. */
export function isTooDeep(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return false
  return depth > DEEPEST || Object.values(value).some(child => isTooDeep(child, depth + 1))
}

/** A JSON pointer, or an anchor, which is left to the compiler. */
function targetOf(root: object, reference: string): unknown {
  if (reference === '#') return root
  if (!reference.startsWith('#/')) return {}
  let at: unknown = root
  for (const part of reference.slice(2).split('/')) {
    const key = decode(part).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
    at = at[key as keyof typeof at]
  }
  return at
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

function patternProblem(pattern: string): string | undefined {
  try {
    compileLinear(pattern)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
