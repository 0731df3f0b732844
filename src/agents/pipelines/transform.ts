import { ToolError } from '../../core/errors.ts'
import { withoutFence } from '../without-fence.ts'
import { holds, parseCondition } from './condition.ts'
import type { Step } from './pipeline.ts'
import { type StepValue, toText } from './values.ts'

/** Puts a value into another form: read as JSON or lines, items left out, a list made a text. It calls nothing. */
export function transform(
  { parse, where, join }: Pick<Step, 'parse' | 'where' | 'join'>,
  given: unknown,
): StepValue {
  const read = parse === undefined ? given : parseText(parse, given)
  const kept = where === undefined ? read : filter(read, where)
  const value = join === undefined ? kept : requireList(kept, 'join').map(toText).join(join)
  return { text: toText(value), data: value }
}

function parseText(how: 'json' | 'lines', value: unknown): unknown {
  if (typeof value !== 'string')
    throw new ToolError('invalid_input', `parse = "${how}" takes text, not a value that is parsed already.`)
  if (how === 'lines') return value.split('\n').filter(line => line.trim() !== '')
  const bare = withoutFence(value)?.inside ?? value
  try {
    return JSON.parse(bare)
  } catch {
    throw new ToolError('invalid_input', 'The text is not valid JSON.')
  }
}

function filter(value: unknown, where: string): unknown[] {
  const condition = parseCondition(where)
  return requireList(value, 'where').filter(item => holds(condition, toText(item)))
}

function requireList(value: unknown, key: string): unknown[] {
  if (Array.isArray(value)) return value
  throw new ToolError('invalid_input', `${key} takes a list.`)
}
