import type { Pipeline } from '../agents/pipelines/pipeline.ts'
import { ToolError } from '../core/errors.ts'

/** Values of the pipeline's `[input]`, of the types that it says. */
export function readInput(
  { input, name }: Pipeline,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const unknown = Object.keys(given).find(key => !Object.hasOwn(input, key))
  if (unknown !== undefined)
    throw new ToolError('invalid_input', `The pipeline '${name}' has no input '${unknown}'.`)
  const missing = requiredOf({ input }).filter(key => given[key] === undefined)
  if (missing.length > 0)
    throw new ToolError(
      'invalid_input',
      `The pipeline '${name}' needs ${missing.map(key => `'${key}'`).join(' and ')}.`,
      { hint: missing.map(key => `--input ${key}=…`).join(' ') },
    )
  return Object.fromEntries(
    Object.entries(input).map(([key, field]) => {
      const value = given[key]
      return [key, value === undefined ? (field.default ?? '') : toType(key, field.type, value)]
    }),
  )
}

/** What somebody has to give it. */
export function requiredOf({ input }: Pick<Pipeline, 'input'>): string[] {
  return Object.entries(input).flatMap(([key, field]) =>
    field.required && field.default === undefined ? [key] : [],
  )
}

function toType(key: string, type: 'string' | 'number' | 'boolean', value: unknown): unknown {
  const text = String(value)
  if (type === 'string') return text
  if (type === 'boolean') return text === 'true'
  if (text.trim() === '' || Number.isNaN(Number(text)))
    throw new ToolError('invalid_input', `'${key}' is a number, not '${text}'.`)
  return Number(text)
}
