import * as z from 'zod'
import { DURATION, MILLISECONDS, parseDuration } from '../core/duration.ts'

const BYTES: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
  tib: 1024 ** 4,
}

const SIZE = /^(\d+(?:\.\d+)?) ?([kKmMgGtT]?[iI]?[bB])$/

/** `"1GB"`, `"512 KiB"` in bytes; undefined when it is no size. */
export function parseSize(text: string): number | undefined {
  const [, amount, unit] = SIZE.exec(text) ?? []
  const bytes = Math.round(Number(amount) * (BYTES[(unit ?? '').toLowerCase()] ?? Number.NaN))
  return Number.isSafeInteger(bytes) ? bytes : undefined
}

const WRITERS = new WeakMap<object, (value: number) => string>()

/** A value as a file would say it, `"15m"` for 900000; undefined where the schema is neither a duration nor a size. */
export function writeAs(schema: z.ZodType, value: number): string | undefined {
  return WRITERS.get(schema.def)?.(value)
}

/** In the largest unit that leaves no rest. */
function writeIn(units: Readonly<Record<string, number>>, value: number): string {
  const fitting = Object.entries(units).filter(([, each]) => value % each === 0 && each <= Math.max(value, 1))
  const [unit, each] = fitting.reduce((best, next) => (next[1] > best[1] ? next : best))
  return `${value / each}${unit}`
}

const WRITTEN_SIZES = { B: 1, KB: 1e3, MB: 1e6, GB: 1e9, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 }

/** Written as text, read as milliseconds. A bare number is refused: nobody could tell seconds from milliseconds. */
export function duration() {
  const message = 'Write a duration such as "30s", "15m" or "7d".'
  const schema = z
    .string({ error: message })
    .regex(DURATION, message)
    .transform((text, context) => parsedOrIssue(parseDuration(text), message, context))
  WRITERS.set(schema.def, ms => writeIn(MILLISECONDS, ms))
  return schema
}

/** Written as bytes or as text with a unit, read as bytes. */
export function size() {
  const message = 'Write a size such as "1GB", "512KiB" or 1_048_576.'
  const text = z
    .string()
    .regex(SIZE, message)
    .transform((value, context) => parsedOrIssue(parseSize(value), message, context))
  const schema = z.union([z.int().min(0), text], { error: message })
  WRITERS.set(schema.def, bytes => writeIn(WRITTEN_SIZES, bytes))
  return schema
}

/** A TOML date or the same as text, read as milliseconds since 1970. A date without a time means midnight UTC. */
export function date() {
  const message = 'Write a date such as 2027-01-01.'
  const text = z.string().transform((value, context) => {
    const time = /^\d{4}-\d\d-\d\d/.test(value) ? Date.parse(value) : Number.NaN
    return parsedOrIssue(Number.isNaN(time) ? undefined : time, message, context)
  })
  return z.union([z.date().transform(value => value.getTime()), text], { error: message })
}

/** One string or a list of them, read as a list. An empty list is refused: it could be meant as "none" or as "any". */
export function strings() {
  return oneOrMore(z.string().min(1, 'Must not be empty.'), 'Write a string or a list of strings.')
}

export function oneOrMore<Item extends z.ZodType<string, string>>(item: Item, message: string) {
  const list = z.array(item).min(1, 'The list is empty; leave the key out instead.')
  return z.union([item.transform(value => [value]), list], {
    // The inner messages are better where the outer shape is right.
    error: issue => (typeof issue.input === 'string' || Array.isArray(issue.input) ? undefined : message),
  })
}

/**
 * A table that is always there, each of its keys with its own default. The assertion: the keys of all such tables are
 * optional, which the type of a generic shape cannot say; `schema.test.ts` parses the empty configuration.
 */
export function table<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape).prefault({} as z.input<z.ZodObject<Shape, z.core.$strict>>)
}

function parsedOrIssue(value: number | undefined, message: string, context: z.RefinementCtx): number {
  if (value !== undefined) return value
  context.issues.push({ code: 'custom', message, input: value })
  return z.NEVER
}
