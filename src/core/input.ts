import { ToolError } from './errors.ts'
import { checkValue } from './json.ts'
import { closest } from './suggest.ts'
import type { AnyTool } from './tool.ts'

/** Checks a call's input against the tool's schema and returns it with canonical parameter names and defaults. */
export function validateInput(tool: AnyTool, value: unknown): Record<string, unknown> {
  checkValue(value)
  const renamed = renameParameters(tool, value)
  const parsed = tool.input.parse(renamed)
  if (parsed.ok) return deepFreeze(parsed.value)
  const known = parameterNames(tool)
  const messages = parsed.issues.map(issue => {
    const place = issue.pointer.split('/').slice(1).join('.')
    const named = /^(Missing required|Unknown) parameter /.test(issue.message) || place === ''
    return named ? issue.message : `'${place}' ${issue.message}`
  })
  const unknown = parsed.issues.map(issue => /^Unknown parameter '(.*)'$/.exec(issue.message)?.[1])
  const typo = unknown.find(name => name !== undefined)
  const near = typo === undefined ? undefined : closest(typo, known)
  throw new ToolError('invalid_input', `${messages.join('; ')} for tool '${tool.name}'.`, {
    hint:
      near === undefined
        ? `'${tool.name}' takes: ${known.join(', ') || 'no parameters'}.`
        : `Did you mean '${near}'?`,
  })
}

/** Canonical parameter names of a tool, in the order of its schema. */
export function parameterNames(tool: AnyTool): string[] {
  const properties = tool.input.json.properties
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : []
}

function renameParameters(tool: AnyTool, value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ToolError('invalid_input', `The input of '${tool.name}' must be a JSON object.`, {
      hint: `'${tool.name}' takes: ${parameterNames(tool).join(', ') || 'no parameters'}.`,
    })
  }
  const result: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) {
    // Own properties only: a parameter called `constructor` must not find Object's.
    const alias = Object.hasOwn(tool.parameterAliases, key) ? tool.parameterAliases[key] : undefined
    const name = alias === undefined ? key : typeof alias === 'string' ? alias : alias.to
    const converted = alias === undefined || typeof alias === 'string' ? item : alias.convert(item)
    if (Object.hasOwn(result, name) && result[name] !== converted) {
      throw new ToolError('invalid_input', `'${key}' is another name of '${name}', which is given too.`, {
        hint: 'Pass only one of them.',
      })
    }
    result[name] = converted
  }
  return result
}

/** Hooks and tools see the input that was judged; none of them can change it for the others. */
function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const item of Object.values(value)) deepFreeze(item)
  return Object.freeze(value)
}
