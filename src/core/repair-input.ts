import type { Issue } from './schema.ts'

/**
 * Puts right, in the input itself, what can be meant in one way only; false when there is no such thing: `null` where
 * nothing was wanted (clients that must send every parameter send that), numbers and booleans as text. Only what the
 * schema refused is touched, so a parameter that takes null or text gets it.
 */
export function repairInput(input: Record<string, unknown>, issues: readonly Issue[]): boolean {
  return issues.map(issue => repairAt(input, issue)).includes(true)
}

/** A number that is written as people and JSON write it, and that is exactly this number. */
export function numberFrom(text: string): number | undefined {
  if (!/^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,6})?$/.test(text)) return undefined
  return Number(text)
}

function repairAt(input: Record<string, unknown>, { pointer, expected }: Issue): boolean {
  const names = pointer
    .split('/')
    .slice(1)
    .map(name => name.replaceAll('~1', '/').replaceAll('~0', '~'))
  const last = names.pop()
  const holder = names.reduce<unknown>(memberOf, input)
  if (last === undefined || typeof holder !== 'object' || holder === null) return false
  const value = memberOf(holder, last)
  if (value === null && !Array.isArray(holder)) return Reflect.deleteProperty(holder, last)
  const meant = typeof value === 'string' ? meantBy(value, expected) : undefined
  return meant !== undefined && Reflect.set(holder, last, meant)
}

/** Own properties only: `constructor` must not lead to Object's. */
function memberOf(holder: unknown, name: string): unknown {
  if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, name)) return undefined
  return Reflect.get(holder, name)
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
])

function meantBy(text: string, expected: Issue['expected']): number | boolean | undefined {
  if (expected === 'number') return numberFrom(text)
  if (expected !== 'boolean') return undefined
  return BOOLEANS.get(text)
}
