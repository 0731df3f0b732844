import { ToolError } from '../../core/errors.ts'
import { compileLinear, type LinearPattern } from '../../core/linear-pattern.ts'

// The condition of an edge: `contains:`, `not:`, `startsWith:`, `endsWith:`, `equals:`, `regex:`, `length>N`, or plain text
// for contains, joined by ` AND ` or ` OR `. It is parsed into a tree and evaluated by a total function: it always ends,
// calls nothing and sees nothing but the text.

export type Condition =
  | { readonly kind: 'all' | 'any'; readonly parts: readonly Condition[] }
  | { readonly kind: 'contains' | 'not' | 'startsWith' | 'endsWith' | 'equals'; readonly text: string }
  | { readonly kind: 'regex'; readonly pattern: LinearPattern }
  | { readonly kind: 'length'; readonly operator: Comparison; readonly length: number }

type Comparison = '<' | '>' | '<=' | '>=' | '==' | '!='

const LONGEST = 10_000

export function parseCondition(source: string): Condition {
  if (source.trim() === '') throw new ToolError('invalid_input', 'A condition cannot be empty.')
  if (source.length > LONGEST)
    throw new ToolError(
      'invalid_input',
      `A condition has at most ${LONGEST} characters, got ${source.length}.`,
    )
  const all = source.split(' AND ')
  const any = source.split(' OR ')
  if (all.length > 1 && any.length > 1) {
    throw new ToolError('invalid_input', `AND and OR cannot be mixed in one condition: ${source}`, {
      hint: 'Use two edges, or two steps.',
    })
  }
  if (all.length > 1) return { kind: 'all', parts: all.map(parseTest) }
  return any.length > 1 ? { kind: 'any', parts: any.map(parseTest) } : parseTest(source)
}

/** Case does not matter. */
export function holds(condition: Condition, output: string): boolean {
  return test(condition, output, output.toLowerCase())
}

function test(condition: Condition, output: string, text: string): boolean {
  switch (condition.kind) {
    case 'all':
      return condition.parts.every(part => test(part, output, text))
    case 'any':
      return condition.parts.some(part => test(part, output, text))
    case 'contains':
      return text.includes(condition.text)
    case 'not':
      return !text.includes(condition.text)
    case 'startsWith':
      return text.startsWith(condition.text)
    case 'endsWith':
      return text.endsWith(condition.text)
    case 'equals':
      return text.trim() === condition.text
    case 'regex':
      return condition.pattern.test(output.slice(0, MOST_SEARCHED))
    case 'length':
      return compare(output.length, condition.operator, condition.length)
  }
}

/** Together they bound how long an answer takes, and everything else with it: two seconds for the worst pattern. */
const MOST_SEARCHED = 100_000
const LARGEST_PATTERN = 300

function toPattern(source: string): LinearPattern {
  const pattern = compileLinear(`(?i)${source}`)
  if (pattern.size <= LARGEST_PATTERN) return pattern
  throw new ToolError('invalid_input', `The pattern repeats too much: ${source}`, {
    hint: 'Write + or * instead of a number of repetitions, or use contains.',
  })
}

const PREFIXES = ['contains', 'not', 'startsWith', 'endsWith', 'equals'] as const

function parseTest(source: string): Condition {
  const test = source.trim()
  if (test === '') throw new ToolError('invalid_input', 'A part of the condition is empty.')
  const length = /^length\s*(<=|>=|==|!=|<|>)\s*(\d{1,9})$/i.exec(test)
  if (length !== null)
    return {
      kind: 'length', // The pattern lets nothing else through.
      operator: length[1] as Comparison,
      length: Number(length[2]),
    }
  if (/^regex:/i.test(test)) return { kind: 'regex', pattern: toPattern(test.slice('regex:'.length)) }
  for (const kind of PREFIXES) {
    const prefix = `${kind}:`
    if (test.toLowerCase().startsWith(prefix.toLowerCase()))
      return { kind, text: test.slice(prefix.length).trim().toLowerCase() }
  }
  return { kind: 'contains', text: test.toLowerCase() }
}

function compare(length: number, operator: Comparison, bound: number): boolean {
  switch (operator) {
    case '<':
      return length < bound
    case '>':
      return length > bound
    case '<=':
      return length <= bound
    case '>=':
      return length >= bound
    case '==':
      return length === bound
    case '!=':
      return length !== bound
  }
}
