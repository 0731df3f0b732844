import { ToolError } from './errors.ts'
import { LIMITS } from './limits.ts'

/** Parses the text of one call's input, once. What is checked, shown, logged and run is this value, never the text. */
export function parseInput(text: string): unknown {
  if (text.length > LIMITS.inputLength) {
    throw new ToolError(
      'invalid_input',
      `The input is too large: ${text.length.toLocaleString('en')} characters, at most ${LIMITS.inputLength.toLocaleString('en')}.`,
      { hint: 'Split the work into several calls.' },
    )
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new ToolError('invalid_input', `The input is not valid JSON: ${parseProblem(text, cause)}`, {
      hint: 'Pass one JSON object, for example {"path":"README.md"}.',
      cause,
    })
  }
  const repeated = findRepeatedKey(text)
  if (repeated !== undefined) {
    const message = `The key ${JSON.stringify(repeated.slice(0, 100))} is given twice.`
    const hint = 'Pass it once: with two values, a reviewer might have read the one that is ignored.'
    throw new ToolError('invalid_input', message, { hint })
  }
  checkValue(value)
  return value
}

/** In valid JSON. `JSON.parse` silently takes the last value, other readers take the first. */
function findRepeatedKey(text: string): string | undefined {
  const keysOfOpen: (Set<string> | 'array')[] = []
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (character === '{') keysOfOpen.push(new Set())
    else if (character === '[') keysOfOpen.push('array')
    else if (character === '}' || character === ']') keysOfOpen.pop()
    else if (character === '"') {
      const end = endOfString(text, at)
      const keys = keysOfOpen.at(-1)
      if (keys instanceof Set && isBeforeColon(text, end)) {
        // Parsed, because "\u0061" is another spelling of "a".
        const key = String(JSON.parse(text.slice(at, end)))
        if (keys.has(key)) return key
        keys.add(key)
      }
      at = end - 1
    }
  }
  return undefined
}

/** The place after the quote that closes it: one with an even number of backslashes before it. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); ; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0
    while (text[quote - 1 - backslashes] === '\\') backslashes += 1
    if (backslashes % 2 === 0) return quote + 1
  }
}

function isBeforeColon(text: string, from: number): boolean {
  let at = from
  while (' \t\r\n'.includes(text[at] ?? ':')) at += 1
  return text[at] === ':'
}

/**
 * Refuses what no schema should have to think of: too deep, too many values, `__proto__` keys, numbers that JSON cannot
 * say (`1e999` parses to Infinity), and strings that are not well-formed Unicode (they change when written as UTF-8).
 */
export function checkValue(value: unknown): void {
  let count = 0
  const visit = (node: unknown, depth: number, path: string): void => {
    count += 1
    if (count > LIMITS.inputValues) throw invalid('The input holds too many values', path)
    if (depth > LIMITS.inputDepth) throw invalid('The input is nested too deeply', path)
    if (typeof node === 'string') {
      if (!node.isWellFormed()) throw invalid('A string is not well-formed Unicode (lone surrogate)', path)
    } else if (typeof node === 'number') {
      if (!Number.isFinite(node)) throw invalid('A number is not finite', path)
    } else if (Array.isArray(node)) {
      for (let index = 0; index < node.length; index += 1) visit(node[index], depth + 1, `${path}/${index}`)
    } else if (typeof node === 'object' && node !== null) {
      for (const key of Object.keys(node)) {
        if (key === '__proto__') throw invalid('The key "__proto__" is not allowed', path)
        if (!key.isWellFormed()) throw invalid('A key is not well-formed Unicode', path)
        visit((node as Record<string, unknown>)[key], depth + 1, `${path}/${key}`)
      }
    } else if (typeof node !== 'boolean' && node !== null && node !== undefined) {
      throw invalid(`A ${typeof node} cannot be passed to a tool`, path)
    }
  }
  visit(value, 0, '')
}

function invalid(message: string, path: string): ToolError {
  return new ToolError('invalid_input', `${message}${path === '' ? '' : ` (at ${path.slice(0, 200)})`}.`)
}

function parseProblem(text: string, cause: unknown): string {
  if (text.trim() === '') return 'it is empty'
  // V8 quotes a piece of the text in its message; an input can hold secrets, so only the character and place are kept.
  const message = cause instanceof Error ? cause.message : ''
  if (message.startsWith('Unexpected end') || message.startsWith('Unterminated')) return 'it ends too early'
  const position = /position (\d+)/.exec(message)?.[1]
  const character = /^Unexpected token '(.)'/su.exec(message)?.[1]
  const what = character === undefined ? 'a syntax error' : `unexpected ${JSON.stringify(character)}`
  return position === undefined ? what : `${what} at position ${position}`
}
