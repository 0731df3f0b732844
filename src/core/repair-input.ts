import type { Issue } from './schema.ts'

/**
 * The input with what can be meant in one way only put right, or undefined when there is no such thing: `null` where
 * nothing was wanted (clients that must send every parameter send that), numbers and booleans as text. Only what the
 * schema refused is touched, so a parameter that takes null or text gets it.
 */
export function repairInput(
  input: Record<string, unknown>,
  issues: readonly Issue[],
): Record<string, unknown> | undefined {
  const copy = structuredClone(input)
  const found = issues.map(issue => repairAt(copy, issue))
  return found.includes(true) ? copy : undefined
}

/** A number that is written as people and JSON write it, and that is exactly this number. */
export function numberFrom(text: string): number | undefined {
  if (!/^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,6})?$/.test(text)) return undefined
  return Number(text)
}

function repairAt(input: Record<string, unknown>, { pointer, expected }: Issue): boolean {
  const names = pointer.split('/').slice(1)
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

function meantBy(text: string, expected: Issue['expected']): number | boolean | undefined {
  if (expected === 'number') return numberFrom(text)
  if (expected !== 'boolean') return undefined
  return { true: true, True: true, false: false, False: false }[text]
}
